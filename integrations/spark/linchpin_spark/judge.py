"""What an executor does: it writes the log of each key to a file, and runs `linchpin check` on them.

Several keys are given to one process of `linchpin check`, as a folder: to start one for each key would cost more than to
judge it. They are files of their own because a process of the log may have calls open in two keys at once.
"""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from .lines import Kind

COLUMNS = ["part", "log", "kind", "key", "file", "block", "row", "lines"]
"""What a row is: its share of the work, the log and what its lines are in it, the place of the first, and the lines."""
PART_AND_LOG, KIND_AND_KEY, LINES = itemgetter(0, 1), itemgetter(2, 3), itemgetter(7)
PLACE = itemgetter(4, 5, 6)
"""Where a line is: the order of places is the order of the lines of a log."""

MOST_BYTES = 64 << 20
"""So many bytes are judged at a time, and one key more."""
MOST_KEYS = 1000
"""So many keys are judged at a time."""


@dataclass
class Judged:
    """What is known about one key of one log."""

    log: str
    key: str
    first: tuple
    """Where its first line is."""
    line: str
    """That line, for people."""
    verdict: str
    """As `linchpin check --json` says it, or `error`."""
    operations: int
    reason: str
    text: str = ""
    """What `linchpin check` says at length, of one violated key of each share of the work."""
    is_of_log: bool = False
    """It is about the whole log: no key of it can be judged."""


def version(linchpin):
    """Which `linchpin` there is on this machine, or why there is none; and whether it runs."""
    where = os.uname().nodename
    try:
        ran = subprocess.run([linchpin, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        return f"`{linchpin}` cannot be run on {where}: {error.strerror}", False
    if ran.returncode != 0:
        return f"`{linchpin} --version` fails on {where}: {ran.stderr.strip()}", False
    return ran.stdout.strip(), True


def judge(rows, linchpin, options):
    """Judges the keys of some rows, which come sorted: all that is shared in a log, then key by key, by place."""
    batch = Batch(linchpin, options)
    for (_, log), of_log in groupby(map(tuple, rows), key=PART_AND_LOG):
        shared = []
        for (kind, key), of_key in groupby(of_log, key=KIND_AND_KEY):
            if kind == Kind.SHARED:
                shared = [(PLACE(row), LINES(row)) for row in of_key]
            elif kind == Kind.WRONG:
                row = next(of_key)
                yield Judged(log, None, PLACE(row), shown(LINES(row)), "error", 0, key, is_of_log=True)
            else:
                if batch.is_full():
                    yield from batch.judged()
                batch.add(log, key, merged(of_key, shared))
    yield from batch.judged()


def merged(rows, shared):
    """The lines of a key with those that every key shares, each in its place: none of the latter is within a row."""
    at = 0
    for row in rows:
        here = PLACE(row)
        while at < len(shared) and shared[at][0] < here:
            yield shared[at]
            at += 1
        yield here, LINES(row)
    yield from shared[at:]


def shown(line):
    """The first of some lines of a log, for people."""
    text = bytes(line).partition(b"\n")[0].decode("utf-8", "replace")
    return json.dumps(text if len(text) <= 120 else text[:119] + "…", ensure_ascii=False)


class Batch:
    """Keys that wait to be judged by one process."""

    def __init__(self, linchpin, options):
        self.linchpin, self.options = linchpin, options
        self.explained = False
        self.start()

    def start(self):
        self.folder, self.waiting, self.bytes = None, [], 0

    def is_full(self):
        return self.bytes >= MOST_BYTES or len(self.waiting) >= MOST_KEYS

    def path(self, number):
        return os.path.join(self.folder.name, f"{number:06}.jsonl")

    def add(self, log, key, lines):
        self.folder = self.folder or tempfile.TemporaryDirectory(prefix="linchpin-")
        first = None
        with open(self.path(len(self.waiting)), "wb") as file:
            for here, line in lines:
                first = first or (here, shown(line))
                file.write(line)
                file.write(b"\n")
            self.bytes += file.tell()
        self.waiting.append((log, key, *first))

    def judged(self):
        """The verdicts on all that waits, which is judged now."""
        if self.waiting:
            said = self.check()
            for number, waiting in enumerate(self.waiting):
                yield Judged(*waiting, *self.verdict(said, number))
            self.folder.cleanup()
        self.start()

    def verdict(self, said, number):
        """Verdict, operations, reason and text."""
        of = said.get(self.path(number), {"error": "`linchpin check` said nothing about it"})
        verdict = of.get("verdict", "error")
        text = ""
        if verdict == "violated" and not self.explained:
            self.explained = True
            text = self.run([self.path(number)]).stdout.replace(self.path(number), "its log")
        return verdict, of.get("stats", {}).get("operations", 0), of.get("error", of.get("reason", "")), text

    def run(self, arguments):
        return subprocess.run(
            [self.linchpin, "check", *arguments, *self.options],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def check(self):
        """What `linchpin check` says about each file."""
        paths = [self.path(number) for number in range(len(self.waiting))]
        ran = self.run(["--json", self.folder.name])
        said = self.parsed(ran)
        if said is None:
            # It was ended from outside, by the system where memory ran out.
            why = ran.stderr.strip() or f"it ended with code {ran.returncode} and said nothing"
            said = {"verdict": "inconclusive", "reason": f"`linchpin check` was ended: {why}"}
        if "error" in said:
            said = {"error": said["error"]["message"]}
        if "histories" not in said:
            return {path: said for path in paths}
        skipped = {of["file"]: {"error": of["reason"]} for of in said["skipped"]}
        return skipped | {of["file"]: of for of in said["histories"]}

    @staticmethod
    def parsed(ran):
        try:
            said = json.loads(ran.stdout)
        except ValueError:
            return None
        return said if isinstance(said, dict) else None
