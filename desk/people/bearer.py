"""Reads a token from the `Authorization` header, the only place where one is sent. It reads no rows."""

from collections.abc import Iterable
from typing import Final

SCHEME: Final = "Bearer"
_HEADER: Final = b"authorization"


def text_of(header: str) -> str | None:
    """The text of the token that the header carries; None for another scheme, or no header."""
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == SCHEME.lower() else None


def of_handshake(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The text of the token in a socket's handshake; None also where there are several such headers."""
    texts = [value.decode("latin-1") for name, value in headers if name == _HEADER]
    return text_of(texts[0]) if len(texts) == 1 else None
