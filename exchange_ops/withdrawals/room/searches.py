"""What a search text matches among the payouts."""

from collections.abc import Iterator

from django.db.models import Count, Q
from django.urls import reverse

from chaindata.shared import addresses
from chaindata.templatetags.chain import CURRENCIES
from desk.web.search import MOST_OF_A_KIND, SHORTEST_PIECE, Hit, Scope, newest, plain, shortened, with_query
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.ledger.room.searches import WHOLE_HASH, lines_named
from exchange_ops.market.room import searches as market
from exchange_ops.shared import rules
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.batches.models import PayoutBatch
from exchange_ops.withdrawals.forms import withdrawals_named
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.schedules import book as of_schedules
from exchange_ops.withdrawals.schedules.models import PayoutSchedule


def new(text: str, scope: Scope) -> Iterator[Hit]:
    """ "withdraw btc": straight to where it is requested."""
    if not rules.may_request(scope.person):
        return
    for row in market.currencies_after(text, "withdraw", "send", "pay"):
        url = with_query("withdrawal-new", currency=row.code)
        yield Hit("Actions", f"Withdraw {row.code}", row.full_name, url, "arrow-up-right")


def withdrawals(text: str, scope: Scope) -> Iterator[Hit]:
    """By reference or id, by any form of the address, by a part of the address or the reason."""
    pieces = Q(address__in=addresses.every_form(text)) | Q(payment_id=text)
    if len(text) >= SHORTEST_PIECE:
        pieces |= Q(address__icontains=text) | Q(reason__icontains=text)
    for row in newest(Withdrawal, withdrawals_named(text), pieces, scope):
        words = f"{plain(row.amount)} {row.currency} to {shortened(row.address)}, {row.label.lower()}"
        yield Hit("Withdrawals", row.reference, words, reverse("withdrawal", args=[row.pk]), "arrow-up-right")


def batches(text: str, scope: Scope) -> Iterator[Hit]:
    """By reference."""
    number = text.upper().removeprefix(PayoutBatch.mark)
    if number == text.upper() or not (number.isascii() and number.isdigit() and len(number) <= 15):
        return
    for row in PayoutBatch.objects.filter(pk=int(number), account__in=scope.accounts).annotate(count=Count("lines")):
        words = f"{row.count} payout{'' if row.count == 1 else 's'}"
        yield Hit("Batches", row.reference, words, reverse("payout-batch", args=[row.pk]), "file-text")


def schedules(text: str, scope: Scope) -> Iterator[Hit]:
    """By reference."""
    number = text.upper().removeprefix(PayoutSchedule.mark)
    if number == text.upper() or not (number.isascii() and number.isdigit() and len(number) <= 15):
        return
    for row in of_schedules.of_accounts(scope.accounts).filter(pk=int(number)):
        url = reverse("payout-schedule", args=[row.pk])
        yield Hit("Payout schedules", row.reference, f"{row.template.name}, {row.words}", url, "clock")


def destinations(text: str, scope: Scope) -> Iterator[Hit]:
    """Addresses with payouts from here, with how many of them are paid, pending and not paid."""
    if len(text) < SHORTEST_PIECE:
        return
    like = Q(address__icontains=text) | Q(address__in=addresses.every_form(text))
    rows = Withdrawal.objects.filter(like, account__in=scope.accounts).values("currency", "address")
    paid, over = (Count("pk", filter=Q(state__in=names)) for names in (states.PAID, states.NOT_PAID))
    counted = rows.annotate(count=Count("pk"), paid=paid, over=over)
    for row in counted.order_by("-count", "address")[:MOST_OF_A_KIND]:
        parts = {"paid": row["paid"], "pending": row["count"] - row["paid"] - row["over"], "not paid": row["over"]}
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in parts.items() if number)
        words = f"{row['currency']}, {row['count']} payout{'' if row['count'] == 1 else 's'} ({outcomes})"
        url = with_query("withdrawals", text=row["address"])
        yield Hit("Destinations", shortened(row["address"]), words, url, "landmark")


def transactions(text: str, scope: Scope) -> Iterator[Hit]:
    """Chain transactions of the payouts and ledger lines that the text matches, each named by its payout if it has one.

    A whole hash is looked up on the chain itself.
    """
    if WHOLE_HASH.fullmatch(text):
        return
    on_chain = Q(account__in=scope.accounts, currency__in=CURRENCIES, hash__gt="")
    payouts = Withdrawal.objects.filter(withdrawals_named(text), on_chain).order_by("-pk")[:MOST_OF_A_KIND]
    lines = LedgerEntry.objects.filter(lines_named(text), on_chain).order_by("-index")[:MOST_OF_A_KIND]
    owners = {row.hash: f"ledger line {row.index}" for row in lines} | {row.hash: row.reference for row in payouts}
    for txid, owner in owners.items():
        url = reverse("chain-transaction", args=[txid])
        yield Hit("On the chain", shortened(txid), f"Transaction for {owner}", url, "link")
