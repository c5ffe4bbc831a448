"""What people should know of a recipient before they request or approve a payout: one value, the same on every page.

It is read for a whole list at once, by a number of queries that does not grow with the list.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from django.db.models import Sum
from django.db.models.functions import Coalesce

from exchange_ops.addresses import destinations, lookalikes, owners
from exchange_ops.addresses.lookalikes import KnownAddresses, Likeness
from exchange_ops.ledger.models import Balance
from exchange_ops.market import valuation
from exchange_ops.market.models import Currency
from exchange_ops.payees import book
from exchange_ops.payees.models import Payee
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import equal_payments, request_checks
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.recipients import history
from exchange_ops.withdrawals.recipients.history import History, Payout, Place

FEE_RISE: Final = Decimal("1.1")  # the factor beyond which a higher fee is mentioned
OURS: Final = "one of our own deposit addresses"


@dataclass(frozen=True, slots=True)
class Subject:
    """A payout that is typed, or one that was requested: then with its `number`, `state` and `fee`.

    `amount` and `fee` are in the currency of `place`; the amount is None until it is typed.
    """

    place: Place
    account: Account
    at: datetime
    amount: Decimal | None = None
    number: int | None = None
    state: str = ""
    fee: Decimal | None = None

    @classmethod
    def of(cls, row: Withdrawal) -> "Subject":
        """The subject of a request."""
        place = Place(row.account_id, row.currency, row.address, row.payment_id)
        return cls(place, row.account, row.created_at, row.amount, row.pk, row.state, row.known_fee)


@dataclass(frozen=True, slots=True)
class Day:
    """The payouts to one recipient within 24 hours, this one included: how many, and their value in `currency`.

    `value` is None where a price is missing.
    """

    count: int
    value: Decimal | None
    currency: str


@dataclass(frozen=True, slots=True)
class Recipient:
    """The briefing. `kind` is what the form of the address says: a script, a burn address.

    `own` says whose the address is where it is the company's. `coin` says why the exchange does not pay out the
    currency now. `fee_now` is the exchange's fee where it has risen since the request. `equal` are others of the same
    amount within a day. `share` is the part of the bank wallet's balance that leaves, above 1 where it is too small.
    `payee` is the approved payee that the recipient is, if any.
    """

    network: str
    kind: str
    history: History
    lookalike: Likeness | None
    own: str
    coin: str
    fee_now: Decimal | None
    equal: tuple[Withdrawal, ...]
    day: Day | None
    share: Decimal | None
    payee: Payee | None

    @property
    def is_first(self) -> bool:
        """Whether nothing was paid to this address with this payment id."""
        return not self.history.paid

    @property
    def short(self) -> str:
        """The briefing in one or two sentences, for messages and lists; empty where there is nothing to mention."""
        sentences = (
            "Warning: the address resembles a known address but is not the same." if self.lookalike else "",
            f"Warning: the address is {self.own}." if self.own else "",
            f"{self.kind}." if self.kind else "",
            "First payout to this recipient." if self.is_first else "",
            "Another payout of the same amount to this recipient was requested within 24 hours of this one."
            if self.equal
            else "",
            self.coin,
            "The network fee has risen since the request." if self.fee_now else "",
        )
        return " ".join(sentence for sentence in sentences if sentence)


def briefings(subjects: Sequence[Subject], *, now: datetime) -> list[Recipient]:
    """The briefing of each subject, in their order."""
    if not subjects:
        return []
    places = {each.place for each in subjects}
    accounts = {place.account for place in places}
    currencies = Currency.objects.in_bulk({place.currency for place in places})
    paid_addresses, past = history.known_addresses(accounts), history.histories(places)
    texts = {place: history.spellings(place.currency, place.address) for place in places}
    own, equal = owners.owners({text for each in texts.values() for text in each}), _equal(subjects)
    payees = book.approved([book.Key(*place) for place in places], now=now)
    days, shares = _days(subjects, history.within_day(places, now=now), now), _shares(subjects)
    return [
        Recipient(
            network=_network(each.place, currencies.get(each.place.currency)),
            kind=destinations.kind(code=each.place.currency, address=each.place.address),
            history=past[each.place].without(each.state) if each.number else past[each.place],
            lookalike=_lookalike(each.place, paid_addresses[each.place.account]),
            own=_own(each.place, texts[each.place], own),
            coin=request_checks.currency_problem(currencies.get(each.place.currency)),
            fee_now=_fee_now(each, currencies.get(each.place.currency)),
            equal=equal[number],
            day=days[number],
            share=shares[number],
            payee=payees.get(book.Key(*each.place)),
        )
        for number, each in enumerate(subjects)
    ]


def of_rows(rows: Sequence[Withdrawal], *, now: datetime) -> dict[int, Recipient]:
    """The briefing on the recipient of each request, by its number."""
    in_order = briefings([Subject.of(row) for row in rows], now=now)
    return {row.pk: each for row, each in zip(rows, in_order, strict=True)}


def _network(place: Place, currency: Currency | None) -> str:
    if currency is None:
        return ""
    try:
        return destinations.check(currency=currency, address=place.address, payment_id=place.payment_id).network
    except destinations.CannotUseDestination:
        return ""


def _lookalike(place: Place, addresses: KnownAddresses) -> Likeness | None:
    for address in lookalikes.in_each_form(place.currency, place.address):
        if (nearest := addresses.nearest(address)) is not None:
            return lookalikes.likeness(address, nearest)
    return None


def _own(place: Place, texts: Collection[str], own: Mapping[str, tuple[int, str]]) -> str:
    """Whose it is, in whichever form the exchange spells it; another account is not named: not everybody may see it."""
    account, words = next((own[text] for text in sorted(texts) if text in own), (0, ""))
    return f"the {words}" if account == place.account else OURS if words else ""


def _fee_now(subject: Subject, currency: Currency | None) -> Decimal | None:
    fee_now = currency.payout_fee if currency is not None else None
    if fee_now is None or not subject.fee or subject.number is None:
        return None
    return fee_now if fee_now > subject.fee * FEE_RISE else None


def _equal(subjects: Sequence[Subject]) -> list[tuple[Withdrawal, ...]]:
    times = [each.at for each in subjects]
    candidates = equal_payments.around(
        addresses={each.place.address for each in subjects}, first=min(times), last=max(times)
    )
    by_content: defaultdict[tuple[Place, Decimal], list[Withdrawal]] = defaultdict(list)
    for row in candidates:
        by_content[Place(row.account_id, row.currency, row.address, row.payment_id), row.amount].append(row)
    return [
        tuple(
            row
            for row in by_content.get((each.place, each.amount or Decimal(0)), ())
            if row.pk != each.number and abs(row.created_at - each.at) <= equal_payments.WITHIN
        )[: equal_payments.MOST]
        for each in subjects
    ]


def _days(subjects: Sequence[Subject], payouts: Mapping[Place, Collection[Payout]], now: datetime) -> list[Day | None]:
    """What each recipient gets within a day with this payout; None before there is an amount."""
    amounts: list[dict[str, Decimal]] = []
    counts: list[int] = []
    for each in subjects:
        others = [one for one in payouts[each.place] if one.number is None or one.number != each.number]
        sums: defaultdict[str, Decimal] = defaultdict(Decimal)
        for currency, amount in ((each.place.currency, each.amount), *((one.currency, one.amount) for one in others)):
            sums[currency] += amount or Decimal(0)
        amounts.append(sums)
        counts.append(len(others) + 1)
    values: list[Decimal | None] = [None] * len(subjects)
    for quote in {each.account.quote_currency for each in subjects}:
        groups = {at: amounts[at] for at, each in enumerate(subjects) if each.account.quote_currency == quote}
        for at, by_currency in valuation.values_of_groups(groups=groups, quote=quote, now=now).items():
            worths = [value.amount for value in by_currency.values()]
            values[at] = None if None in worths else sum((worth for worth in worths if worth), Decimal(0))
    return [
        None if each.amount is None else Day(counts[at], values[at], each.account.quote_currency)
        for at, each in enumerate(subjects)
    ]


def _shares(subjects: Sequence[Subject]) -> list[Decimal | None]:
    bank = Balance.objects.filter(wallet=Balance.BANK, currency__in={each.place.currency for each in subjects})
    sums = (
        bank.order_by()
        .values("account_id", "currency")
        .annotate(total=Coalesce(Sum("available"), Decimal(0)) + Coalesce(Sum("reserved"), Decimal(0)))
    )
    totals = {(each["account_id"], each["currency"]): each["total"] for each in sums}
    pairs = [(each.amount, totals.get(each.place[:2])) for each in subjects]
    return [amount / total if total and amount is not None else None for amount, total in pairs]
