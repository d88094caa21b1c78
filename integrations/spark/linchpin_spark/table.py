"""What is said in the end: one table, one verdict, the first explanation."""

import json
import os
from collections import Counter, defaultdict
from dataclasses import replace

EXIT_CODES = {"holds": 0, "violated": 1, "error": 2, "inconclusive": 3}
"""The same as those of `linchpin check`."""
ORDER = ["violated", "error", "inconclusive", "holds"]
"""The verdict on all is the first of these that some key has."""
WORDS = {"violated": "violated", "error": "not readable", "inconclusive": "inconclusive", "holds": "linearizable"}
MOST_SHOWN = 40
"""So many lines of the table are shown; `--table` writes all."""


def settled(judged):
    """The table: what is known about every key, in the order of the log. A log that is not understood has no verdicts."""
    by_log = defaultdict(list)
    for of in judged:
        by_log[of.log].append(of)
    table = []
    for log in sorted(by_log):
        keys = sorted(by_log[log], key=lambda of: of.first)
        wrong = [of for of in keys if of.is_of_log]
        plain = [of for of in keys if not of.is_of_log and of.key is None]
        if wrong:
            table.append(replace(wrong[0], reason=f"{wrong[0].reason}: {wrong[0].line}"))
        elif plain and len(keys) > 1:
            why = f"some events have a `key`, others have none, the first of which is {plain[0].line}: write it at each"
            table.append(replace(plain[0], verdict="error", operations=0, text="", reason=why, is_of_log=True))
        else:
            table.extend(keys)
    return table


def verdict_on(table):
    """The verdict on all keys together."""
    return next((verdict for verdict in ORDER if any(of.verdict == verdict for of in table)), "error")


def row(of, is_many):
    """One line of the table, for scripts."""
    shown = {"log": of.log} if is_many else {}
    shown["key"] = None if of.key is None else json.loads(of.key)
    return shown | {"verdict": of.verdict, "operations": of.operations, "reason": of.reason}


def text(table):
    """What is said on standard output."""
    verdict = verdict_on(table)
    count = Counter(of.verdict for of in table)
    parts = [f"{count[of]} {WORDS[of]}" for of in ORDER if count[of]]
    noun = "key" if len(table) == 1 else "keys"
    lines = [f"{verdict}: {len(table)} {noun}: {', '.join(parts)}", ""]
    is_many = len({of.log for of in table}) > 1
    shown = sorted(table, key=lambda of: ORDER.index(of.verdict))[:MOST_SHOWN]
    named = [(name(of, is_many), of) for of in shown]
    width = max([3, *(len(shown) for shown, _ in named)])
    lines.append(f"{'key':<{width}}  {'verdict':<12}  operations  why")
    for shown, of in named:
        lines.append(f"{shown:<{width}}  {of.verdict:<12}  {of.operations:>10}  {of.reason}".rstrip())
    if len(table) > MOST_SHOWN:
        lines.append(f"and {len(table) - MOST_SHOWN} more: --table FILE writes all of them")
    explained = [of for of in table if of.text]
    if explained:
        of = explained[0]
        lines += ["", f"{name(of, is_many)}, as `linchpin check` explains it (lines are those of this key's own log):", ""]
        lines.append(of.text.rstrip())
    return "\n".join(lines) + "\n"


def name(of, is_many):
    """A key and, where there are several, its log."""
    key = "(none)" if of.key is None else of.key
    return f"{of.log} {key}" if is_many or of.is_of_log and of.log else key


def write(path, table):
    """Writes the whole table to a file, one JSON object a line, or nothing."""
    is_many = len({of.log for of in table}) > 1
    unfinished = f"{path}.{os.getpid()}.tmp"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            for of in table:
                file.write(json.dumps(row(of, is_many), ensure_ascii=False) + "\n")
        os.replace(unfinished, path)
    except OSError:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise
