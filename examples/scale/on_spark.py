"""Captures on Spark: spark-submit on_spark.py CAPTURES TABLE.parquet. All machines must see the captures under the same names.

mapInPandas gets rows of capture names and returns the rows of the table "copies", as coax.explain_many makes them.
"""
import sys

import pandas
from pyspark.sql import SparkSession

import coax
from coax import _batching

COLUMNS = {"string": "string", "int64": "long", "double": "double", "bool": "boolean"}


def schema():
    """The columns as Spark writes them."""
    fields = coax.explain_many([]).schema
    return ", ".join(f"`{field.name}` {COLUMNS[str(field.type)]}" for field in fields)


def explained(frames):
    """The rows of each batch of captures."""
    columns = coax.explain_many([]).schema.names
    for frame in frames:
        for batch in frame["paths"]:
            for table in _batching.explain_batch({"paths": list(batch), "failures": []}, "copies"):
                found = pandas.DataFrame(table.to_pylist(), columns=columns, dtype=object)
                yield found.where(found.notna(), None)


def main(folder, target):
    spark = SparkSession.builder.appName("coax").getOrCreate()
    batches = _batching.capture_batches([folder], seconds=10.0)
    paths = [(batch["paths"] or [path for path, _ in batch["failures"]],) for batch in batches]
    frame = spark.createDataFrame(paths, "paths array<string>").repartition(len(paths))
    frame.mapInPandas(explained, schema()).write.mode("overwrite").parquet(target)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:3])
