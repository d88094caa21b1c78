"""What a task does with the lines that it reads: it puts those of a key together.

To bring lines to their key one by one costs far more than to bring many of them at once.
"""

import zlib

from .lines import Kind, kind_and_key

MOST_WAITING = 16 << 20
"""So many bytes of lines wait in a task until they are given to their keys."""


def gathered(lines, is_one_log, parts):
    """The lines that a task reads (file, block, line), those of a key together: what and where they are, and they."""
    waiting, size = {}, 0
    for number, (file, block, line) in enumerate(lines):
        line = bytes(line)
        kind, key = kind_and_key(line)
        log = "" if is_one_log else file
        if kind == Kind.SHARED:
            # What comes before it and what comes after it must not be one.
            yield from chunks(waiting, parts)
            waiting, size = {}, 0
            # Which keys there are is not known yet: it goes to every part of the work.
            for part in range(parts):
                yield (part, log, int(kind), key, file, block, number), line
        elif kind != Kind.SKIPPED:
            waiting.setdefault((log, int(kind), key, file, block), (number, []))[1].append(line)
            size += len(line)
        if size >= MOST_WAITING:
            yield from chunks(waiting, parts)
            waiting, size = {}, 0
    yield from chunks(waiting, parts)


def chunks(waiting, parts):
    """Lines that wait, as rows, but for which part of the work they belong to."""
    for (log, kind, key, file, block), (number, lines) in waiting.items():
        # The same in every process, which `hash` is not.
        part = zlib.crc32(f"{log}\0{key}".encode("utf-8", "surrogatepass")) % parts
        yield (part, log, kind, key, file, block, number), b"\n".join(lines)
