"""Messages and client profiles."""
from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from . import _arguments, _coax


def decode(message: bytes, *, kind: Optional[str] = None) -> Dict[str, Any]:
    """Every field of an SMB or NetBIOS message, the object of ``coax decode --json`` (docs/decode.md).

    ``fields`` is a list: ``offset`` and ``length`` (bytes), ``depth``, ``name``, ``value``, and where they apply ``meaning`` and
    ``problem``. Any bytes can be decoded. ``kind`` is "session", "smb", "name", "datagram", "netbeui",
    "ethernet", "llc" or "ipx"; by default it is recognised.
    """
    if not isinstance(message, (bytes, bytearray, memoryview)):
        raise TypeError(f"message must be bytes, not {type(message).__name__}; bytes.fromhex converts digits")
    if kind is not None:
        _arguments.text(kind, "kind")
    return json.loads(_coax.decode(bytes(message), kind))


def profiles(name: Optional[str] = None) -> Any:
    """The redirectors that coax knows: a list with ``name`` and ``title`` of each.

    With ``name``, all values of one profile; each has ``value`` and its ``source``, or why it is ``assumed``.
    """
    if name is None:
        found: List[Dict[str, str]] = json.loads(_coax.profiles())["profiles"]
        return found
    return json.loads(_coax.profile(_arguments.text(name, "name")))
