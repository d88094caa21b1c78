/* The Michael-Scott queue with its linearization points: at each, the effect is compared with an abstract queue.
 *
 * THREADS and OPS are given on the command line. Each operation is an enqueue of 1 or 2, or a dequeue, as the thread
 * likes. Nodes are elements of arrays, numbered from 1, the first being the dummy; none is used twice. What nobody else can
 * see shares a step with a shared access: a value is chosen and a node numbered and filled when it is
 * linked. A node that the head has left is cleared: whoever still holds it will fail. */

#define CLEARED 255
#define NODES (THREADS * OPS + 1)

byte head = 1;
byte tail = 1;
byte val[NODES + 1];
byte nxt[NODES + 1];

byte abstract[NODES];
byte size;
byte used = 1;

proctype client() {
	byte done, h, t, s, i;
	bit vacant;

next:	atomic {
		if
		:: done == OPS -> goto finished
		:: done < OPS -> done++; goto enqueue
		:: done < OPS -> done++; goto dequeue
		fi
	};

enqueue:
	t = tail;
	s = nxt[t];
	atomic {
		if
		:: t != tail -> t = 0; s = 0; goto enqueue
		:: else
		fi
	};
	atomic {
		if
		:: s != 0 ->
			if :: tail == t -> tail = s :: else fi;
			t = 0; s = 0; goto enqueue
		:: s == 0 && nxt[t] != 0 -> t = 0; goto enqueue
		:: s == 0 && nxt[t] == 0 -> used++; val[used] = 1
		:: s == 0 && nxt[t] == 0 -> used++; val[used] = 2
		fi;
		nxt[t] = used; s = used;
		abstract[size] = val[used]; size++
	};
	atomic {
		if :: tail == t -> tail = s :: else fi;
		t = 0; s = 0; goto next
	};

dequeue:
	h = head;
	t = tail;
	/* The point of a dequeue that finds nothing, if this round ends so. */
	atomic { s = nxt[h]; vacant = (size == 0) };
	atomic {
		if
		:: h != head -> h = 0; t = 0; s = 0; vacant = 0; goto dequeue
		:: h == head && h == t && s == 0 -> assert(vacant); h = 0; t = 0; vacant = 0; goto next
		:: else -> vacant = 0
		fi
	};
	atomic {
		if
		:: h == t ->
			if :: tail == t -> tail = s :: else fi;
			h = 0; t = 0; s = 0; goto dequeue
		:: h != t && head != h -> h = 0; t = 0; s = 0; goto dequeue
		:: h != t && head == h
		fi;
		head = s; nxt[h] = CLEARED;
		assert(size > 0 && abstract[0] == val[s]);
		size--;
		i = 0;
		do
		:: i < size -> abstract[i] = abstract[i + 1]; i++
		:: else -> break
		od;
		abstract[size] = 0; val[s] = 0; i = 0; h = 0; t = 0; s = 0;
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
