"""The checks that this room adds to the desk's readiness: each answers with one sentence and an age."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from desk import clock
from desk.rooms import Health
from exchange_ops import scheduled_checks
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import quarantine, walks
from exchange_ops.ledger import stream as streams
from exchange_ops.market import reference as market
from exchange_ops.market import stream as market_stream
from exchange_ops.market.models import Ticker
from exchange_ops.orders import stream as trading_stream
from exchange_ops.orders import workflow as orders
from exchange_ops.shared import clocks, heartbeats
from exchange_ops.shared.models import Account, CheckRun, FollowerState
from exchange_ops.transfers import machine as transfer_states
from exchange_ops.transfers import workflow as transfers
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals import workflow as withdrawals
from exchange_ops.withdrawals.decisions import open_holds
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.proofs import payouts
from exchange_ops.withdrawals.steps import settlement

LEDGER_AGE = timedelta(seconds=60)
STREAM_SILENCE = timedelta(seconds=60)
DUE_AGE = timedelta(seconds=60)
BEAT_AGE = timedelta(seconds=45)
PRICE_AGE = timedelta(seconds=90)
MOST_NAMED = 5
NO_ACCOUNT = Health(ok=False, sentence="No exchange account is set up yet. An admin can add its keys.")


def _exchange() -> Health:
    """When the exchange's ledger was last read to its end, and what of it could not be taken in."""
    now, found = clock.now(), []
    for account in Account.objects.order_by("pk"):
        row = heartbeats.of(heartbeats.ledger_of(account))
        age = _age(row.heard_at if row else None, now)
        if age is not None and age <= LEDGER_AGE:
            found.append(_read(account, row, age))
        elif walks.comes_further(account=account, now=now):
            found.append(_being_read(account, age))
        else:
            found.append(_late(account, row, age))
    return _worst(found)


def _being_read(account: Account, age: timedelta | None) -> Health:
    """A long history is no alarm while its reading comes further: what rests on the whole of it waits by itself."""
    sentence = (
        f"The exchange's ledger of {account.name} is being read. {walks.sentence(account=account)} "
        "Lists are not complete yet, and what needs the whole ledger waits for it."
    )
    return Health(ok=True, sentence=sentence, age_s=None if age is None else age.total_seconds())


def _read(account: Account, row: FollowerState | None, age: timedelta) -> Health:
    sentence = f"The exchange's ledger of {account.name} was read {_spoken(age)} ago."
    asides = quarantine.waiting(account=account)
    if asides:
        sentence += f" {asides} of its records could not be taken in and wait for somebody to look at them."
    remark = " ".join(text for text in (row.problem if row else "", clocks.problem(account=account)) if text)
    return Health(ok=True, sentence=f"{sentence} {remark}".strip(), age_s=age.total_seconds())


def _late(account: Account, row: FollowerState | None, age: timedelta | None) -> Health:
    when = "has not been read yet" if age is None else f"was last read {_spoken(age)} ago"
    problem = f" {row.problem}" if row is not None and row.problem else ""
    sentence = f"The exchange's ledger of {account.name} {when}: figures may be out of date.{problem}"
    return Health(ok=False, sentence=sentence, age_s=None if age is None else age.total_seconds())


def _stream() -> Health:
    """Whether the account stream tells changes at once; without it they come with the next walk of the ledger."""
    now, found = clock.now(), []
    for account in Account.objects.order_by("pk"):
        row = heartbeats.of(streams.name_of(account))
        age = _age(row.heard_at if row else None, now)
        if row is not None and row.connected and age is not None and age <= STREAM_SILENCE:
            sentence = f"The stream of {account.name} is live; heard {_spoken(age)} ago."
            found.append(Health(ok=True, sentence=sentence, age_s=age.total_seconds()))
        else:
            because = f" {row.problem}" if row is not None and row.problem else ""
            sentence = f"The stream of {account.name} is not live: changes are seen a few seconds later.{because}"
            found.append(Health(ok=False, sentence=sentence, age_s=None if age is None else age.total_seconds()))
    return _worst(found)


def _payouts() -> Health:
    """How long the oldest payout that is due has been waiting for a worker."""
    now = clock.now()
    waiting = [
        now - due_at
        for account in Account.objects.order_by("pk")
        for due_at in withdrawals.due(account=account, now=now).values_list("next_action_at", flat=True)
        if due_at is not None
    ]
    if not waiting:
        return Health(ok=True, sentence="No payout waits for a worker.", age_s=0)
    oldest = max(waiting)
    sentence = f"The oldest payout that is due has waited {_spoken(oldest)} for a worker."
    return Health(ok=oldest <= DUE_AGE, sentence=sentence, age_s=oldest.total_seconds())


def _unfinished() -> Health:
    """Which payouts the exchange took more than an hour ago and has not carried out."""
    now = clock.now()
    found = list(settlement.overdue(now=now)[:MOST_NAMED])
    if not found:
        return Health(ok=True, sentence="Every order to pay that the exchange took was carried out in time.", age_s=0)
    sentence = " ".join(settlement.overdue_sentence(row, now=now) for row in found)
    return Health(ok=False, sentence=sentence, age_s=(now - found[0].updated_at).total_seconds())


def _holds() -> Health:
    """Which closed requests still have money reserved at the exchange."""
    found = list(open_holds.of_closed()[:MOST_NAMED])
    if not found:
        return Health(ok=True, sentence="No closed request has money reserved at the exchange.", age_s=0)
    waits = any(map(open_holds.is_for_people, found))
    return Health(ok=not waits, sentence=" ".join(map(open_holds.sentence, found)))


def _reconciliation() -> Health:
    """What the last reconciliation of each account by the scheduler found."""
    now, accounts = clock.now(), list(Account.objects.order_by("pk"))
    rows = {row.name: row for row in CheckRun.objects.exclude(name=scheduled_checks.AUDIT)}
    found = []
    for one in accounts:
        of_one = _checked(f"The reconciliation of {one.name}", rows.get(scheduled_checks.name_of(one)))
        waits = " It waits until the ledger is read." if scheduled_checks.waits(one, now) else ""
        found.append(replace(of_one, sentence=of_one.sentence + waits))
    return _worst(found) if found else Health(ok=True, sentence="There is no account to reconcile yet.")


def _audit() -> Health:
    """What the last check of the audit trail by the scheduler found."""
    return _checked("The check of the audit trail", CheckRun.objects.filter(name=scheduled_checks.AUDIT).first())


def _checked(spoken: str, row: CheckRun | None) -> Health:
    """A failed check stays unwell until a later run holds; one that was never due yet is no alarm."""
    if row is None:
        return Health(ok=True, sentence=f"{spoken} has not run yet; it runs by itself.")
    age = _age(row.ran_at, clock.now())
    problem = f" The last try came to no answer: {row.problem}" if row.problem else ""
    ok = row.held is not False and not scheduled_checks.is_late(row, now=clock.now())
    if age is None:
        return Health(ok=ok, sentence=f"{spoken} came to no answer yet.{problem}")
    said = (
        "held"
        if row.held
        else f"found {len(row.findings)} differences. {' '.join(row.findings[:MOST_NAMED])}".rstrip(".")
    )
    return Health(ok=ok, sentence=f"{spoken} {_spoken(age)} ago {said}.{problem}", age_s=age.total_seconds())


def _proofs() -> Health:
    """How long the oldest payout that is to be looked for on the chain waits, and which ones people have to judge."""
    now = clock.now()
    waiting = [payouts.waits_for(row, now=now) for row in payouts.due(now=now)[:100]]
    oldest = max(waiting, default=timedelta(0))
    sentence = "No payouts awaiting on-chain confirmation."
    if waiting:
        sentence = f"{len(waiting)} payouts wait to be looked for on the chain, the oldest for {_spoken(oldest)}."
    disputed = [row.reference for row in Withdrawal.objects.filter(state=machine.DISPUTED).order_by("pk")[:5]]
    people = f" {', '.join(disputed)}: told as paid, and other evidence disagrees. Treasury decides."
    return Health(ok=oldest <= DUE_AGE, sentence=sentence + (people if disputed else ""), age_s=oldest.total_seconds())


def _transfers() -> Health:
    """How long the oldest transfer that is due has been waiting for a worker, and which of them wait for people."""
    now = clock.now()
    due = transfers.due(now=now).order_by("next_action_at").values_list("next_action_at", flat=True).first()
    age = _age(due, now) or timedelta(0)
    waited = "No transfer waits for a worker."
    if due is not None:
        waited = f"The oldest transfer that is due has waited {_spoken(age)} for a worker."
    rows = Transfer.objects.filter(state__in=(transfer_states.INVESTIGATE, transfer_states.NOT_SEEN))
    unclear = [row.reference for row in rows.order_by("pk")]
    people = f" {', '.join(unclear[:5])}: the ledger does not say what was expected, and treasury decides."
    return Health(ok=age <= DUE_AGE, sentence=waited + (people if unclear else ""), age_s=age.total_seconds())


def _orders() -> Health:
    """How long the oldest order that is due has been waiting for a worker, and how old the lists are."""
    now = clock.now()
    due = orders.due(now=now).order_by("next_action_at").values_list("next_action_at", flat=True).first()
    age = _age(due, now) or timedelta(0)
    sentences = ["No order waits for a worker."]
    if due is not None:
        sentences = [f"The oldest order that is due has waited {_spoken(age)} for a worker."]
    for account in Account.objects.order_by("pk"):
        row = heartbeats.of(orders.name_of(account))
        read = _age(row.heard_at if row else None, now)
        sentences.append(
            "Its lists were not read yet." if read is None else f"Its lists were read {_spoken(read)} ago."
        )
        sentences += [row.problem] if row is not None and row.problem else []
        sentences.append(_liveness(trading_stream.name_of(account), "Order updates", now))
    return Health(ok=age <= DUE_AGE, sentence=" ".join(sentences), age_s=age.total_seconds())


def _keys() -> Health:
    """Which keys the exchange turned down, and whether another one of the same rights is there to take over."""
    active = list(ApiKey.objects.filter(active=True).select_related("account").order_by("pk"))
    bad = [key for key in active if key.is_turned_down]
    if not bad:
        return Health(ok=True, sentence="No key in use was turned down by the exchange.", age_s=0)
    rights = {(key.account_id, right) for key in active if not key.is_turned_down for right in key.rights}
    alone = [key for key in bad if not {(key.account_id, right) for right in key.rights} <= rights]
    named = (alone or bad)[0]
    then = "No other key has all of its rights." if alone else "Other keys take over."
    sentence = f"The exchange turned down the key {named.label}: {named.last_problem} {then}"
    age = _age(named.last_problem_at, clock.now())
    return Health(ok=not alone, sentence=sentence, age_s=None if age is None else age.total_seconds())


def _worker() -> Health:
    return _loop(heartbeats.WORKER, "Worker", "Forms wait for their answers; payouts go on in the scheduler.")


def _releases() -> Health:
    return _loop(heartbeats.RELEASES, "Release worker", "Reserved money is released by the scheduler.")


def _sweeper() -> Health:
    return _loop(heartbeats.SWEEPER, "Scheduler", "Payouts go on as long as a worker is there.")


def _loop(name: str, spoken: str, consequence: str) -> Health:
    row = heartbeats.of(name)
    age = _age(row.beat_at if row else None, clock.now())
    if age is not None and age <= BEAT_AGE:
        return Health(ok=True, sentence=f"{spoken} active {_spoken(age)} ago.", age_s=age.total_seconds())
    when = "not active yet" if age is None else f"last active {_spoken(age)} ago"
    sentence = f"{spoken} {when}. {consequence}"
    return Health(ok=False, sentence=sentence, age_s=None if age is None else age.total_seconds())


def _prices() -> Health:
    """How old the prices are. Without fresh ones values are unknown and the strictest rules hold."""
    age = _age(market.newest_reading(Ticker), clock.now())
    if age is not None and age <= PRICE_AGE:
        closely = _liveness(market_stream.NAME, "Open markets", clock.now())
        return Health(ok=True, sentence=f"Prices updated {_spoken(age)} ago. {closely}", age_s=age.total_seconds())
    row = heartbeats.of(heartbeats.MARKET)
    because = f" {row.problem}" if row is not None and row.problem else ""
    when = "have not been read yet" if age is None else f"are {_spoken(age)} old"
    sentence = f"Prices {when}: values are unknown, and the strictest rules hold.{because}"
    return Health(ok=False, sentence=sentence, age_s=None if age is None else age.total_seconds())


def _liveness(name: str, what: str, now: datetime) -> str:
    """Whether a stream tells what workers read as well: without it the same comes a few seconds later."""
    row = heartbeats.of(name)
    heard = _age(row.heard_at if row else None, now)
    if row is not None and row.connected and heard is not None and heard <= STREAM_SILENCE:
        return f"{what} are live."
    return f"{what} are not live: a worker reads them a few seconds later."


def _worst(found: Sequence[Health]) -> Health:
    """One answer for several accounts: the first that is not well, else one without an age or the oldest."""
    if not found:
        return NO_ACCOUNT
    unwell = [one for one in found if not one.ok]
    return unwell[0] if unwell else max(found, key=lambda one: (one.age_s is None, one.age_s or 0))


def _age(moment: datetime | None, now: datetime) -> timedelta | None:
    return None if moment is None else max(now - moment, timedelta(0))


def _spoken(age: timedelta) -> str:
    seconds = int(age.total_seconds())
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


CHECKS = {
    "exchange": _exchange,
    "stream": _stream,
    "payouts": _payouts,
    "unfinished": _unfinished,
    "holds": _holds,
    "reconciliation": _reconciliation,
    "audit": _audit,
    "proofs": _proofs,
    "transfers": _transfers,
    "orders": _orders,
    "keys": _keys,
    "worker": _worker,
    "releases": _releases,
    "sweeper": _sweeper,
    "prices": _prices,
}
