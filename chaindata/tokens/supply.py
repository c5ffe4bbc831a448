"""The supply of a token over time: each grant, revocation or minting by its block, drawn as steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

WIDTH, HEIGHT = Decimal(1000), Decimal(140)  # of the drawing
_ROOM: Final = Decimal("0.92")  # of the height, so that the highest step does not touch the edge


@dataclass(frozen=True, slots=True)
class Change:
    """One grant or minting, or a revocation with a negative amount. `block` is None if it was not read yet."""

    txid: str
    amount: Decimal
    block: int | None
    position: int


@dataclass(frozen=True, slots=True)
class Step:
    """A change with the supply after it."""

    change: Change
    supply: Decimal


@dataclass(frozen=True, slots=True)
class Drawing:
    """The line, the area below it, and the same in words."""

    line: str
    area: str
    words: str


def steps(changes: Sequence[Change]) -> list[Step]:
    """The changes by block and place, each with the supply after it; none until all blocks are known."""
    if any(each.block is None for each in changes):
        return []
    timeline, supply = [], Decimal(0)
    for each in sorted(changes, key=lambda one: (one.block or 0, one.position, one.txid)):
        supply += each.amount
        timeline.append(Step(each, supply))
    return timeline


def drawing(timeline: Sequence[Step], *, tip: int | None) -> Drawing | None:
    """The line from the first change to the tip; None if the supply never was above zero."""
    if not timeline:
        return None
    blocks = [each.change.block or 0 for each in timeline]
    most = max(each.supply for each in timeline)
    first, last = blocks[0], max(blocks[-1] + 1, tip or 0)
    if most <= 0:
        return None
    across = WIDTH / (last - first)
    line, before = [f"M0 {_text(HEIGHT)}"], Decimal(0)
    for block, step in zip(blocks, timeline, strict=True):
        x = (block - first) * across
        line += [f"H{_text(x)}", f"V{_text(_height(step.supply, most))}"]
        before = step.supply
    line.append(f"H{_text(WIDTH)}")
    path = "".join(line)
    words = f"From block {first:,} to block {last:,} the supply went from 0 to {before:,f}, peaking at {most:,f}."
    return Drawing(path, f"{path}V{_text(HEIGHT)}Z", words)


def _height(supply: Decimal, most: Decimal) -> Decimal:
    return HEIGHT - max(supply, Decimal(0)) / most * HEIGHT * _ROOM


def _text(value: Decimal) -> str:
    return f"{value.quantize(Decimal('0.01')).normalize():f}"
