"""Explains slow SMB1 copies, simulates vintage computers, decodes messages, serves folders in tests.

Units are part of names: ``_s`` seconds, ``_ns`` nanoseconds, ``bytes`` bytes (octets of payload). Results are those of the program ``coax``
of the same version, byte for byte where both print JSON. Functions release the interpreter's lock while they work, and end soon after
Ctrl-C.
"""
from . import lab
from ._coax import __version__
from .captures import Captures, Copy, Record, Report, explain, explain_many
from .errors import (
    CaptureError,
    CoaxError,
    OutputError,
    ScenarioError,
    ServeError,
    UnknownNameError,
)
from .messages import decode, profiles
from .server import Server, ServeWarning, Url, serve

__all__ = [
    "CaptureError",
    "Captures",
    "CoaxError",
    "Copy",
    "OutputError",
    "Record",
    "Report",
    "ScenarioError",
    "ServeError",
    "ServeWarning",
    "Server",
    "UnknownNameError",
    "Url",
    "__version__",
    "decode",
    "explain",
    "explain_many",
    "lab",
    "profiles",
    "serve",
]
