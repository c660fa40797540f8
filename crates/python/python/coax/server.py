"""A server for tests."""
from __future__ import annotations

import ipaddress
import json
import warnings
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Type

from . import _arguments, _coax
from ._arguments import PathLike


class Url(str):
    """``smb://HOST:PORT/SHARE``, with its parts as ``host``, ``port`` and ``share``."""

    host: str
    port: int
    share: str


class ServeWarning(UserWarning):
    """An option of smb.conf that has no effect."""


class Server:
    """What :func:`serve` returns. ``with`` starts and stops it; so do :meth:`start` and :meth:`stop`."""

    def __init__(self, arguments: Any) -> None:
        self._arguments = arguments
        self._native: Optional["_coax.Server"] = None

    def start(self) -> Url:
        """Starts it and returns its URL. It accepts clients from then on."""
        if self._native is not None:
            raise RuntimeError("the server runs already")
        self._native = _coax.serve(self._arguments)
        for warning in self._native.warnings:
            warnings.warn(warning, ServeWarning, stacklevel=3)
        url = Url(self._native.url)
        url.host, url.port, url.share = self._native.host, self._native.port, self._native.share
        return url

    def stop(self) -> None:
        """Closes its connections and its port. Files that were written are complete in the folder."""
        native, self._native = self._native, None
        if native is not None:
            self._events = native.events
            native.stop()

    def events(self) -> List[Dict[str, Any]]:
        """What happened so far (docs/events.md): connections, refusals, errors; at most the last 10,000."""
        source = self._native.events if self._native is not None else getattr(self, "_events", list)
        return [json.loads(event) for event in source()]

    def __enter__(self) -> Url:
        return self.start()

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.stop()


class _Wanted:
    """The arguments in the form that the native function takes."""

    folder: str
    share: Optional[str]
    guest: str
    users: List[Any]
    options: List[str]
    host: Any
    port: int


def serve(
    folder: PathLike,
    *,
    share: Optional[str] = None,
    guest: str = "ro",
    users: Optional[Mapping[str, str]] = None,
    options: Optional[Mapping[str, object]] = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> Server:
    """A server of one folder, for tests: ``with coax.serve(folder) as url``.

    The server runs on threads of this process, at a free port of this machine unless ``host`` and ``port`` say otherwise. ``guest`` is what
    anybody may do: "none", "ro" (read) or "rw" (write). ``users`` are names and passwords; they may read and write. ``options`` are
    parameters of smb.conf's [global]. The share has the folder's name unless ``share`` gives another one.

    It has no sandbox, which would confine the whole Python process: serve untrusted networks with the program ``coax serve``.

    Raises :class:`coax.ServeError` when it starts, if the folder, an option or the address is wrong.
    """
    wanted = _Wanted()
    wanted.folder = _arguments.path(folder, "folder")
    wanted.share = None if share is None else _arguments.text(share, "share")
    wanted.guest = _arguments.text(guest, "guest")
    wanted.users = [(_arguments.text(name, "each user"), _arguments.text(word, "each password")) for name, word in dict(users or {}).items()]
    wanted.options = [option.replace("=", " = ", 1) for option in _arguments.assignments(options, "options")]
    wanted.host = ipaddress.ip_address(_arguments.text(host, "host"))
    wanted.port = _arguments.whole(port, "port")
    if wanted.port > 65535:
        raise ValueError(f"port must be at most 65535, not {port}")
    return Server(wanted)
