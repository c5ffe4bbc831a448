"""What a probe learns from reading alone: nothing is held, frozen or moved.

It reads one page of the account's ledger, the list of sub-accounts with their payout settings, and what our own
transfers became in our copy of the ledger; with `pace` also the balances, as often in a second as the exchange's
documents allow.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from exchange_ops.client import ExchangeClient
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from wire.errors import CallFailed, Refused

READ_BACK: Final = 1000  # entries of the ledger, the largest page
# Exchange REST, Transaction: the documented types. Of subtypes, the document says, there may be more.
KNOWN_TYPES: Final = frozenset({"payin", "payout", "deposit", "withdraw", "bankToExchange", "exchangeToBank"})
CLOSED: Final = "disable"  # supplement 2.11: the one word for a frozen and for a disabled sub-account
OPEN: Final = frozenset({"new", "active"})
A_SECOND: Final = 10  # supplement 2.5: calls a second of a user, other than market data and trading
TOO_MANY: Final = 429


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: the name of its fact, what was found, and whether the desk may rely on it."""

    name: str
    value: Any
    sentence: str
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Means:
    """What a probe works with: keys to withdraw and to read with, a clock, and a way to wait for milliseconds."""

    payer: ExchangeClient
    reader: ExchangeClient
    now: Callable[[], datetime]
    wait_ms: Callable[[int], None]


def ledger(reader: ExchangeClient) -> Iterator[Answer]:
    """How the ledger's entries are numbered, and which types they have. An empty ledger gives no answer."""
    entries: list[records.Transaction] = list(reader.call("get_transactions", limit=READ_BACK))
    if not entries:
        return
    yield _numbered(sorted(record.index for record in entries))
    kinds = Counter(f"{record.type}/{record.sub_type}" if record.sub_type else record.type for record in entries)
    unknown_types = sorted({record.type for record in entries} - KNOWN_TYPES)
    words = f" Unknown types: {', '.join(unknown_types)}." if unknown_types else ""
    sentence = f"Types in the last {len(entries)} entries: {', '.join(sorted(kinds))}.{words}"
    yield Answer("ledger_types", dict(sorted(kinds.items())), sentence, holds=not unknown_types)


def transfers(account: Account) -> Iterator[Answer]:
    """How the ledger lists the desk's own transfers, by kind, as far as their entries are known.

    The documents name no type for transfers to and from sub-accounts, to another user and for conversions.
    """
    types_by_kind: dict[str, set[str]] = defaultdict(set)
    entries = LedgerEntry.objects.filter(account=account, transfer__isnull=False)
    for kind, of_type, sub_type in entries.values_list("transfer__kind", "type", "sub_type").distinct():
        types_by_kind[kind.replace("_", " ")].add(f"{of_type}/{sub_type}" if sub_type else of_type)
    if not types_by_kind:
        return
    value = {kind: ", ".join(sorted(types)) for kind, types in sorted(types_by_kind.items())}
    words = "; ".join(f"{kind}: {types}" for kind, types in value.items())
    unknown_types = {types.split("/")[0] for kinds in types_by_kind.values() for types in kinds} - KNOWN_TYPES
    yield Answer("types_of_transfers", value, f"Internal transfers are listed as: {words}.", holds=not unknown_types)


def _numbered(indexes: list[int]) -> Answer:
    """The desk continues reading after the last index, so no two entries may share one; gaps do no harm."""
    missing = indexes[-1] - indexes[0] + 1 - len(set(indexes))
    twice = len(indexes) - len(set(indexes))
    value = {"read": len(indexes), "missing": missing, "twice": twice}
    gaps = f"unused numbers: {missing}" if missing else "no gaps"
    sentence = f"{len(indexes)} entries have indexes {indexes[0]} to {indexes[-1]}; {gaps}; used twice: {twice}."
    return Answer("index_density", value, sentence, holds=not twice)


def closed_subaccounts(reader: ExchangeClient) -> Iterator[Answer]:
    """How the exchange shows a frozen or disabled sub-account; no answer where there is none."""
    try:
        subs = [sub for sub in reader.get_subaccounts() if sub.status not in OPEN]
        settings = reader.get_subaccount_settings(ids=[sub.id for sub in subs]) if subs else []
    except Refused as refused:
        sentence = f"This key can't read sub-accounts: code {refused.code}."
        yield Answer("frozen_subaccount", f"refusal {refused.code}", sentence)
        return
    if not subs:
        return
    words = sorted({sub.status for sub in subs})
    value = {"status": ", ".join(words), "settings_shown": len(settings)}
    sentence = (
        f"Status of frozen or disabled sub-accounts: {value['status']}; settings returned for {len(settings)} "
        f"of {len(subs)}."
    )
    yield Answer("frozen_subaccount", value, sentence, holds=words == [CLOSED] and not settings)


def pace(means: Means) -> Answer:
    """Whether the documented number of calls a second goes through; never one more, which could suspend the account."""
    refusals, began = 0, means.now()
    for _ in range(A_SECOND):
        try:
            means.reader.get_balances()
        except CallFailed as failure:
            if getattr(failure, "code", None) != TOO_MANY:
                raise
            refusals += 1
    took_ms = round((means.now() - began).total_seconds() * 1000)
    value = {"calls": A_SECOND, "refused": refusals, "took_ms": took_ms}
    return Answer(
        "pace",
        value,
        f"{A_SECOND} requests in {took_ms} ms, {refusals} rejected by the rate limit.",
        holds=refusals == 0,
    )
