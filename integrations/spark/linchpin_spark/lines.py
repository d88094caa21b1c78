"""One line of a log: which key it is about, or that it is about all of them."""

import json
from decimal import Decimal
from enum import IntEnum


class Kind(IntEnum):
    """What a line is to the keys of its log."""

    SHARED = 0
    """No event of a key, but every key has to know of it, such as a crash. Sorts before all others."""
    KEYED = 1
    """An event of one key."""
    PLAIN = 2
    """An event without a key."""
    WRONG = 3
    """Not understood; the text says why."""
    SKIPPED = 4
    """Nothing that is judged."""


def kind_and_key(line):
    """The kind of a line, and its key in the one way in which it is written, or what is wrong."""
    if not line.strip():
        return Kind.SKIPPED, None
    try:
        event = json.loads(line, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        return Kind.WRONG, f"not JSON: {error}"
    if not isinstance(event, dict):
        return Kind.WRONG, "not a JSON object"
    if event.get("type") == "step":
        return Kind.SKIPPED, None
    if "after" in event:
        return Kind.WRONG, "`after` orders operations of all keys: give this log to `linchpin check`"
    if is_shared(event):
        return Kind.SHARED, None
    key = event.get("key")
    # `null` is no key, as in `linchpin check`.
    return (Kind.PLAIN, None) if key is None else (Kind.KEYED, canonical(key))


def is_shared(event):
    """Crashes, and what was done beside the calls; `linchpin check` decides what the latter mean."""
    process = event.get("process")
    if event.get("type") == "crash" or process == "nemesis":
        return True
    return (
        event.get("type") == "info"
        and event.get("key") is None
        and isinstance(process, str)
        and not process.lstrip("-").isdigit()
    )


def canonical(key):
    """A key as JSON, the same text for the same key: fields sorted, 1.50 as 1.5, but 1.0 is not 1."""
    if isinstance(key, dict):
        fields = (f"{json.dumps(name)}:{canonical(key[name])}" for name in sorted(key))
        return "{" + ",".join(fields) + "}"
    if isinstance(key, list):
        return "[" + ",".join(map(canonical, key)) + "]"
    if isinstance(key, Decimal):
        digits = f"{key.normalize():E}"
        mantissa, exponent = digits.split("E")
        return f"{mantissa}e{int(exponent)}"
    return json.dumps(key)
