"""Checks of arguments, whose errors name the argument."""
from __future__ import annotations

import os
from typing import Any, Iterable, List, Mapping, Optional, Tuple, Union

PathLike = Union[str, "os.PathLike[str]"]


def path(value: Any, name: str) -> str:
    """A path as text."""
    try:
        found = os.fspath(value)
    except TypeError:
        raise TypeError(f"{name} must be a path (str or os.PathLike), not {type(value).__name__}") from None
    if isinstance(found, bytes):
        raise TypeError(f"{name} must be a path as str or os.PathLike, not bytes; os.fsdecode converts it")
    return found


def paths(value: Any, name: str) -> List[str]:
    """Paths; one path is a list of one."""
    if isinstance(value, (str, os.PathLike)):
        return [path(value, name)]
    if isinstance(value, (bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a path or an iterable of paths, not {type(value).__name__}")
    return [path(one, f"each of {name}") for one in value]


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    return value


def whole(value: Any, name: str, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if not least <= value < 1 << 63:
        raise ValueError(f"{name} must be at least {least} and below 2**63, not {value}")
    return value


def number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} must be positive and finite, not {value}")
    return float(value)


def shard(value: Optional[Tuple[int, int]]) -> Optional[Tuple[int, int]]:
    """The I-th of N parts, as (I, N)."""
    if value is None:
        return None
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"shard must be a tuple (I, N), such as (2, 8), not {value!r}")
    index, count = whole(value[0], "shard[0]", 1), whole(value[1], "shard[1]", 1)
    if index > count or count >= 1 << 32:
        raise ValueError(f"shard must be (I, N) with I from 1 to N, such as (2, 8), not {value!r}")
    return index, count


def value_text(value: Any, key: str) -> str:
    """A value of a scenario as its text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"the value of {key} must be a str, int, float or bool, not {type(value).__name__}")


def assignments(values: Optional[Mapping[str, Any]], name: str) -> List[str]:
    """KEY=VALUE for each item. ``__`` in a key stands for a dot."""
    if values is None:
        return []
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a mapping of keys to values, not {type(values).__name__}")
    return [f"{key_text(key, name)}={value_text(value, str(key))}" for key, value in values.items()]


def key_text(key: Any, name: str) -> str:
    return text(key, f"each key of {name}").replace("__", ".")


def lists(values: Optional[Mapping[str, Any]], name: str) -> List[str]:
    """KEY=V1,V2,... for each item; text is taken as it is (``0..60 ms:4``)."""
    if values is None:
        return []
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a mapping of keys to values, not {type(values).__name__}")
    return [f"{key_text(key, name)}={list_text(value, str(key))}" for key, value in values.items()]


def list_text(value: Any, key: str) -> str:
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        return ",".join(value_text(one, key) for one in value)
    return value_text(value, key)
