"""A transaction as a drawing: its inputs on the left, its outputs on the right, each as wide as its value.

Geometry in the units of the drawing, which the page stretches to its width. The lists beside it say the same in words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

WIDTH, MIDDLE = Decimal(1000), Decimal(90)  # of the drawing, and of the block in the middle
LINE: Final = Decimal(20)  # the least height of a ribbon at its outer end, so that there is room for its label
THINNEST: Final = Decimal("1.5")
FOR_VALUES: Final = Decimal(80)  # the height that all coins of a side share, in pixels like the others
BASELINE: Final = Decimal(4)  # how far below the middle of its line a label's text stands
MOST_SIDES: Final = 12  # drawn one by one on each side; the smallest of more are drawn together
PLAIN, OWN, FEE, MESSAGE, OTHERS, NEW = "plain", "own", "fee", "message", "rest", "new"


@dataclass(frozen=True, slots=True)
class Part:
    """An input or output: its coins, what it is in words, and how it is drawn (`PLAIN`, `OWN` ...).

    `label` says in a word or two whose it is, beside the amount at the outer end of its ribbon.
    """

    coins: Decimal
    words: str
    tone: str = PLAIN
    label: str = ""


@dataclass(frozen=True, slots=True)
class Ribbon:
    """An input or output as it is drawn: the path of its outline, and where the text of its label is."""

    path: str
    words: str
    tone: str
    coins: Decimal
    label: str
    label_y: str


@dataclass(frozen=True, slots=True)
class Flow:
    """The whole drawing. `middle_y` and `middle_height` describe the block where both sides meet."""

    inputs: Sequence[Ribbon]
    outputs: Sequence[Ribbon]
    height: str
    middle_x: str
    middle_y: str
    middle_width: str
    middle_height: str
    words: str

    @property
    def ribbons(self) -> list[Ribbon]:
        """The ribbons of both sides, inputs first."""
        return [*self.inputs, *self.outputs]

    @property
    def tones(self) -> frozenset[str]:
        """The kinds that are drawn, for the legend."""
        return frozenset(each.tone for each in self.ribbons)


def drawing(*, inputs: Sequence[Part], outputs: Sequence[Part], fee: Decimal) -> Flow | None:
    """The drawing; None if nothing goes in or nothing comes out. A fee is drawn below the outputs."""
    left_parts, right_parts = _bound(inputs), _bound(outputs)
    right_parts += [Part(fee, f"Fee: {fee:f} BCH", FEE, "fee")] if fee > 0 else []
    total = max(sum((each.coins for each in inputs), Decimal(0)), sum((each.coins for each in right_parts), Decimal(0)))
    if not left_parts or not right_parts or total <= 0:
        return None
    height = LINE * max(len(left_parts), len(right_parts)) + FOR_VALUES
    scale = FOR_VALUES / total
    top = (height - FOR_VALUES) / 2
    edge = (WIDTH - MIDDLE) / 2
    return Flow(
        inputs=_side(left_parts, scale, height, top, (Decimal(0), edge)),
        outputs=_side(right_parts, scale, height, top, (WIDTH, WIDTH - edge)),
        height=_text(height),
        middle_x=_text(edge),
        middle_y=_text(top),
        middle_width=_text(MIDDLE),
        middle_height=_text(FOR_VALUES),
        words=_summary(inputs, outputs, fee),
    )


def _bound(parts: Sequence[Part]) -> list[Part]:
    """The parts in their order; if there are too many to tell apart, the smallest become one."""
    if len(parts) <= MOST_SIDES:
        return list(parts)
    order = sorted(range(len(parts)), key=lambda n: (-parts[n].coins, n))
    largest = set(order[: MOST_SIDES - 1])
    smallest = [parts[n] for n in order[MOST_SIDES - 1 :]]
    coins = sum((each.coins for each in smallest), Decimal(0))
    label = f"{len(smallest)} others"
    return [parts[n] for n in sorted(largest)] + [Part(coins, f"{label}: {coins:f} BCH", OTHERS, label)]


def _side(
    parts: Sequence[Part], scale: Decimal, height: Decimal, top: Decimal, ends: tuple[Decimal, Decimal]
) -> list[Ribbon]:
    """The ribbons from the edge of the drawing to the block in the middle, where they are stacked.

    At the edge each ribbon is in the middle of a line of its own, whose height is `LINE` and that of its coins.
    """
    lines = [each.coins * scale + LINE for each in parts]
    outside, inside, ribbons = (height - sum(lines)) / 2, top, []
    for part, line in zip(parts, lines, strict=True):
        narrow = part.coins * scale
        centre, half = outside + line / 2, (narrow + THINNEST) / 2
        path = _path(ends, (centre - half, centre + half), (inside, inside + narrow))
        ribbons.append(Ribbon(path, part.words, part.tone, part.coins, part.label, _text(centre + BASELINE)))
        outside += line
        inside += narrow
    return ribbons


def _path(ends: tuple[Decimal, Decimal], outer: tuple[Decimal, Decimal], inner: tuple[Decimal, Decimal]) -> str:
    """The outline: along the upper edge from outside to inside, and back along the lower one."""
    (far, near), half = ends, (ends[0] + ends[1]) / 2
    there = f"M{_text(far)} {_text(outer[0])}C{_text(half)} {_text(outer[0])} {_text(half)} {_text(inner[0])}"
    back = f"{_text(near)} {_text(inner[0])}V{_text(inner[1])}C{_text(half)} {_text(inner[1])} {_text(half)}"
    return f"{there} {back} {_text(outer[1])} {_text(far)} {_text(outer[1])}Z"


def _summary(inputs: Sequence[Part], outputs: Sequence[Part], fee: Decimal) -> str:
    coins_in, coins_out = (sum((each.coins for each in side), Decimal(0)) for side in (inputs, outputs))
    fee_words = f", fee {fee:f} BCH" if fee > 0 else ""
    ins, outs = (
        f"{len(side)} {noun}{'' if len(side) == 1 else 's'}" for side, noun in ((inputs, "input"), (outputs, "output"))
    )
    return f"{ins} ({coins_in:f} BCH), {outs} ({coins_out:f} BCH){fee_words}."


def _text(value: Decimal) -> str:
    return f"{value.quantize(Decimal('0.01')).normalize():f}"
