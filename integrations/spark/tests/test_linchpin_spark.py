"""Tests of the job: without Spark where Spark is not what is tested, then on a cluster of two executors.

Run them with `python -m unittest discover -s tests` in `integrations/spark`. `LINCHPIN` names the command; without it, that
of `cargo build` is taken.
"""

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
sys.path.insert(0, os.path.join(HERE, ".."))

from linchpin_spark import table  # noqa: E402
from linchpin_spark.gather import gathered  # noqa: E402
from linchpin_spark.judge import COLUMNS, Batch, judge  # noqa: E402
from linchpin_spark.lines import Kind, canonical, kind_and_key  # noqa: E402


def command():
    built = [os.path.join(ROOT, "target", of, "linchpin") for of in ("release", "debug")]
    named = os.environ.get("LINCHPIN")
    return os.path.abspath(named) if named else next((os.path.abspath(of) for of in built if os.path.exists(of)), None)


LINCHPIN = command()
HAS_SPARK = importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None
NEEDS_COMMAND = unittest.skipIf(LINCHPIN is None, "there is no linchpin: cargo build, or LINCHPIN=FILE")
NEEDS_SPARK = unittest.skipUnless(HAS_SPARK, "pyspark (pip install pyspark) or java is missing")
OPTIONS = ["--spec", "register"]


def event(process, kind, f, key, value=None):
    return json.dumps({"process": process, "type": kind, "f": f, "value": value, "key": key})


def write(key, value, process=0):
    return [event(process, "invoke", "write", key, value), event(process, "ok", "write", key, value)]


def read(key, value, process=1):
    return [event(process, "invoke", "read", key), event(process, "ok", "read", key, value)]


def rows_of(lines, log="a", parts=1):
    """The rows that Spark would make of a log, in its order."""
    read = [(log, 0, line.encode()) for line in lines]
    rows = [(*place, text) for place, text in gathered(read, False, parts)]
    return sorted(rows, key=lambda row: row[:7])


def judged_here(lines, options=OPTIONS, parts=1):
    return table.settled(judge(rows_of(lines, parts=parts), LINCHPIN, options))


def verdicts(judged):
    return {of.key: (of.verdict, of.operations) for of in judged}


def random_log(seed, keys, calls):
    """Registers of several keys by several processes, each with one call open at a time; some answers are wrong."""
    rng = random.Random(seed)
    held = {key: None for key in keys}
    idle, busy, lines = list(range(4)), [], []
    while calls or busy:
        if calls and idle and (not busy or rng.random() < 0.5):
            calls -= 1
            process, key = idle.pop(rng.randrange(len(idle))), rng.choice(keys)
            f, value = rng.choice([("write", rng.randrange(3)), ("read", None)])
            lines.append(event(process, "invoke", f, key, value))
            busy.append((process, f, key, value))
        else:
            process, f, key, value = busy.pop(rng.randrange(len(busy)))
            if f == "write":
                held[key] = value
            answer = value if f == "write" else held[key] if rng.random() < 0.97 else rng.randrange(3)
            lines.append(event(process, "ok", f, key, answer))
            idle.append(process)
    return lines


def whole(lines, options=OPTIONS):
    """What one process of `linchpin check` says of every key."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        ran = subprocess.run([LINCHPIN, "check", path, "--json", *options], capture_output=True, text=True, check=False)
    keys = json.loads(ran.stdout)["keys"]
    return {canonical(of["key"]): (of["verdict"], of["operations"]) for of in keys}


class Lines(unittest.TestCase):
    def test_keys_are_the_same_however_they_are_written(self):
        def key(text):
            return kind_and_key(b'{"process":0,"type":"ok","f":"read","key":%s}' % text)

        self.assertEqual(key(b'"a"'), key(b'"\\u0061"'))
        self.assertEqual(key(b"1.50"), key(b"15e-1"))
        self.assertEqual(key(b'{"a":1,"b":[2]}'), key(b'{"b":[2], "a":1}'))
        different = [b"1", b"1.0", b'"1"', b"[1]", b"true", b'"true"', b'"a\\tb"', b'"a\\nb"', '"é"'.encode(), b'""', b"0"]
        self.assertEqual(len({key(text) for text in different}), len(different))
        self.assertEqual({kind for kind, _ in map(key, different)}, {Kind.KEYED})
        self.assertEqual(key(b"null"), (Kind.PLAIN, None))

    def test_what_is_no_event_of_a_key(self):
        self.assertEqual(kind_and_key(b'{"type":"crash"}')[0], Kind.SHARED)
        self.assertEqual(kind_and_key(b'{"type":"crash","process":3,"key":1}')[0], Kind.SHARED)
        self.assertEqual(kind_and_key(b'{"process":"nemesis","type":"info","f":"kill"}')[0], Kind.SHARED)
        self.assertEqual(kind_and_key(b'{"process":"3","type":"info","f":"read"}')[0], Kind.PLAIN)
        self.assertEqual(kind_and_key(b'{"type":"step"}')[0], Kind.SKIPPED)
        self.assertEqual(kind_and_key(b" \r")[0], Kind.SKIPPED)

    def test_what_is_wrong_is_said(self):
        self.assertEqual(kind_and_key(b"[1]"), (Kind.WRONG, "not a JSON object"))
        for text in [b'{"process":0', b"\xff\xfe\x00", b"[" * 100_000, b'{"after":[],"key":1}']:
            self.assertEqual(kind_and_key(text)[0], Kind.WRONG, text[:20])


@NEEDS_COMMAND
class Judging(unittest.TestCase):
    def test_the_same_as_one_process(self):
        seen = set()
        for seed in range(40):
            lines = random_log(seed, ["a\tb", "é\n", 1, "1"], 60)
            judged = judged_here(lines, parts=3)
            self.assertEqual(verdicts(judged), whole(lines), f"seed {seed}")
            seen.update(of.verdict for of in judged)
        self.assertEqual(seen, {"holds", "violated"})

    def test_a_crash_is_told_to_every_key(self):
        # The write is interrupted: strictly, it cannot take effect after the crash, in either key.
        for key in "ab":
            lines = [event(0, "invoke", "write", key, 1), '{"type":"crash"}', *read(key, None, 2), *read(key, 1, 3)]
            lines += write("c", 5, 7)
            self.assertEqual(verdicts(judged_here(lines, parts=2))[f'"{key}"'][0], "holds")
            strictly = judged_here(lines, [*OPTIONS, "--property", "strict"], parts=2)
            found = verdicts(strictly)
            self.assertEqual((found[f'"{key}"'][0], found['"c"'][0]), ("violated", "holds"))
            self.assertIn("violated", next(of for of in strictly if of.verdict == "violated").text)

    def test_events_without_a_key(self):
        judged = judged_here([*write("a", 1), '{"process":1,"type":"invoke","f":"read"}'])
        self.assertEqual([of.verdict for of in judged], ["error"])
        self.assertIn('{\\"process\\":1', judged[0].reason)
        # Where no event has one, the log is one history.
        lines = [line.replace(', "key": null', "") for line in [*write(None, 1), *read(None, 2)]]
        self.assertEqual(verdicts(judged_here(lines)), {None: ("violated", 2)})

    def test_a_log_that_is_not_understood_has_no_verdicts(self):
        judged = judged_here([*write("a", 1), "{", *read("b", 3)])
        self.assertEqual([(of.verdict, of.operations) for of in judged], [("error", 0)])
        self.assertIn("not JSON", judged[0].reason)
        self.assertEqual(table.verdict_on(judged), "error")

    def test_what_one_key_has_wrong_is_about_that_key(self):
        judged = judged_here([*write("a", 1), *write("b", 1)[1:]])
        self.assertEqual({of.key: of.verdict for of in judged}, {'"a"': "holds", '"b"': "error"})

    def test_options_that_are_not_understood(self):
        judged = judged_here(write("a", 1), ["--spec", "registre"])
        self.assertEqual(judged[0].verdict, "error")
        self.assertIn("registre", judged[0].reason)

    def test_a_process_that_is_ended_is_inconclusive(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "linchpin")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nkill -9 $$\n")
            os.chmod(path, 0o755)
            judged = table.settled(judge(rows_of(write("a", 1)), path, OPTIONS))
        self.assertEqual(judged[0].verdict, "inconclusive")
        self.assertEqual(table.EXIT_CODES[table.verdict_on(judged)], 3)

    def test_many_keys_are_judged_in_several_batches(self):
        lines = [line for key in range(2500) for line in [*write(key, 1), *read(key, 1 + (key == 1700))]]
        runs = []
        check, Batch.check = Batch.check, lambda self: runs.append(len(self.waiting)) or check(self)
        try:
            judged = judged_here(lines)
        finally:
            Batch.check = check
        self.assertEqual(runs, [1000, 1000, 500])
        self.assertEqual([of.key for of in judged if of.verdict == "violated"], ["1700"])
        self.assertEqual([of.key for of in judged], [str(key) for key in range(2500)])


@NEEDS_COMMAND
@NEEDS_SPARK
class OnACluster(unittest.TestCase):
    """One cluster, two executors in processes of their own, and blocks so small that every log is cut into many."""

    @classmethod
    def setUpClass(cls):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        import pyspark
        from pyspark.sql import SparkSession

        os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
        builder = SparkSession.builder.appName("linchpin-test").master("local-cluster[2,1,1024]")
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        builder = builder.config("spark.executor.memory", "1g")
        builder = builder.config("spark.sql.files.maxPartitionBytes", "2000").config("spark.sql.files.openCostInBytes", "0")
        cls.spark = builder.getOrCreate()
        cls.spark.sparkContext.setLogLevel("OFF")
        from linchpin_spark import job

        cls.job = job
        job.send_code(cls.spark)

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def log(self, name, lines):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        return path

    def judged(self, path, is_one_log=False, options=OPTIONS):
        return table.settled(self.job.judged(self.spark, [path], is_one_log, 3, self.job.Linchpin(LINCHPIN), options))

    def test_the_same_as_one_process_and_in_order(self):
        lines = random_log(7, ["a\tb", "é\n", 1, "1"], 400)
        lines.insert(300, '{"type":"crash","process":99}')
        path = self.log("log.jsonl", lines)
        found = [dict(zip(COLUMNS, row)) for row in self.job.rows(self.spark, [path], False, 3).collect()]
        self.assertGreater(len({row["block"] for row in found}), 3, "the log was to be cut into blocks")
        by_key = {}
        for row in found:
            by_key.setdefault(row["key"], []).extend(bytes(row["lines"]).decode().split("\n"))
        self.assertEqual(by_key.pop(None), ['{"type":"crash","process":99}'] * 3)
        for key, of_key in by_key.items():
            self.assertEqual(of_key, [line for line in lines if kind_and_key(line)[1] == key])
        judged = self.judged(path)
        self.assertEqual(verdicts(judged), whole(lines))
        self.assertEqual(len(verdicts(judged)), 4)

    def test_a_folder_is_many_logs_or_one(self):
        # The second file only makes sense after the first.
        first, second = write("a", 1), [*read("a", 1), *write("b", 2, 5)]
        self.log("part-0.jsonl", first)
        self.log("part-1.jsonl", second)
        apart = self.judged(self.folder.name)
        self.assertEqual([of.verdict for of in apart], ["holds", "violated", "holds"])
        self.assertTrue(apart[1].log.endswith("part-1.jsonl"))
        together = self.judged(self.folder.name, is_one_log=True)
        self.assertEqual(verdicts(together), {'"a"': ("holds", 2), '"b"': ("holds", 1)})
        self.assertIn("holds: 2 keys: 2 linearizable", table.text(together))

    def test_a_missing_command_is_seen_before_anything_is_read(self):
        found = self.job.versions(self.spark, self.job.Linchpin("/nowhere/linchpin"))
        self.assertEqual([runs for _, runs in found], [False])
        self.assertIn("`/nowhere/linchpin` cannot be run on", found[0][0])


@NEEDS_COMMAND
@NEEDS_SPARK
class Command(unittest.TestCase):
    def run_job(self, *arguments):
        environment = os.environ | {"PYTHONPATH": os.path.join(HERE, ".."), "SPARK_LOCAL_IP": "127.0.0.1"}
        whole = [sys.executable, "-m", "linchpin_spark", *arguments]
        return subprocess.run(whole, capture_output=True, text=True, check=False, env=environment, timeout=300)

    def test_exit_codes_table_and_explanation(self):
        with tempfile.TemporaryDirectory() as folder:
            log, out = os.path.join(folder, "log.jsonl"), os.path.join(folder, "table.jsonl")
            with open(log, "w", encoding="utf-8") as file:
                file.write("\n".join([*write("x\ty", 1), *read("x\ty", 2), *write(3, 1)]))
            ran = self.run_job(log, "--master", "local[2]", "--linchpin", LINCHPIN, "--table", out, "--", *OPTIONS)
            with open(out, encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
            sent = self.run_job(log, "--master", "local-cluster[2,1,1024]", "--linchpin", LINCHPIN, "--send", "--", *OPTIONS)
        self.assertEqual((sent.returncode, sent.stdout), (1, ran.stdout), sent.stderr)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertTrue(ran.stdout.startswith("violated: 2 keys: 1 violated, 1 linearizable\n"), ran.stdout)
        self.assertIn("The core, which no order explains:", ran.stdout)
        self.assertEqual([(row["key"], row["verdict"], row["operations"]) for row in rows], [("x\ty", "violated", 2), (3, "holds", 1)])

    def test_mistakes_are_said_before_spark_starts(self):
        ran = self.run_job("log.jsonl")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("-- --spec NAME", ran.stderr)
        ran = self.run_job("log.jsonl", "--linchpin", "/nowhere/linchpin", "--send", "--", *OPTIONS)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("`/nowhere/linchpin`, which is to be sent, is no command here", ran.stderr)


if __name__ == "__main__":
    unittest.main()
