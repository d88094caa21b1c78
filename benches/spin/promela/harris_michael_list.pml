/* The Harris-Michael list with its linearization points: at each, the effect is compared with an abstract set.
 *
 * THREADS and OPS are given on the command line. Each operation is an addition, a removal or a question, for key 1 or 2,
 * as the thread likes. Nodes are elements of arrays, numbered from 1; the first two are the sentinels; none is used
 * twice. What nobody else can see shares a step with a shared access: keys do not change, and a node is
 * numbered and filled when it is linked. An answer "present" takes effect where the link of the node is read
 * without a mark, "absent" where the link to it is read again. */

#define NODES (THREADS * OPS + 2)
#define HEAD 1
#define LAST 2

#define ADD 1
#define REMOVE 2
#define CONTAINS 3
#define CLEAN 4

byte key[NODES + 1];
byte nxt[NODES + 1];
bit marked[NODES + 1];

bit present[3];
byte used = 2;

proctype client() {
	byte done, what, k, prev, cur, link;
	bit mark, was;

next:	atomic {
		what = 0; k = 0; prev = 0; cur = 0; link = 0; mark = 0; was = 0;
		if
		:: done == OPS -> goto finished
		:: done < OPS -> what = ADD
		:: done < OPS -> what = REMOVE
		:: done < OPS -> what = CONTAINS
		fi;
		done++;
		if
		:: k = 1
		:: k = 2
		fi
	};

find:	atomic { prev = HEAD; cur = nxt[HEAD]; link = 0; mark = 0; was = 0 };

walk:	atomic { link = nxt[cur]; mark = marked[cur]; was = present[k] };
	atomic {
		if
		:: nxt[prev] != cur || marked[prev] -> goto find
		:: else
		fi;
		if
		:: mark -> goto unlink
		:: !mark && key[cur] < k -> prev = cur; cur = link; link = 0; was = 0; goto walk
		:: !mark && key[cur] >= k
		fi;
		if
		:: key[cur] == k && what == REMOVE -> goto remove
		:: key[cur] == k && what != REMOVE -> assert(what == CLEAN || was); goto next
		:: key[cur] != k && what == ADD -> goto add
		:: key[cur] != k && what != ADD -> assert(what == CLEAN || !present[k]); goto next
		fi
	};

unlink:	atomic {
		if
		:: nxt[prev] != cur || marked[prev] -> goto find
		:: else -> nxt[prev] = link; cur = link; link = 0; mark = 0; was = 0; goto walk
		fi
	};

add:	atomic {
		if
		:: nxt[prev] != cur || marked[prev] -> goto find
		:: else
		fi;
		used++;
		key[used] = k; nxt[used] = cur; nxt[prev] = used;
		assert(!present[k]);
		present[k] = 1;
		goto next
	};

remove:	atomic {
		if
		:: nxt[cur] != link || marked[cur] -> goto find
		:: else
		fi;
		marked[cur] = 1;
		assert(present[k]);
		present[k] = 0; was = 0
	};
	atomic {
		if
		:: nxt[prev] != cur || marked[prev] -> what = CLEAN; goto find
		:: else -> nxt[prev] = link; goto next
		fi
	};

finished:
	skip
}

init {
	byte i;
	atomic {
		key[LAST] = 3; nxt[HEAD] = LAST;
		do
		:: i < THREADS -> run client(); i++
		:: else -> break
		od
	}
}
