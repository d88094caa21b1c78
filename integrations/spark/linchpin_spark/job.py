"""Which lines of the logs belong together, and in which order: the part that Spark does.

A shuffle keeps no order, so every line carries its place: the file, the block of the file that its task read, and a number
that rises along a block. The rows of a key are sorted by it before they are judged.
"""

import os
import tempfile
import zipfile

from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from .judge import COLUMNS, judge, version
from .lines import Kind, kind_and_key

KIND_AND_KEY = StructType([StructField("kind", IntegerType()), StructField("key", StringType())])


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
    return context.parallelize(range(slots), slots).map(lambda _: version(linchpin)).distinct().collect()


def told_of(line):
    """What a line is, in types that Spark knows."""
    kind, key = kind_and_key(bytes(line))
    return int(kind), key


def rows(spark, paths, is_one_log, parts):
    """The lines of the logs, those of a key next to each other, in their order."""
    # `_metadata` says which file and which block of it; within a block numbers rise line by line.
    lines = spark.read.text(paths, lineSep="\n").select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("row"),
        F.col("value").cast("binary").alias("line"),
    )
    told = F.udf(told_of, KIND_AND_KEY, useArrow=False)
    lines = lines.withColumn("told", told("line"))
    lines = lines.withColumn("kind", F.col("told.kind")).withColumn("key", F.col("told.key"))
    lines = lines.withColumn("log", F.lit("") if is_one_log else F.col("file"))
    # What all keys share goes to every part of the work, for which keys there are is not known yet.
    own = F.array(F.pmod(F.hash("log", "key"), F.lit(parts)))
    everywhere = F.sequence(F.lit(0), F.lit(parts - 1))
    parts_of = F.when(F.col("kind") == int(Kind.SHARED), everywhere).otherwise(own)
    lines = lines.where(F.col("kind") != int(Kind.SKIPPED)).withColumn("part", F.explode(parts_of))
    gathered = lines.select(*COLUMNS).repartition(parts, "part")
    return gathered.sortWithinPartitions(*COLUMNS[:-1])


def judged(spark, paths, is_one_log, parts, linchpin, options):
    """What is known about every key."""
    found = rows(spark, paths, is_one_log, parts)
    return found.rdd.mapPartitions(lambda some: judge(some, linchpin, options)).collect()
