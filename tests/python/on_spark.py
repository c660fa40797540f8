"""Spark's mapInPandas over batches of captures gives the rows of one process."""
import sys

from python import main

if __name__ == "__main__":
    sys.exit(main.main(["pytest==9.*", "pyarrow>=15", "pandas", "pyspark>=3.5"], ("spark",)))
