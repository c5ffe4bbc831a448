"""What the chain's pages are told of addresses and transactions: their payouts, deposits and destinations, and which
addresses are ours. Each reader is shown only what is of their own accounts."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from chaindata.shared import addresses, belongings, owned_addresses
from chaindata.shared.belongings import Belonging, BelongingsByKey
from desk.templatetags.desk import kept_amount
from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.ledger import destinations
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccountAddress
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

if TYPE_CHECKING:
    from desk.models import Person

MOST = 20  # of one kind that one transaction is shown to belong to


def register() -> None:
    """Let the chain's pages ask; called once, when the app is ready."""
    belongings.register("exchange", belongings_of)
    owned_addresses.register("deposit addresses", owners)


def owners(printed_addresses: Collection[str]) -> dict[str, str]:
    """The descriptions of those printed addresses that are our deposit addresses; rows may spell them differently."""
    spelled = {form: printed for printed in printed_addresses for form in _spellings(printed)}
    conditions = {"currency": CHAIN_CODE, "address__in": spelled}
    subs = SubAccountAddress.objects.filter(**conditions).select_related("sub_account")
    descriptions = {spelled[row.address]: f"deposit address of sub-account {row.sub_account}" for row in subs}
    rows = DepositAddress.objects.filter(**conditions).select_related("account")
    return descriptions | {spelled[row.address]: f"deposit address of {row.account.name}" for row in rows}


def belongings_of(printed_addresses: Collection[str], txids: Collection[str], person: "Person") -> BelongingsByKey:
    """What the addresses, in whichever form the exchange spells them, and the transactions belong to."""
    by_subject: dict[str, list[Belonging]] = defaultdict(list)
    mine = list(rules.seen_by(person, Account.objects.all(), account="pk").values_list("pk", flat=True))
    if txids:
        _transactions(txids, mine, by_subject)
    if printed_addresses:
        spelled = {form: printed for printed in printed_addresses for form in _spellings(printed)}
        _paid_to(spelled, mine, by_subject)
        _paid_in(spelled, mine, by_subject)
    return by_subject


def _transactions(txids: Collection[str], mine: list[int], by_subject: dict[str, list[Belonging]]) -> None:
    hashes = {*txids, *(txid.upper() for txid in txids)}
    payouts = Withdrawal.objects.filter(account__in=mine, currency=CHAIN_CODE, hash__in=hashes)
    for payout in payouts.order_by("pk")[:MOST]:
        words = f"payout {payout.reference}, {kept_amount(payout.amount, payout.currency)}"
        by_subject[payout.hash.lower()].append(Belonging(words, reverse("withdrawal", args=[payout.pk])))
    lines = LedgerEntry.objects.filter(account__in=mine, currency=CHAIN_CODE, type="payin", hash__in=hashes)
    for line in lines.select_related("account").order_by("pk")[:MOST]:
        words = f"deposit of {kept_amount(line.amount, line.currency)} to {line.account.name}"
        by_subject[line.hash.lower()].append(Belonging(words, _list("deposits", line.hash)))


def _paid_to(spelled: dict[str, str], mine: list[int], by_subject: dict[str, list[Belonging]]) -> None:
    """Payouts requested here, and what the exchange's ledger has to the address; paid and unpaid ones apart."""
    named = {"account__in": mine, "currency": CHAIN_CODE, "address__in": spelled}
    is_paid, is_over = Q(state__in=states.PAID), Q(state__in=states.NOT_PAID)
    payouts = Withdrawal.objects.filter(**named)
    for address, paid, pending, unpaid in _by_outcome(payouts, is_paid, ~is_paid & ~is_over, is_over):
        parts = _listed((paid, f"{paid} paid"), (pending, f"{pending} pending"), (unpaid, f"{unpaid} not paid"))
        words = f"{_many(paid + pending + unpaid, 'payout')} from Countersign ({parts})"
        by_subject[spelled[address]].append(Belonging(words, _list("withdrawals", address)))
    lines, of = LedgerEntry.objects.filter(type=destinations.PAYOUT, **named), destinations
    for address, paid, reserved, released in _by_outcome(lines, of.PAID, of.RESERVED, of.RELEASED):
        parts = _listed(
            (True, f"paid {_many(paid, 'time')}" if paid else "never paid"),
            (reserved, f"{_many(reserved, 'payout')} reserved"),
            (released, f"{_many(released, 'payout')} released or failed"),
        )
        by_subject[spelled[address]].append(Belonging(f"destination, {parts}", _list("addresses", address)))


def _by_outcome(rows: QuerySet[Any], *conditions: Q) -> Iterable[tuple[Any, ...]]:
    """Each address of the rows, with how many of them meet each condition."""
    counts = {f"of_{number}": Count("pk", filter=condition) for number, condition in enumerate(conditions)}
    by_address: Iterable[tuple[Any, ...]] = (
        rows.order_by().values("address").annotate(**counts).values_list("address", *counts)
    )
    return by_address


def _listed(*parts: tuple[Any, str]) -> str:
    return ", ".join(words for counts, words in parts if counts)


def _paid_in(spelled: dict[str, str], mine: list[int], by_subject: dict[str, list[Belonging]]) -> None:
    named = {"currency": CHAIN_CODE, "address__in": spelled}
    came = LedgerEntry.objects.filter(account__in=mine, type="payin", **named).order_by()
    for line in came.values("address").annotate(count=Count("pk")):
        words = _many(line["count"], "deposit")
        by_subject[spelled[line["address"]]].append(Belonging(words, _list("deposits", line["address"])))
    rows = DepositAddress.objects.filter(account__in=mine, **named).select_related("account")
    for row in rows.order_by("pk"):
        words = f"deposit address of {row.account.name}"
        by_subject[spelled[row.address]].append(Belonging(words, _list("deposits", row.address)))
    subs = SubAccountAddress.objects.filter(sub_account__account__in=mine, **named).select_related("sub_account")
    for sub in subs.order_by("pk"):
        words = f"deposit address of sub-account {sub.sub_account}"
        place = reverse("subaccount", args=[sub.sub_account.exchange_id])
        by_subject[spelled[sub.address]].append(Belonging(words, place))


def _list(name: str, text: str) -> str:
    return f"{reverse(name)}?{urlencode({'text': text})}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _spellings(printed: str) -> set[str]:
    """Every form of an address; none for a text that is no address."""
    try:
        return addresses.spellings(printed)
    except addresses.NotAnAddress:
        return set()
