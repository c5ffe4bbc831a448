"""What a text names anywhere on the desk, for the palette of the search box: a few hits of each kind, best first.

Each source reads rows that the person may see, of the accounts in view. A name that is exactly the text comes before
one that only has it in it. Nothing outside is asked: of the chain it is said what was read before.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When
from django.urls import reverse

from chaindata import rules as chain
from chaindata.explorer import search
from chaindata.shared import addresses
from chaindata.templatetags.chain import CURRENCIES, place_url
from desk.machines.rows import Subject
from desk.models import Person
from desk.people import scopes
from desk.staff import rules as staff
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.console import entries as console
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.market.models import Currency, Symbol
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.forms import orders_named
from exchange_ops.orders.models import Order
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.transfers.forms import transfers_named
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.forms import withdrawals_named
from exchange_ops.withdrawals.models import Withdrawal

MOST_OF_A_KIND: Final = 5
_WHOLE_HASH: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")
SHORTEST_PIECE: Final = 3  # characters from which on a piece of an address or a reason is looked for


@dataclass(frozen=True, slots=True)
class Hit:
    """One place to go to: its kind, what it is called, words about it, and where it is."""

    kind: str
    label: str
    words: str
    url: str
    icon: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Who looks, at which accounts, when; `pages` are the entries of the navigation that the person has."""

    person: Person
    accounts: Sequence[Account]
    pages: Sequence[dict[str, Any]]
    now: datetime


@dataclass(frozen=True, slots=True)
class Action:
    """Something to begin: who may, and the address where it begins."""

    label: str
    url_name: str
    icon: str
    may: Callable[[Person], bool]
    arguments: tuple[str, ...] = ()


ACTIONS: Final = (
    Action("New withdrawal", "withdrawal-new", "arrow-up-right", rules.may_request),
    Action("New order", "order-new", "plus", rules.may_trade),
    Action("Move between wallets", "transfer-new", "arrow-left-right", rules.may_request, ("move",)),
    Action("Convert", "transfer-new", "refresh-cw", rules.may_request, ("convert",)),
    Action("Transfer to a sub-account", "transfer-new", "users-round", rules.may_request, ("to-subaccount",)),
    Action("Transfer to another user", "transfer-new", "user-round", rules.may_request, ("to-user",)),
    Action("Invite somebody", "person-invite", "user-round", staff.may_keep),
    Action("Add a key", "key-new", "key-round", rules.may_keep_keys),
    Action("Propose other rules", "policy-draft", "shield-check", rules.may_freeze),
    Action("Send a transaction to the network", "chain-broadcast-new", "send", chain.may_broadcast),
)


# What is one's own: the names under which it is looked for, and where it is.
OWN_PAGES: Final = (
    ("Your second factors", "mfa_index", "fingerprint-pattern"),
    ("Your settings", "personal-settings", "circle-user-round"),
    ("Your notifications", "notifications", "bell"),
    ("Your API tokens", "tokens", "key-round"),
    ("Your sessions", "sessions", "monitor"),
    ("Change your password", "account_change_password", "key-round"),
)
_WITH_A_CURRENCY: Final = re.compile(r"(deposit|withdraw)\s+([a-z0-9]{1,20})", re.IGNORECASE)


def hits(*, text: str, scope: Scope) -> dict[str, list[Hit]]:
    """The first hits of each kind, by the kind's name, in the order in which the palette shows them."""
    wanted = text.strip()
    found: dict[str, list[Hit]] = {}
    if not wanted or "\x00" in wanted:
        return found
    for source in SOURCES:
        for hit in islice(source(wanted, scope), MOST_OF_A_KIND):
            found.setdefault(hit.kind, []).append(hit)
    return found


# Pages and actions ----------------------------------------------------------------------------------------------------


def _pages(text: str, scope: Scope) -> Iterator[Hit]:
    named = [(page["label"], page) for group in scope.pages for page in group["entries"]]
    for label, page in _best(text, named):
        yield Hit("Pages", label, "", page["url"], page["icon"])
    own = [(label, (url_name, icon)) for label, url_name, icon in OWN_PAGES]
    for label, (url_name, icon) in _best(text, own):
        yield Hit("Pages", label, "", reverse(url_name), icon)


def _actions(text: str, scope: Scope) -> Iterator[Hit]:
    allowed = [(action.label, action) for action in ACTIONS if action.may(scope.person)]
    for label, action in _best(text, allowed):
        yield Hit("Actions", label, "", reverse(action.url_name, args=action.arguments), action.icon)
    yield from _with_a_currency(text, scope)


def _with_a_currency(text: str, scope: Scope) -> Iterator[Hit]:
    """ "deposit btc" and "withdraw btc": straight to where it is done."""
    named = _WITH_A_CURRENCY.fullmatch(text)
    if named is None:
        return
    for row in Currency.objects.filter(code__istartswith=named[2]).order_by("code")[:MOST_OF_A_KIND]:
        if named[1].lower() == "deposit":
            yield Hit("Actions", f"Deposit {row.code}", row.full_name, reverse("deposit", args=[row.code]), "qr-code")
        elif rules.may_request(scope.person):
            url = _with_query("withdrawal-new", currency=row.code)
            yield Hit("Actions", f"Withdraw {row.code}", row.full_name, url, "arrow-up-right")


def _operations(text: str, scope: Scope) -> Iterator[Hit]:
    if len(text) < SHORTEST_PIECE:
        return
    named = [(entry.name, entry) for each in console.SERVICES.values() for entry in each.entries.values()]
    for label, entry in _best(text, named):
        url = reverse("console-operation", args=[entry.service, entry.name])
        yield Hit("Console", label, f"{entry.sign} {entry.place}", url, "monitor")


def _best(text: str, named: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Those that begin with the text, then those one of whose words does, then those that have it anywhere."""
    piece = text.casefold()

    def rank(label: str) -> int:
        low = label.casefold()
        if low.startswith(piece):
            return 0
        return 1 if any(word.startswith(piece) for word in low.replace("_", " ").split()) else 2

    return sorted((one for one in named if piece in one[0].casefold()), key=lambda one: rank(one[0]))


# The account ----------------------------------------------------------------------------------------------------------


def _currencies(text: str, scope: Scope) -> Iterator[Hit]:
    rows = Currency.objects.filter(Q(code__istartswith=text) | Q(full_name__icontains=text))
    for row in rows.order_by(_exact(Q(code__iexact=text)), "code")[:MOST_OF_A_KIND]:
        yield Hit("Currencies", row.code, row.full_name, _with_query("funds", text=row.code, empty="on"), "wallet")


def _symbols(text: str, scope: Scope) -> Iterator[Hit]:
    plain = text.replace("/", "").replace("-", "").upper()
    if not plain:
        return
    rows = Symbol.objects.filter(Q(code__istartswith=plain) | Q(base_currency=plain) | Q(quote_currency=plain))
    for row in rows.order_by(_exact(Q(code=plain)), "code")[:MOST_OF_A_KIND]:
        words = f"{row.base_currency} in {row.quote_currency}"
        yield Hit("Markets", row.code, words, reverse("market", args=[row.code]), "chart-candlestick")


def _withdrawals(text: str, scope: Scope) -> Iterator[Hit]:
    pieces = Q(address__in=_spellings(text)) | Q(payment_id=text)
    if len(text) >= SHORTEST_PIECE:
        pieces |= Q(address__icontains=text) | Q(reason__icontains=text)
    for row in _newest(Withdrawal, withdrawals_named(text), pieces, scope):
        words = f"{_plain(row.amount)} {row.currency} to {_ends(row.address)}"
        yield Hit("Withdrawals", row.reference, words, reverse("withdrawal", args=[row.pk]), "arrow-up-right")


def _transfers(text: str, scope: Scope) -> Iterator[Hit]:
    pieces = Q(reason__icontains=text) if len(text) >= SHORTEST_PIECE else Q()
    for row in _newest(Transfer, transfers_named(text), pieces, scope):
        words = f"{_plain(row.amount)} {row.currency}, {row.kind_label}"
        yield Hit("Transfers", row.reference, words, reverse("transfer", args=[row.pk]), "arrow-left-right")


def _orders(text: str, scope: Scope) -> Iterator[Hit]:
    for row in _newest(Order, orders_named(text), Q(), scope):
        words = f"{row.side.capitalize()} {_plain(row.quantity)} {row.symbol}"
        yield Hit("Orders", row.reference, words, reverse("order", args=[row.pk]), "file-check")
    for bracket in _newest(Bracket, _referenced(Bracket, text), Q(), scope):
        words = f"{bracket.side.capitalize()} {bracket.symbol}, {bracket.label.lower()}"
        yield Hit("Orders", bracket.reference, words, reverse("bracket", args=[bracket.pk]), "shield-check")


def _margin_actions(text: str, scope: Scope) -> Iterator[Hit]:
    for row in _newest(MarginAction, _referenced(MarginAction, text), Q(), scope):
        words = f"{row.get_kind_display()}, {row.symbol}, {row.label.lower()}"
        yield Hit("Margin", row.reference, words, reverse("margin-action", args=[row.pk]), "shield-alert")


def _ledger(text: str, scope: Scope) -> Iterator[Hit]:
    """Lines of the exchange's ledger by its id, its index or the whole hash of its transaction."""
    named = _lines_named(text)
    if _WHOLE_HASH.fullmatch(text):
        named |= Q(hash=text.lower())
    for row in LedgerEntry.objects.filter(named, account__in=scope.accounts).order_by("-index")[:MOST_OF_A_KIND]:
        words = f"{_plain(row.amount)} {row.currency}, {row.type}, {row.status}"
        yield Hit("Ledger", str(row.index), words, _with_query("ledger", text=row.exchange_id), "book-open")


def _lines_named(text: str) -> Q:
    return Q(exchange_id=text) | _number("index", text)


def _destinations(text: str, scope: Scope) -> Iterator[Hit]:
    """Addresses that were paid to or requested to be, however often."""
    if len(text) < SHORTEST_PIECE:
        return
    like = Q(address__icontains=text) | Q(address__in=_spellings(text))
    rows = Withdrawal.objects.filter(like, account__in=scope.accounts).values("currency", "address")
    for row in rows.annotate(count=Count("pk")).order_by("-count", "address")[:MOST_OF_A_KIND]:
        words = f"{row['currency']}, {row['count']} withdrawal{'' if row['count'] == 1 else 's'}"
        url = _with_query("withdrawals", text=row["address"])
        yield Hit("Destinations", _ends(row["address"]), words, url, "landmark")


def _deposits(text: str, scope: Scope) -> Iterator[Hit]:
    if len(text) < SHORTEST_PIECE:
        return
    like = Q(address__icontains=text) | Q(address__in=_spellings(text)) | Q(payment_id=text)
    for row in DepositAddress.objects.filter(like, account__in=scope.accounts).order_by("-pk")[:MOST_OF_A_KIND]:
        words = f"{row.currency} deposits"
        yield Hit("Deposit addresses", _ends(row.address), words, reverse("deposit", args=[row.currency]), "qr-code")


def _subaccounts(text: str, scope: Scope) -> Iterator[Hit]:
    like = Q(email__icontains=text) | Q(description__icontains=text) | _number("exchange_id", text)
    for row in SubAccount.objects.filter(like, account__in=scope.accounts).order_by("exchange_id")[:MOST_OF_A_KIND]:
        url = reverse("subaccount", args=[row.exchange_id])
        yield Hit("Sub-accounts", str(row.exchange_id), row.description or row.status, url, "users-round")


def _keys(text: str, scope: Scope) -> Iterator[Hit]:
    if not rules.may_see_keys(scope.person):
        return
    rows = ApiKey.objects.filter(label__icontains=text, account__in=scope.accounts)
    for row in rows.order_by("label")[:MOST_OF_A_KIND]:
        words = "in use" if row.active else "not in use"
        yield Hit("Keys", row.label, words, reverse("key", args=[row.pk]), "key-round")


def _people(text: str, scope: Scope) -> Iterator[Hit]:
    if not staff.may_read(scope.person):
        return
    like = Q(username__icontains=text) | Q(first_name__icontains=text) | Q(last_name__icontains=text)
    for row in Person.objects.filter(like).prefetch_related("groups").order_by("username")[:MOST_OF_A_KIND]:
        words = ", ".join(scopes.words(row.grants)) or "no role"
        yield Hit("People", row.username, words, reverse("person", args=[row.pk]), "user-round")


# The chain ------------------------------------------------------------------------------------------------------------


def _chain(text: str, scope: Scope) -> Iterator[Hit]:
    for place in search.find(text=text, now=scope.now).places:
        words = place.words if place.is_certain else f"{place.words} (not read yet)"
        yield Hit("On the chain", _ends(place.name), words, place_url(place), "link")
    for txid, of in _transactions(text, scope):
        url = reverse("chain-transaction", args=[txid])
        yield Hit("On the chain", _ends(txid), f"Transaction of {of}", url, "link")


def _transactions(text: str, scope: Scope) -> Iterator[tuple[str, str]]:
    """The chain's transactions of the payments that the text names by reference, exchange id or ledger index."""
    if _WHOLE_HASH.fullmatch(text):
        return  # the chain itself was asked for it
    followed = Q(account__in=scope.accounts, currency__in=CURRENCIES, hash__gt="")
    payouts = Withdrawal.objects.filter(withdrawals_named(text), followed).order_by("-pk")[:MOST_OF_A_KIND]
    found = {row.hash: row.reference for row in payouts}
    lines = LedgerEntry.objects.filter(_lines_named(text), followed).order_by("-index")[:MOST_OF_A_KIND]
    yield from ({row.hash: f"ledger line {row.index}" for row in lines} | found).items()


SOURCES: Final[tuple[Callable[[str, Scope], Iterator[Hit]], ...]] = (
    _pages,
    _actions,
    _withdrawals,
    _transfers,
    _orders,
    _margin_actions,
    _ledger,
    _symbols,
    _currencies,
    _destinations,
    _deposits,
    _subaccounts,
    _people,
    _keys,
    _chain,
    _operations,
)


# Helpers of the sources -----------------------------------------------------------------------------------------------


def _newest(model: Any, named: Q, pieces: Q, scope: Scope) -> QuerySet[Any]:
    """The rows that are named, then the newest of those that have the piece."""
    rows: QuerySet[Any] = model.objects.filter(named | pieces if pieces else named, account__in=scope.accounts)
    return rows.order_by(_exact(named), "-pk")[:MOST_OF_A_KIND]


def _exact(named: Q) -> Case:
    return Case(When(named, then=Value(0)), default=Value(1), output_field=IntegerField())


def _number(column: str, text: str) -> Q:
    is_number = text.isascii() and text.isdigit() and len(text) <= 18
    return Q(**{column: int(text)}) if is_number else Q(pk__in=[])


def _referenced(model: type[Subject], text: str) -> Q:
    """That a row is meant by its reference, mark and number: "BR-12"."""
    number = text.upper().removeprefix(model.mark)
    return _number("pk", "" if number == text.upper() else number)


def _spellings(text: str) -> list[str]:
    """Every form of an address of our chain; none of what is no such address."""
    try:
        return sorted(addresses.spellings(text))
    except (addresses.NotAnAddress, addresses.OtherNetwork):
        return []


def _with_query(url_name: str, **query: str) -> str:
    return f"{reverse(url_name)}?{urlencode(query)}"


def _ends(text: str, ends: int = 10) -> str:
    return text if len(text) <= 2 * ends + 1 else f"{text[:ends]}\u2026{text[-ends:]}"


def _plain(amount: Any) -> str:
    return f"{amount.normalize():f}"
