"""Whether an address only looks like one that we know: address poisoning, and addresses with a few wrong characters.

Wallets and block explorers show the ends of an address, so whoever wants a payment for himself makes an address with
the same ends as a real recipient and waits for somebody to copy it from a history. Pure functions on text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

from chaindata.shared import addresses
from exchange_ops.addresses.destinations import CHAIN_CODE

ENDS: Final = 3  # characters that have to agree at each end, after what all addresses of the form begin with
LONG: Final = 20  # only from this length on are equal ends no accident
MOST_COMPARED: Final = 100  # addresses with a piece in common that are compared letter by letter, at most
MOST_SEEN: Final = 2_000  # addresses with the same first characters whose last ones are looked at, at most
_ALIKE_START: Final = re.compile(r"0x|(?:bc|tb|bcrt|ltc|tltc|rltc)1[qp]|[13mn2LMDTrqp]")
_HEX: Final = re.compile(r"0[xX][0-9a-fA-F]+", re.ASCII)
_WITNESS: Final = re.compile(r"(?:bc|tb|bcrt|ltc|tltc|rltc)1[02-9ac-hj-np-z]+", re.ASCII | re.IGNORECASE)
Piece = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Comparable:
    """An address as people read it, and the form in which two of them are compared; both have the same length."""

    text: str
    form: str


@dataclass(frozen=True, slots=True)
class Likeness:
    """An address beside the one it looks like, each as pieces of text with whether they differ.

    `address` is the known one. `differing` counts the characters that differ, of `length`.
    """

    address: str
    ours: tuple[Piece, ...]
    theirs: tuple[Piece, ...]
    differing: int
    length: int


class KnownAddresses:
    """Known addresses, arranged so that the nearest one to another address is found without comparing it with all.

    They stand in one text, a line each: searching it for a piece of an address is faster than a loop over them.
    """

    def __init__(self, addresses: Iterable[Comparable]) -> None:
        self._by_form = {each.form: each for each in addresses}
        self._lines = "\n".join(["", *self._by_form, ""])

    def __contains__(self, address: Comparable) -> bool:
        return address.form in self._by_form

    def nearest(self, address: Comparable) -> Comparable | None:
        """The known address that this one may be mistaken for; None where there is none, or this one is known."""
        form = address.form
        if address in self:
            return None
        near = [(edits(form, each.form, _few(form)), each) for each in self._with_a_piece_of(form)]
        close = [(count, each.form, each) for count, each in near if count is not None]
        if close:
            return min(close)[2]
        return max(self._with_the_ends_of(form), key=lambda each: (_agreeing(form, each.form), each.form), default=None)

    def _with_the_ends_of(self, form: str) -> list[Comparable]:
        if len(form) < LONG:
            return []
        start = _ALIKE_START.match(form)
        head, tail = form[: (start.end() if start else 0) + ENDS], form[-ENDS:]
        lines = islice(self._lines_with(f"\n{head}", 1), MOST_SEEN)
        return [self._by_form[line] for line in lines if len(line) >= LONG and line.endswith(tail)]

    def _with_a_piece_of(self, form: str) -> list[Comparable]:
        """Known addresses that share a piece with it: with few edits one piece of several stays whole."""
        read: set[str] = set()
        count = _few(form) + 1
        bounds = [len(form) * number // count for number in range(count + 1)]
        for first, last in pairwise(bounds):
            read |= {*islice(self._lines_with(form[first:last], 0), MOST_COMPARED)}
        return [self._by_form[line] for line in sorted(read)]

    def _lines_with(self, text: str, skips: int) -> Iterator[str]:
        """The lines that contain the text, which begins `skips` characters before its place in the line."""
        place = self._lines.find(text) if text else -1
        while place >= 0:
            end = self._lines.find("\n", place + skips)
            yield self._lines[self._lines.rfind("\n", 0, place + skips) + 1 : end]
            place = self._lines.find(text, end)


@lru_cache(maxsize=50_000)
def comparable(code: str, address: str) -> Comparable:
    """The address of the currency `code` for comparisons: hexadecimal digits and bech32 in small letters, and every
    form of a Bitcoin Cash address as its cash address without the prefix.
    """
    text = address
    if code == CHAIN_CODE:
        try:
            text = addresses.display_form(address).rpartition(":")[2]
        except addresses.NotAnAddress:
            text = address.rpartition(":")[2]
        return Comparable(text.lower(), text.lower())
    is_caseless = _HEX.fullmatch(text) or _WITNESS.fullmatch(text)
    return Comparable(text, text.lower() if is_caseless else text)


@lru_cache(maxsize=50_000)
def in_each_form(code: str, address: str) -> tuple[Comparable, ...]:
    """The address in each form in which people read and copy it: a Bitcoin Cash address as its legacy address too.

    Both are of one hash, but an address that is like another one in one form is nothing like it in the other.
    """
    usual = comparable(code, address)
    if code != CHAIN_CODE:
        return (usual,)
    try:
        legacy = addresses.forms(address).legacy_address
    except addresses.NotAnAddress:
        legacy = ""
    return (usual, Comparable(legacy, legacy)) if legacy else (usual,)


def likeness(address: Comparable, model: Comparable) -> Likeness:
    """An address beside the known one, its model, with the characters that differ."""
    ours: list[Piece] = []
    theirs: list[Piece] = []
    if len(address.form) == len(model.form):
        same = [one == other for one, other in zip(address.form, model.form, strict=True)]
        runs = [("equal" if each else "replace", at, at + 1, at, at + 1) for at, each in enumerate(same)]
    else:
        runs = list(SequenceMatcher(None, address.form, model.form, autojunk=False).get_opcodes())
    for kind, first, last, other_first, other_last in runs:
        _add(ours, address.text[first:last], kind != "equal")
        _add(theirs, model.text[other_first:other_last], kind != "equal")
    differing = max(sum(len(text) for text, differs in side if differs) for side in (ours, theirs))
    return Likeness(model.text, tuple(ours), tuple(theirs), differing, len(address.text))


def edits(one: str, other: str, limit: int) -> int | None:
    """How many insertions, removals and replacements turn one into the other; None where it is more than `limit`."""
    if abs(len(one) - len(other)) > limit:
        return None
    far = limit + 1
    row = [place if place <= limit else far for place in range(len(other) + 1)]
    for number, letter in enumerate(one, 1):
        first, last = max(1, number - limit), min(len(other), number + limit)
        before, row[first - 1] = row[first - 1], number if first == 1 and number <= limit else far
        for place in range(first, last + 1):
            above = row[place] if place < number + limit else far
            before, row[place] = above, min(above + 1, row[place - 1] + 1, before + (letter != other[place - 1]), far)
        if min(row[first - 1 : last + 1]) > limit:
            return None
    return row[-1] if row[-1] <= limit else None


def _few(form: str) -> int:
    """How many edits make another address of its length look the same."""
    return 3 if len(form) >= LONG else 2 if len(form) >= 8 else 1


def _agreeing(one: str, other: str) -> int:
    """How many characters agree from both ends up to the first that differs."""
    return sum(_run(zip(*pair, strict=False)) for pair in ((one, other), (one[::-1], other[::-1])))


def _run(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _add(pieces: list[Piece], text: str, differs: bool) -> None:
    """Append the text, joined to the piece before it when both differ or both agree."""
    if not text:
        return
    if pieces and pieces[-1][1] == differs:
        text = pieces.pop()[0] + text
    pieces.append((text, differs))
