"""`python -m linchpin_spark LOG… -- --spec NAME`: judges every key of a log, or of many, on a Spark cluster."""

import argparse
import shutil
import sys

from . import table


def arguments():
    parser = argparse.ArgumentParser(
        prog="linchpin_spark",
        description="Judges every key of one or many logs of JSON lines with `linchpin check` on a Spark cluster.",
        epilog="What follows `--` is given to `linchpin check`, `--spec NAME` among it.",
    )
    parser.add_argument("logs", nargs="+", metavar="LOG", help="files, folders or patterns, as Spark reads them")
    parser.add_argument("--one-log", action="store_true", help="the files are parts of one log, in the order of their names")
    parser.add_argument("--linchpin", default="linchpin", metavar="FILE", help="the command, as the executors find it")
    parser.add_argument("--send", action="store_true", help="send that file from here to every executor")
    parser.add_argument("--master", metavar="URL", help="the cluster [default: that of spark-submit, or local[*]]")
    parser.add_argument("--parts", type=int, metavar="N", help="into how many parts the work is cut [default: 4 a core]")
    parser.add_argument("--table", metavar="FILE", help="write the table, one JSON object a line")
    mine, options = split(sys.argv[1:])
    args = parser.parse_args(mine)
    if "--json" in options or "--report" in options:
        parser.error("--json and --report are about one history: give `linchpin check` the log of one key")
    if not any(option == "--spec" or option.startswith("--spec=") for option in options):
        parser.error("say what was recorded: add `-- --spec NAME` at the end")
    return args, options


def split(given):
    at = given.index("--") if "--" in given else len(given)
    return given[:at], given[at + 1 :]


def fail(code, message):
    print(f"error: {message}", file=sys.stderr)
    return code


def main():
    args, options = arguments()
    try:
        from pyspark.errors import AnalysisException, PySparkException
        from pyspark.sql import SparkSession

        from . import job
    except ImportError as error:
        return fail(2, f"{error}: `pip install pyspark` brings it")
    sent = shutil.which(args.linchpin)
    if args.send and sent is None:
        return fail(2, f"`{args.linchpin}`, which is to be sent, is no command here; --linchpin FILE says where it is")
    builder = SparkSession.builder.appName("linchpin")
    if args.master:
        builder = builder.master(args.master)
    try:
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
    except (PySparkException, OSError, RuntimeError) as error:
        return fail(2, f"Spark does not start: {first_line(error)}")
    try:
        job.send_code(spark)
        linchpin = job.send(spark, sent) if args.send else job.Linchpin(args.linchpin)
        found = job.versions(spark, linchpin)
        missing = [said for said, runs in found if not runs]
        if missing:
            return fail(2, f"{missing[0]}; --linchpin FILE says where it is, --send sends it from here")
        if len(found) > 1:
            said = ", ".join(sorted(said for said, _ in found))
            return fail(2, f"executors have different versions of linchpin: {said}")
        parts = args.parts or 4 * max(spark.sparkContext.defaultParallelism, 1)
        judged = job.judged(spark, args.logs, args.one_log, parts, linchpin, options)
    except AnalysisException as error:
        return fail(2, first_line(error))
    except Exception as error:  # Whatever an executor or the cluster fails with comes as one of many types.
        return fail(3, f"the cluster did not finish: {first_line(error)}")
    finally:
        spark.stop()
    return say(args, table.settled(judged))


def say(args, judged):
    if not judged:
        return fail(2, "there is no event in what was read")
    sys.stdout.write(table.text(judged))
    sys.stdout.flush()
    if args.table:
        try:
            table.write(args.table, judged)
        except OSError as error:
            return fail(2, f"`{args.table}` cannot be written: {error.strerror}")
    return table.EXIT_CODES[table.verdict_on(judged)]


def first_line(error):
    """The line of an error that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if "Exception: " in line or "Error: " in line]
    return (said or lines or [type(error).__name__])[0]


if __name__ == "__main__":
    sys.exit(main())
