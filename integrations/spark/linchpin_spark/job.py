"""Which lines of the logs belong together, and in which order: the part that Spark does.

A shuffle keeps no order, so lines carry their place: the file, the block of the file that their task read, and a number
that rises along a block. A row has lines of one key that were read together. The rows of a key are sorted before they
are judged.
"""

import os
import tempfile
import zipfile
from dataclasses import dataclass

from pyspark import SparkFiles
from pyspark.sql import functions as F

from .gather import gathered
from .judge import judge, version


@dataclass
class Linchpin:
    """The command, as executors find it."""

    name: str
    is_sent: bool = False
    """It was sent to them."""

    def here(self):
        """Where it is on this executor."""
        return SparkFiles.get(self.name) if self.is_sent else self.name


def send(spark, path):
    """Sends the command to the executors."""
    spark.sparkContext.addFile(path)
    return Linchpin(os.path.basename(path), is_sent=True)


def send_code(spark):
    """Gives this package to the executors."""
    here = os.path.dirname(__file__)
    folder = tempfile.mkdtemp(prefix="linchpin-spark-")
    path = os.path.join(folder, "linchpin_spark.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(os.listdir(here)):
            if name.endswith(".py"):
                archive.write(os.path.join(here, name), f"linchpin_spark/{name}")
    spark.sparkContext.addPyFile(path)


def versions(spark, linchpin):
    """Which versions of `linchpin` the executors have, or why one has none: pairs of what and whether it runs."""
    context = spark.sparkContext
    slots = max(context.defaultParallelism, 1)
    return context.parallelize(range(slots), slots).map(lambda _: version(linchpin.here())).distinct().collect()


def rows(spark, paths, is_one_log, parts):
    """The lines of the logs, those of a key next to each other, in their order."""
    # `_metadata` says which file and which block of it; a task reads a block from its beginning to its end.
    lines = spark.read.text(paths, lineSep="\n").select(
        F.col("_metadata.file_path"),
        F.col("_metadata.file_block_start"),
        F.col("value").cast("binary"),
    )
    found = lines.rdd.mapPartitions(lambda some: gathered(some, is_one_log, parts))
    found = found.repartitionAndSortWithinPartitions(parts, lambda place: place[0])
    return found.map(lambda row: (*row[0], row[1]))


def judged(spark, paths, is_one_log, parts, linchpin, options):
    """What is known about every key."""
    found = rows(spark, paths, is_one_log, parts)
    return found.mapPartitions(lambda some: judge(some, linchpin.here(), options)).collect()
