/* Treiber's lock-free stack with its linearization points: at each, the effect is compared with an abstract stack.
 *
 * THREADS and OPS are given on the command line. Each operation is a push of 1 or 2, or a pop, as the thread likes.
 * Nodes are elements of arrays, numbered from 1, none used twice. What nobody else can see shares a step with a shared
 * access: a value is chosen and a node numbered and filled when the
 * push succeeds. A popped node is cleared: whoever still holds it will fail. */

#define NODES (THREADS * OPS)

byte top;
byte val[NODES + 1];
byte nxt[NODES + 1];

byte abstract[NODES];
byte size;
byte used;

proctype client() {
	byte done, t, s;

next:	atomic {
		if
		:: done == OPS -> goto finished
		:: done < OPS -> done++; goto push
		:: done < OPS -> done++; goto pop
		fi
	};

push:	t = top;
	atomic {
		if
		:: top != t -> t = 0; goto push
		:: top == t -> used++; val[used] = 1
		:: top == t -> used++; val[used] = 2
		fi;
		nxt[used] = t; top = used; t = 0;
		abstract[size] = val[used]; size++;
		goto next
	};

pop:	atomic {
		t = top;
		if
		:: t == 0 -> assert(size == 0); goto next
		:: else
		fi
	};
	s = nxt[t];
	atomic {
		if
		:: top != t -> t = 0; s = 0; goto pop
		:: else
		fi;
		top = s; size--;
		assert(abstract[size] == val[t]);
		abstract[size] = 0; val[t] = 0; nxt[t] = 0; t = 0; s = 0;
		goto next
	};

finished:
	skip
}

init {
	byte i;
	atomic {
		do
		:: i < THREADS -> run client(); i++
		:: else -> break
		od
	}
}
