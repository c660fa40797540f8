"""The exceptions of coax. Arguments of a wrong type raise ``TypeError``."""
from __future__ import annotations


class CoaxError(Exception):
    """Something that coax was asked for failed."""


class CaptureError(CoaxError):
    """A capture cannot be read: it is missing, unreadable, or no capture.

    ``reason`` says why, ``path`` which file.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class ScenarioError(CoaxError, ValueError):
    """A scenario, or a key or value of one, is wrong. The text names it and what is possible."""


class UnknownNameError(CoaxError, LookupError):
    """There is no client profile, table or kind of this name. The text lists those that exist."""


class OutputError(CoaxError, OSError):
    """A file of the lab cannot be read or written."""


class ServeError(CoaxError):
    """The server cannot start: a folder, an option or an address is wrong."""
