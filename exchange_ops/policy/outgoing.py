"""What left the accounts within a window, or is about to: what the rules for payouts add up.

The rooms above declare their rows as sources. They are read in groups, so that a month of payouts costs one query for
each source, however many rules there are.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple, Protocol

from exchange_ops.policy import payout_rules
from exchange_ops.policy.payout_judging import Total
from exchange_ops.policy.payout_rules import PayoutRule

LONGEST: Final = timedelta(hours=max(payout_rules.WINDOWS_H))


@dataclass(frozen=True, slots=True)
class Recipient:
    """Who is paid at an account: an address in each of its spellings and a payment id, or another user by a name."""

    account: int
    names: frozenset[str]
    payment_id: str = ""


class Group(NamedTuple):
    """Payouts that every rule counts alike: how many, and their amount in `currency`.

    `window_h` is the shortest window of the rules that contains them; pending ones are in every window. `is_same` says
    whether they go to the recipient of the judged payout. `person` requested them, None for those made outside.
    """

    account: int
    currency: str
    person: int | None
    is_same: bool
    window_h: int
    payouts: int
    amount: Decimal


class Past(NamedTuple):
    """One row that left, for a back-test.

    `recipient` is equal for equal recipients; `place` is account, currency, address in normal form and payment id, None
    for another user. `value` is what it was worth, in the account's quote currency, None where
    it was not stored; `fee` is in `currency`. `person` requested it, None for one made outside.
    """

    reference: str
    url: str
    account: int
    currency: str
    amount: Decimal
    recipient: Hashable
    place: tuple[int, str, str, str] | None
    at: datetime
    person: int | None
    value: Decimal | None
    fee: Decimal | None


class Source(Protocol):
    """A room whose rows leave the company."""

    def groups(self, recipient: Recipient, *, now: datetime, without: int | None) -> Iterable[Group]:
        """Its rows that are pending or left since `LONGEST` ago, without the row of this number."""

    def was_paid(self, recipient: Recipient) -> bool:
        """Whether one of its rows paid this recipient, however long ago."""

    def pasts(self, accounts: Collection[int], *, since: datetime) -> Iterable[Past]:
        """Its rows at these accounts that left since then."""

    def recipients_before(self, accounts: Collection[int], *, until: datetime) -> Iterable[Hashable]:
        """The recipients that its rows at these accounts paid before that moment."""


_sources: dict[str, Source] = {}


def register(name: str, source: Source) -> None:
    """Declare a source; called when the app is ready."""
    _sources[name] = source


def groups(recipient: Recipient, *, now: datetime, without: tuple[str, int] | None) -> list[Group]:
    """The groups of every source, without the row that is judged: the name of its source and its number."""
    return [
        group
        for name, source in _sources.items()
        for group in source.groups(
            recipient, now=now, without=without[1] if without is not None and without[0] == name else None
        )
    ]


def was_paid(recipient: Recipient, source: str) -> bool:
    """Whether the recipient was paid before, as the source of this name knows it."""
    return bool(recipient.names) and _sources[source].was_paid(recipient)


def pasts(accounts: Collection[int], *, since: datetime) -> list[Past]:
    """What left these accounts since then, of every source, the oldest first."""
    rows = (past for source in _sources.values() for past in source.pasts(accounts, since=since))
    return sorted(rows, key=lambda past: (past.at, past.reference))


def recipients_before(accounts: Collection[int], *, until: datetime) -> set[Hashable]:
    """The recipients that were paid from these accounts before that moment."""
    return {each for source in _sources.values() for each in source.recipients_before(accounts, until=until)}


def groups_before(past: Past, earlier: Iterable[Past]) -> list[Group]:
    """The groups in the windows that end with this row, of the rows before it."""
    sums: defaultdict[tuple[int, str, int | None, bool, int], list[Decimal]] = defaultdict(list)
    for each in earlier:
        window_h = next((hours for hours in payout_rules.WINDOWS_H if past.at - each.at <= timedelta(hours=hours)), 0)
        key = (each.account, each.currency, each.person, each.recipient == past.recipient, window_h)
        sums[key].append(each.amount)
    return [Group(*key, len(amounts), sum(amounts, Decimal(0))) for key, amounts in sums.items()]


class Totals:
    """The totals of the rules over time: the judged payout and all others that a rule covers in its window.

    Rules that cover the same share one sum, so that a hundred rules cost little more than a few. `rates` gives the
    price of one unit of each currency in the currency of the rules, None where it is not known; `roles` the roles of
    each person, asked for by rules that name one.
    """

    def __init__(
        self,
        judged: Group,
        others: Iterable[Group],
        *,
        rates: Callable[[Collection[str]], Mapping[str, Decimal | None]],
        roles: Callable[[], Mapping[int, Collection[str]]],
    ) -> None:
        self._judged, self._others, self._rates, self._roles = judged, list(others), rates, roles
        self._sums: dict[Hashable, tuple[int, dict[str, Decimal]]] = {}
        self._values: dict[Hashable, Decimal | None] = {}

    def __call__(self, rule: PayoutRule) -> Total:
        """The total of this rule; its value only where the rule compares values."""
        is_of_recipient = rule.measure in payout_rules.OF_RECIPIENT
        scope = (is_of_recipient, rule.window_h, rule.account, rule.currency, rule.person, rule.role)
        if scope not in self._sums:
            self._sums[scope] = self._summed(rule)
        count, amounts = self._sums[scope]
        if rule.measure in payout_rules.COUNTS:
            return Total(count, None)
        if scope not in self._values:
            self._values[scope] = self._valued(amounts)
        return Total(count, self._values[scope])

    def _summed(self, rule: PayoutRule) -> tuple[int, dict[str, Decimal]]:
        roles = self._roles() if rule.role else {}
        count, amounts = self._judged.payouts, {self._judged.currency: self._judged.amount}
        for group in self._others:
            if _counts(rule, group, roles):
                count += group.payouts
                amounts[group.currency] = amounts.get(group.currency, Decimal(0)) + group.amount
        return count, amounts

    def _valued(self, amounts: Mapping[str, Decimal]) -> Decimal | None:
        """What the amounts are worth together; None where a price is not known."""
        prices = self._rates(amounts)
        worths = [None if (price := prices[code]) is None else price * amount for code, amount in amounts.items()]
        priced = [worth for worth in worths if worth is not None]
        return sum(priced, Decimal(0)) if len(priced) == len(worths) else None


def _counts(rule: PayoutRule, group: Group, roles: Mapping[int, Collection[str]]) -> bool:
    is_of_recipient = rule.measure in payout_rules.OF_RECIPIENT
    return (
        0 < group.window_h <= rule.window_h
        and (group.is_same or not is_of_recipient)
        and rule.account in {None, group.account}
        and rule.currency in {"", group.currency}
        and rule.person in {None, group.person}
        and (not rule.role or rule.role in roles.get(group.person or 0, ()))
    )
