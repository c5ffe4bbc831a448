"""Frames, made once for all browsers, and the connection as the server offers it."""

from collections.abc import Callable
from typing import Protocol

# Where the server offers its socket in the extensions of the scope.
FRAMES = "countersign.frames"
FRAME_CHARACTERS = 64_000

Frames = list[tuple[int, bytes]]  # how many texts, and the frame that carries them


class Socket(Protocol):
    """One connection, as the server offers it in the extensions of its scope."""

    when_taken: Callable[[], None] | None

    def frame(self, text: str) -> bytes:
        """The bytes that carry this text; the same for every connection."""

    def write(self, frame: bytes) -> bool:
        """Send, without waiting. False when the peer has not taken everything: `when_taken` is called once it has."""

    def untaken(self) -> int:
        """Bytes that the peer's side has not taken yet."""

    def end(self, code: int) -> None:
        """Close with this code; what was written before goes first."""

    def cut(self) -> None:
        """End the connection at once, whatever still waits."""


def framed(texts: tuple[str, ...], frame: Callable[[str], bytes]) -> Frames:
    """Frames of limited size, or of one longer text: one object as it is, several as an array."""
    frames: Frames = []
    start = length = 0
    for end, text in enumerate(texts):
        if end > start and length + len(text) > FRAME_CHARACTERS:
            frames.append((end - start, frame(_joined(texts[start:end]))))
            start, length = end, 0
        length += len(text) + 1
    frames.append((len(texts) - start, frame(_joined(texts[start:]))))
    return frames


def _joined(texts: tuple[str, ...]) -> str:
    return texts[0] if len(texts) == 1 else f"[{','.join(texts)}]"
