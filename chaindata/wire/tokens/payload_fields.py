"""How the fields of property-token payloads are written: numbers of fixed size and texts, each with its bounds.

Source: supplement 2. Reading asks for the form alone; writing for what a node takes as well, and names its refusal.
"""

from dataclasses import dataclass
from typing import Literal

from chaindata.wire import refusals
from chaindata.wire.refusals import Refusal

MOST_TEXT_BYTES = 255


class NotAPayload(ValueError):
    """The bytes are no payload that is known; the message says what is wrong."""


class CannotWrite(ValueError):
    """These values make no valid payload; `refusal` is what a node answers."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number of so many bytes, big-endian unless told. `same_as` names the field an omitted one repeats."""

    name: str
    size: int
    refusal: Refusal = refusals.INVALID_AMOUNT
    lowest: int = 0
    highest: int | None = None
    same_as: str = ""
    little: bool = False

    def read(self, raw: bytes, at: int) -> tuple[int, int]:
        """The number at a place, and where it ends. Raises `NotAPayload`."""
        end = at + self.size
        if end > len(raw):
            raise NotAPayload(f"The payload is cut off in its {self.name}.")
        return int.from_bytes(raw[at:end], self._order), end

    def write(self, value: object) -> bytes:
        """Its bytes. Raises `CannotWrite`."""
        highest = 2 ** (8 * self.size) - 1 if self.highest is None else self.highest
        if not isinstance(value, int) or isinstance(value, bool) or not self.lowest <= value <= highest:
            raise CannotWrite(self.refusal)
        return value.to_bytes(self.size, self._order)

    @property
    def _order(self) -> Literal["little", "big"]:
        return "little" if self.little else "big"


@dataclass(frozen=True, slots=True)
class Text:
    """A text in UTF-8 with a zero byte at its end, of at most 255 bytes without it."""

    name: str
    needed: bool = False
    same_as: str = ""

    def read(self, raw: bytes, at: int) -> tuple[str, int]:
        """The text at a place, and where it ends. Raises `NotAPayload`; what is not UTF-8 is read with marks."""
        end = raw.find(b"\0", at, at + MOST_TEXT_BYTES + 1)
        if end < 0:
            raise NotAPayload(f"The {self.name} does not end within {MOST_TEXT_BYTES} bytes.")
        return raw[at:end].decode("utf-8", "replace"), end + 1

    def write(self, value: object) -> bytes:
        """Its bytes. Raises `CannotWrite`."""
        if self.needed and not value:
            raise CannotWrite(refusals.NAME_EMPTY)
        raw = value.encode("utf-8", "replace") if isinstance(value, str) else b"\0"
        if len(raw) > MOST_TEXT_BYTES or b"\0" in raw:
            raise CannotWrite(refusals.TEXT_TOO_LONG)
        return raw + b"\0"


@dataclass(frozen=True, slots=True)
class Zero:
    """A byte that is always zero and means nothing."""

    name: str = ""
    same_as: str = ""

    def read(self, raw: bytes, at: int) -> tuple[int, int]:
        """Nothing, and where it ends; what the byte holds does not matter. Raises `NotAPayload`."""
        if at >= len(raw):
            raise NotAPayload("The payload ends too early.")
        return 0, at + 1

    def write(self, value: object) -> bytes:
        """The byte."""
        return b"\0"


Form = Number | Text | Zero
