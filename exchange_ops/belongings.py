"""What at the exchange an address or a transaction of the chain belongs to, for the chain's pages: payouts, deposits,
destinations, deposit addresses. Each reader is shown what is of their own accounts."""

from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.db.models import Count
from django.urls import reverse

from chaindata.shared import addresses, belongings
from chaindata.shared.belongings import Belonging, BelongingsByKey
from desk.templatetags.desk import kept_amount
from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccountAddress
from exchange_ops.withdrawals.models import Withdrawal

if TYPE_CHECKING:
    from desk.models import Person

MOST = 20  # of one kind that one transaction is shown to belong to


def register() -> None:
    """Let the chain's pages ask; called once, when the app is ready."""
    belongings.register("exchange", of)


def of(wanted: Collection[str], txids: Collection[str], person: "Person") -> BelongingsByKey:
    """What belongs to the addresses, in whichever form the exchange spells them, and to the transactions."""
    found: dict[str, list[Belonging]] = defaultdict(list)
    mine = list(rules.seen_by(person, Account.objects.all(), account="pk").values_list("pk", flat=True))
    if txids:
        _transactions(txids, mine, found)
    if wanted:
        spelled = {form: printed for printed in wanted for form in _spellings(printed)}
        _paid_to(spelled, mine, found)
        _paid_in(spelled, mine, found)
    return found


def _transactions(txids: Collection[str], mine: list[int], found: dict[str, list[Belonging]]) -> None:
    hashes = {*txids, *(txid.upper() for txid in txids)}
    payouts = Withdrawal.objects.filter(account__in=mine, currency=CHAIN_CODE, hash__in=hashes)
    for payout in payouts.order_by("pk")[:MOST]:
        words = f"payout {payout.reference}, {kept_amount(payout.amount, payout.currency)}"
        found[payout.hash.lower()].append(Belonging(words, reverse("withdrawal", args=[payout.pk])))
    lines = LedgerEntry.objects.filter(account__in=mine, currency=CHAIN_CODE, type="payin", hash__in=hashes)
    for line in lines.select_related("account").order_by("pk")[:MOST]:
        words = f"deposit of {kept_amount(line.amount, line.currency)} to {line.account.name}"
        found[line.hash.lower()].append(Belonging(words, _list("deposits", line.hash)))


def _paid_to(spelled: dict[str, str], mine: list[int], found: dict[str, list[Belonging]]) -> None:
    """Payouts that were requested here, and what the ledger says was paid there by whomever."""
    named = {"account__in": mine, "currency": CHAIN_CODE, "address__in": spelled}
    payouts = Withdrawal.objects.filter(**named).order_by()
    for row in payouts.values("address").annotate(count=Count("pk")):
        words = f"{_many(row['count'], 'payout')} from here"
        found[spelled[row["address"]]].append(Belonging(words, _list("withdrawals", row["address"])))
    paid = LedgerEntry.objects.filter(type="payout", **named).exclude(status="failed").order_by()
    for row in paid.values("address").annotate(count=Count("pk")):
        words = f"destination, paid {_many(row['count'], 'time')}"
        found[spelled[row["address"]]].append(Belonging(words, _list("addresses", row["address"])))


def _paid_in(spelled: dict[str, str], mine: list[int], found: dict[str, list[Belonging]]) -> None:
    named = {"currency": CHAIN_CODE, "address__in": spelled}
    came = LedgerEntry.objects.filter(account__in=mine, type="payin", **named).order_by()
    for line in came.values("address").annotate(count=Count("pk")):
        words = _many(line["count"], "deposit")
        found[spelled[line["address"]]].append(Belonging(words, _list("deposits", line["address"])))
    rows = DepositAddress.objects.filter(account__in=mine, **named).select_related("account")
    for row in rows.order_by("pk"):
        words = f"deposit address of {row.account.name}"
        found[spelled[row.address]].append(Belonging(words, _list("deposits", row.address)))
    subs = SubAccountAddress.objects.filter(sub_account__account__in=mine, **named).select_related("sub_account")
    for sub in subs.order_by("pk"):
        words = f"deposit address of sub-account {sub.sub_account}"
        place = reverse("subaccount", args=[sub.sub_account.exchange_id])
        found[spelled[sub.address]].append(Belonging(words, place))


def _list(name: str, text: str) -> str:
    return f"{reverse(name)}?{urlencode({'text': text})}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _spellings(printed: str) -> set[str]:
    """Every form of it; none of what a service calls an address and is none."""
    try:
        return addresses.spellings(printed)
    except addresses.NotAnAddress:
        return set()
