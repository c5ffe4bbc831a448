"""What a text names among the payouts."""

from collections.abc import Iterator

from django.db.models import Count, Q
from django.urls import reverse

from chaindata.shared import addresses
from chaindata.templatetags.chain import CURRENCIES
from desk.web.search import MOST_OF_A_KIND, SHORTEST_PIECE, Hit, Scope, newest, plain, shortened, with_query
from exchange_ops.ledger.room.searches import WHOLE_HASH
from exchange_ops.market.room import searches as market
from exchange_ops.shared import rules
from exchange_ops.withdrawals.forms import withdrawals_named
from exchange_ops.withdrawals.models import Withdrawal


def new(text: str, scope: Scope) -> Iterator[Hit]:
    """ "withdraw btc": straight to where it is requested."""
    if not rules.may_request(scope.person):
        return
    for row in market.currencies_after("withdraw", text):
        url = with_query("withdrawal-new", currency=row.code)
        yield Hit("Actions", f"Withdraw {row.code}", row.full_name, url, "arrow-up-right")


def withdrawals(text: str, scope: Scope) -> Iterator[Hit]:
    """By reference or id, by any form of the address, by a piece of the address or the reason."""
    pieces = Q(address__in=addresses.every_form(text)) | Q(payment_id=text)
    if len(text) >= SHORTEST_PIECE:
        pieces |= Q(address__icontains=text) | Q(reason__icontains=text)
    for row in newest(Withdrawal, withdrawals_named(text), pieces, scope):
        words = f"{plain(row.amount)} {row.currency} to {shortened(row.address)}"
        yield Hit("Withdrawals", row.reference, words, reverse("withdrawal", args=[row.pk]), "arrow-up-right")


def destinations(text: str, scope: Scope) -> Iterator[Hit]:
    """Addresses that were paid to or requested to be, however often."""
    if len(text) < SHORTEST_PIECE:
        return
    like = Q(address__icontains=text) | Q(address__in=addresses.every_form(text))
    rows = Withdrawal.objects.filter(like, account__in=scope.accounts).values("currency", "address")
    for row in rows.annotate(count=Count("pk")).order_by("-count", "address")[:MOST_OF_A_KIND]:
        words = f"{row['currency']}, {row['count']} withdrawal{'' if row['count'] == 1 else 's'}"
        url = with_query("withdrawals", text=row["address"])
        yield Hit("Destinations", shortened(row["address"]), words, url, "landmark")


def transactions(text: str, scope: Scope) -> Iterator[Hit]:
    """The chain's transactions of the payouts that the text names; a whole hash is looked for on the chain itself."""
    if WHOLE_HASH.fullmatch(text):
        return
    rows = Withdrawal.objects.filter(
        withdrawals_named(text), account__in=scope.accounts, currency__in=CURRENCIES, hash__gt=""
    )
    for row in rows.order_by("-pk")[:MOST_OF_A_KIND]:
        url = reverse("chain-transaction", args=[row.hash])
        yield Hit("On the chain", shortened(row.hash), f"Transaction of {row.reference}", url, "link")
