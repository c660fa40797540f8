"""pyarrow, for the functions that return its objects."""
from __future__ import annotations

from typing import Any


def pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "this needs pyarrow: pip install coax[arrow]. Libraries that read Arrow streams (polars, duckdb, nanoarrow) take the object itself"
        ) from error
    return pyarrow


def table(stream: Any) -> Any:
    """A pyarrow.Table of a stream; its columns are the memory that the stream made."""
    return pyarrow().RecordBatchReader.from_stream(stream).read_all()
