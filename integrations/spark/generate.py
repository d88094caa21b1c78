"""`python generate.py EVENTS KEYS`: a log of registers to measure with, as JSON lines on standard output.

Sixteen processes write values that are all different, and read. One call of a process is open at a time; every answer is right.
"""

import random
import sys


def main():
    events, keys = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(7)
    held = [None] * keys
    busy = {}
    lines, value = [], 0
    for _ in range(events):
        process = rng.randrange(16)
        call = busy.pop(process, None)
        if call is None:
            key = int(rng.random() * keys)
            f, value = ("write", value + 1) if rng.random() < 0.5 else ("read", value)
            busy[process] = (key, f, value)
            kind, given = "invoke", value if f == "write" else "null"
        else:
            key, f, written = call
            if f == "write":
                held[key] = written
            kind, given = "ok", "null" if held[key] is None else held[key]
            given = written if f == "write" else given
        lines.append(f'{{"process":{process},"type":"{kind}","f":"{f}","value":{given},"key":{key}}}\n')
        if len(lines) == 10_000:
            sys.stdout.write("".join(lines))
            lines.clear()
    sys.stdout.write("".join(lines))


if __name__ == "__main__":
    main()
