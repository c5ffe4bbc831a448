"""Every kind of incident: the rows that are its cause, what is read of it then, and how its cause goes away."""

import re
from datetime import timedelta
from decimal import Decimal

from chaindata.headers.models import ChainHeader, ChainTip
from chaindata.headers.room import CHAIN_LATE
from chaindata.watching import kinds
from chaindata.watching.machine import ADDRESSES, MOVEMENTS
from chaindata.watching.models import ChainMovement, WatchedAddress
from desk import clock
from desk.incidents import closings
from desk.incidents import kinds as incident_kinds
from desk.notifications.models import Delivery, Notification, Stage
from desk.notifications.room import UNDELIVERED
from desk.people import roles, totp
from desk.restores import backup_record
from desk.restores.models import BackupRecord, Restore
from desk.restores.room import BACKUP_LATE, FELL_BACK
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import stream as streams
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market.models import Ticker
from exchange_ops.orders.brackets import machine as bracket_machine
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.payees import machine as payee_machine
from exchange_ops.payees.models import Payee
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.positions import machine as margin_machine
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared import alarms, heartbeats
from exchange_ops.shared.models import Account, CheckRun, ClockReading, FollowerState
from exchange_ops.transfers import machine as transfer_machine
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import machine as withdrawal_machine
from exchange_ops.withdrawals.models import PayoutProof, Withdrawal
from exchange_ops.withdrawals.schedules import book as schedules
from exchange_ops.withdrawals.schedules import requesting
from tests.cases import one_of_each
from tests.chaindata.views import rows as chain
from tests.desk.staff import keeping
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.brackets import bracket_rows
from tests.exchange_ops.permissions.subjects import payees as payee_subjects
from tests.exchange_ops.restores import restore_rows
from tests.exchange_ops.withdrawals.schedules import plans

CRITICAL = {
    FELL_BACK,
    alarms.FROZEN,
    alarms.FROZEN_ACROSS,
    alarms.PAYOUT_DISPUTED,
    alarms.PAYOUT_ELSEWHERE,
    alarms.TRANSFER_UNCLEAR,
    alarms.LIQUIDATION_NEAR,
    alarms.AUDIT,
}
SECRET_KINDS = {alarms.KEY_REFUSED, alarms.KEY_RIGHTS, alarms.PLACE_UNKNOWN}


def closing(person, row, **words):
    """The form that closes a critical incident, with this person's code of now."""
    totp.enrol(person, keeping.SECRET)
    sent = {"reason": "The founder paid a bill by hand.", "digest": closings.digest_of(row)}
    return sent | {"code": keeping.answer_at(0)["code"]} | words


def is_seen_by(role, name):
    seen = {"admin", "auditor", *(["treasury"] if name == alarms.KEY_REFUSED else [])}
    return name not in SECRET_KINDS or role in seen


def acts_on(role, name):
    return role in incident_kinds.by_name(name).acts


def roles_in_turn(name):
    """Every role; in `make test` one that sees this kind, and one that does not."""
    return one_of_each(roles.ALL, by=lambda role: is_seen_by(role, name), loop=name)


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def key(**changes):
    columns = {"account": rows.account(), "label": "Reader", "login": "reader", "created_at": clock.now()}
    return ApiKey.objects.create(**{**columns, "rights": ["Payment information"], **changes})


def without_a_stop(operator):
    order_rows.market(now=clock.now())
    return bracket_rows.without_a_stop(operator, now=clock.now())


def entry_not_seen(operator):
    order_rows.market(now=clock.now())
    return bracket_rows.entry_not_seen(operator, now=clock.now())


def disputed(operator):
    row = rows.held(operator, now=clock.now())
    return withdrawal_machine.move(row, event="executed_without_us", to="investigate", now=clock.now())


def overdue(operator):
    row = rows.held(operator, now=clock.now())
    decision = {"decision": "commit", "decided_at": clock.now()}
    withdrawal_machine.move(row, event="quorum_reached", to="committing", now=clock.now(), **decision)
    withdrawal_machine.move(row, event="commit_confirmed", to="committed", now=clock.now())
    row.__class__.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(hours=3))


def missed(operator):
    plans.due(operator, first=timedelta(hours=-25))
    requesting.sweep(now=clock.now())


def nearly_expired(operator):
    row = payee_subjects.approved_by_two(payee_subjects.added(operator))
    Payee.objects.filter(pk=row.pk).update(expires_at=clock.now() + timedelta(days=13))
    payee_machine.move(Payee.objects.get(pk=row.pk), event="activated", to="active", now=clock.now())


def unproven(operator):
    row = rows.held(operator, now=clock.now())
    decision = {"decision": "commit", "decided_at": clock.now()}
    withdrawal_machine.move(row, event="quorum_reached", to="committing", now=clock.now(), **decision)
    withdrawal_machine.move(row, event="commit_confirmed", to="committed", now=clock.now())
    withdrawal_machine.move(row, event="hash_seen", to="sent", now=clock.now(), hash="ab" * 32)
    row.__class__.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(minutes=5))


def undelivered(person):
    common = {"reference": "W-9", "title": "Payout", "sentence": "It waits.", "url": "/", "created_at": clock.now()}
    row = Notification.objects.create(stage=Stage.OPENED, subject="payout:9", kind="approvals", **common)
    problem = {"state": "failed", "last_problem": "The mail server refused the recipient."}
    at = {"created_at": clock.now(), "updated_at": clock.now()}
    Delivery.objects.create(notification=row, medium="email", person=person, **problem, **at)


def hold_left(operator):
    row = rows.held(operator, now=clock.now())
    withdrawal_machine.move(row, event="executed_without_us", to="investigate", now=clock.now())
    withdrawal_machine.move(row, event="resolved", to="resolved_paid", now=clock.now())
    line = {"type": "payout", "status": "created", "withdrawal": row, "exchange_id": row.exchange_id}
    rows.entry(9, now=clock.now(), **line)


def margin_unclear(operator):
    row = rows.margin_action(operator, now=clock.now())
    margin_machine.move(row, event="claimed", to="sending", now=clock.now(), sends=1)
    margin_machine.move(row, event="answer_lost", to="unknown", now=clock.now())
    margin_machine.move(row, event="unexplained", to="unclear", now=clock.now())


def aside(operator, **place):
    columns = {
        "exchange_id": "x",
        "fingerprint": "f",
        "source": "walk",
        "reason": "A transaction was quarantined: no amount.",
        "content": "{}",
    }
    times = {"first_seen_at": clock.now(), "seen_at": clock.now(), "after_index": 0}
    LedgerAside.objects.create(account=rows.account(), **(columns | times | place))


def two_records(operator):
    entry = rows.entry(91)
    LedgerVersion.objects.create(
        account=entry.account,
        entry=entry,
        index=entry.index,
        status="success",
        content={},
        source="stream",
        seen_at=clock.now(),
    )
    aside(operator, index=entry.index, fingerprint="of the second")


def check(name, finding):
    now = clock.now()
    CheckRun.objects.create(name=name, tried_at=now, ran_at=now, held=False, findings=[finding])


def beat(name, *, ago):
    moment = clock.now() - timedelta(seconds=ago)
    FollowerState.objects.update_or_create(name=name, defaults={"beat_at": moment, "heard_at": moment})


def watched(operator):
    """One address, however many kinds come about at it; not read yet."""
    if (known := WatchedAddress.objects.first()) is not None:
        WatchedAddress.objects.update(read_at=None)
        return known
    row = WatchedAddress(address=chain.OURS.cash_address, title="Vault", purpose="reserve", added_by=operator)
    row.from_height = row.settled_height = 7
    return ADDRESSES.create(row, event="began", now=clock.now() - timedelta(minutes=11))


def moved(operator, *, spends):
    WatchedAddress.objects.filter(pk=(row := watched(operator)).pk).update(read_at=clock.now())
    change_sat = -150_000_000 if spends else 150_000_000
    movement = ChainMovement(watched=row, txid=("ab" if spends else "cd") * 32, change_sat=change_sat, spends=spends)
    MOVEMENTS.create(movement, event="seen", now=clock.now())


def deposit_lost(operator):
    long_ago = clock.now() - timedelta(hours=1)
    rows.entry(12, now=long_ago, hash="ab" * 32, address=chain.OURS.cash_address)
    details = ("get_transaction_details", "missing")
    chain.turned_down(*details, at=clock.now(), problem="No such transaction.", txid="ab" * 32)


def reviewed():
    for row in ChainMovement.objects.filter(state="seen"):
        MOVEMENTS.move(row, event="reviewed", to="reviewed", now=clock.now(), reason="Ours.")


# How each kind comes about, by its name, and what of it is read.
PROVOKED = {
    FELL_BACK: (lambda person: restore_rows.opened(), "Nothing is sent: the database is in an earlier state"),
    BACKUP_LATE: (
        lambda person: BackupRecord.objects.create(pk=1, since=clock.now() - timedelta(hours=27)),
        "Payouts continue. No backup yet; one is expected every 26 h.",
    ),
    alarms.FROZEN: (
        lambda person: freezes.freeze(person=None, reason="A drill.", account=rows.account(), now=clock.now()),
        "Main desk was frozen by System; no payouts, transfers, orders or margin actions until the freeze is lifted. "
        "A drill.",
    ),
    alarms.FROZEN_ACROSS: (
        lambda person: freezes.begin(Freeze(kind=Freeze.EVERYTHING), person=None, reason="A drill.", now=clock.now()),
        "Everything was frozen by System; no payouts, transfers, orders or margin actions on any account until the "
        "freeze is lifted. A drill.",
    ),
    alarms.PAYOUT_DISPUTED: (disputed, "1.2500 BCH: It is unknown whether this was paid"),
    alarms.PAYOUT_ELSEWHERE: (
        lambda person: rows.entry(3, now=clock.now(), type="payout", status="pending", foreign=True),
        "Withdrawal of 0.5000 BCH in progress, not requested in Countersign.",
    ),
    alarms.TRANSFER_UNCLEAR: (
        lambda person: rows.transfer_sent(person, to="investigate", now=clock.now()),
        "the exchange's ledger is inconclusive",
    ),
    alarms.TRANSFER_UNKNOWN: (
        lambda person: rows.transfer_sent(person, now=clock.now() - timedelta(minutes=4)),
        "outcome unknown for 4 min. The money may have moved",
    ),
    alarms.TRANSFER_NOT_SEEN: (
        lambda person: rows.transfer_sent(person, to="not_seen", now=clock.now()),
        "The money does not appear to have moved",
    ),
    alarms.MARGIN_CALL_NEAR: (
        lambda person: rows.margin_position(now=clock.now(), pnl=Decimal(-50)),
        "The long position of 1.0000 in BCHUSD is near its margin call at 440.0000; the mark price is 450.0000.",
    ),
    alarms.LIQUIDATION_NEAR: (
        lambda person: rows.margin_position(now=clock.now(), pnl=Decimal(-70)),
        "is near its liquidation at 425.0000; the mark price is 430.0000.",
    ),
    alarms.MARGIN_UNCLEAR: (margin_unclear, "The result is unclear"),
    alarms.WITHOUT_A_STOP: (
        without_a_stop,
        "the position from a buy entry in BCHUSD has no working stop. The stop O-2 was not",
    ),
    alarms.BRACKET_UNCLEAR: (entry_not_seen, "was not found on the exchange; its status is unknown."),
    alarms.HOLD_LEFT: (hold_left, "the funds are still reserved at the exchange"),
    alarms.PAYOUT_NOT_REQUESTED: (missed, "Countersign did not request it within 24 hours of its time."),
    alarms.PAYEE_EXPIRES: (nearly_expired, "Renew it, or close this if it is no longer needed."),
    alarms.PAYOUT_OVERDUE: (overdue, "the exchange accepted the payment order 3 h ago"),
    alarms.RECONCILIATION: (
        lambda person: check(f"reconciliation:{rows.account().pk}", "BCH: 1 is missing."),
        "Main desk: our figures differ from the exchange's. BCH: 1 is missing.",
    ),
    alarms.AUDIT: (
        lambda person: check("audit trail", "W-1: amount is '2'."),
        "Records differ from the audit trail. W-1: amount is",
    ),
    alarms.RECORDS_ASIDE: (aside, "Unreadable ledger records quarantined for Main desk: 1."),
    alarms.RECORDS_DIFFER: (two_records, "The exchange reported two records with index 91 for Main desk"),
    alarms.KEY_REFUSED: (
        lambda person: key(last_problem="Authorisation failed.", last_problem_at=clock.now()),
        "The exchange rejected the key Reader: Authorisation failed.",
    ),
    alarms.KEY_RIGHTS: (
        lambda person: key(login="wide", observed={"Withdraw cryptocurrencies": "granted"}),
        "This key has more permissions than it needs: Withdraw cryptocurrencies.",
    ),
    alarms.PLACE_UNKNOWN: (
        lambda person: Account.objects.create(name="Second desk", place="gone"),
        "Second desk is paused: its exchange “gone” is not in the settings",
    ),
    alarms.CLOCK: (
        lambda person: ClockReading.objects.create(account=rows.account(), skew_ms=10**9, read_at=clock.now()),
        "responses is 11 days off",
    ),
    alarms.CLOCK_FELL_BACK: (
        lambda person: beat("before the fall", ago=-3600),
        "The system clock is 59 min behind the latest time on record.",
    ),
    alarms.WORK_STALLED: (lambda person: beat(heartbeats.WORKER, ago=300), "Worker last active 5 min ago."),
    alarms.LEDGER_LATE: (
        lambda person: beat(heartbeats.ledger_of(rows.account()), ago=900),
        "ledger for Main desk was last synced 15 min ago",
    ),
    alarms.STREAM_DOWN: (lambda person: None, "Main desk stream is not live"),
    alarms.PRICES_OLD: (
        lambda person: Ticker.objects.all().delete(),
        "Values are unknown, so the strictest tier applies",
    ),
    alarms.PROOFS_LATE: (unproven, "1 payouts await on-chain confirmation, the oldest for 5 min."),
    kinds.SPENT: (
        lambda person: moved(person, spends=True),
        "1.5000 BCH left the watched address Vault, in transaction abababababab.",
    ),
    kinds.RECEIVED: (
        lambda person: moved(person, spends=False),
        "1 transaction paid 1.5000 BCH to the watched address Vault",
    ),
    kinds.UNREAD: (watched, "The watched address Vault has not synced for more than ten minutes"),
    alarms.DEPOSIT_DIFFERS: (deposit_lost, "The exchange credited 0.5000 BCH, but transaction abab"),
    CHAIN_LATE: (lambda person: None, "No block received yet"),
    UNDELIVERED: (undelivered, "E-mail is failing: 1 message not delivered. The mail server refused"),
}

# A process that never showed is an incident beside the one that went away.
ONE_OF_SEVERAL = {alarms.WORK_STALLED: {"cause": heartbeats.WORKER}}


def resolved(model, **how):
    """Two people of treasury have closed the case."""
    for row in model.objects.filter(state__in=("investigate", "not_seen")):
        (transfer_machine if model is Transfer else withdrawal_machine).move(row, now=clock.now(), **how)


def live(name):
    FollowerState.objects.update_or_create(
        name=name, defaults={"connected": True, "beat_at": clock.now(), "heard_at": clock.now()}
    )


def block():
    header = ChainHeader.objects.create(
        hash="00" * 32, height=1, previous_hash="11" * 32, raw="00" * 80, time=1, chainwork="1",
        is_active=True, seen_at=clock.now(),
    )  # fmt: skip
    ChainTip.objects.update_or_create(pk=1, defaults={"header": header, "read_at": clock.now()})


def proven():
    row = Withdrawal.objects.get(state="sent")
    PayoutProof.objects.create(
        withdrawal=row,
        wanted_sat=1,
        standing="unseen",
        looked_at=clock.now(),
        next_look_at=clock.now() + timedelta(hours=1),
    )


# How the cause of each kind goes away.
ENDED = {
    FELL_BACK: lambda: restore_rows.settled(Restore.objects.get()),
    BACKUP_LATE: lambda: backup_record.success(now=clock.now()),
    alarms.FROZEN: lambda: Freeze.objects.update(thawed_at=clock.now()),
    alarms.FROZEN_ACROSS: lambda: Freeze.objects.update(thawed_at=clock.now()),
    alarms.PAYOUT_DISPUTED: lambda: resolved(Withdrawal, event="resolved", to="resolved_paid"),
    alarms.PAYOUT_ELSEWHERE: lambda: LedgerEntry.objects.update(foreign=False),
    alarms.TRANSFER_UNCLEAR: lambda: resolved(Transfer, event="resolved", to="resolved_moved"),
    alarms.TRANSFER_UNKNOWN: lambda: transfer_machine.move(
        Transfer.objects.get(state="unknown"), event="found", to="done", now=clock.now(), exchange_id="tx-found"
    ),
    alarms.TRANSFER_NOT_SEEN: lambda: resolved(Transfer, event="closed", to="closed"),
    alarms.HOLD_LEFT: lambda: LedgerEntry.objects.update(status="failed"),
    alarms.PAYOUT_NOT_REQUESTED: lambda: [
        schedules.skip(row.pk, number=2, person=row.person, now=clock.now()) for row in schedules.active()
    ],
    alarms.PAYEE_EXPIRES: lambda: payee_machine.move(
        Payee.objects.get(), event="expired", to="expired", now=clock.now()
    ),
    alarms.PAYOUT_OVERDUE: lambda: [
        withdrawal_machine.move(row, event="exchange_succeeded", to="settled", now=clock.now())
        for row in Withdrawal.objects.filter(state="committed")
    ],
    alarms.RECONCILIATION: lambda: CheckRun.objects.update(held=True, findings=[]),
    alarms.AUDIT: lambda: CheckRun.objects.update(held=True, findings=[]),
    alarms.RECORDS_ASIDE: lambda: LedgerAside.objects.update(cleared_at=clock.now()),
    alarms.RECORDS_DIFFER: lambda: LedgerAside.objects.update(cleared_at=clock.now()),
    alarms.KEY_REFUSED: lambda: ApiKey.objects.update(last_problem="", last_problem_at=None),
    alarms.KEY_RIGHTS: lambda: ApiKey.objects.update(observed={"Payment information": "granted"}),
    alarms.PLACE_UNKNOWN: lambda: Account.objects.filter(place="gone").delete(),
    alarms.CLOCK: lambda: ClockReading.objects.update(skew_ms=0),
    alarms.CLOCK_FELL_BACK: lambda: beat("before the fall", ago=0),
    alarms.WORK_STALLED: lambda: beat(heartbeats.WORKER, ago=0),
    alarms.LEDGER_LATE: lambda: beat(heartbeats.ledger_of(rows.account()), ago=0),
    alarms.STREAM_DOWN: lambda: live(streams.name_of(rows.account())),
    alarms.PRICES_OLD: lambda: rows.price(now=clock.now()),
    alarms.PROOFS_LATE: proven,
    kinds.SPENT: reviewed,
    kinds.RECEIVED: reviewed,
    kinds.UNREAD: lambda: WatchedAddress.objects.update(read_at=clock.now()),
    alarms.DEPOSIT_DIFFERS: lambda: LedgerEntry.objects.update(hash=""),
    CHAIN_LATE: block,
    alarms.MARGIN_CALL_NEAR: lambda: MarginPosition.objects.update(pnl=Decimal(0)),
    alarms.LIQUIDATION_NEAR: lambda: MarginPosition.objects.update(pnl=Decimal(0)),
    alarms.MARGIN_UNCLEAR: lambda: [
        margin_machine.move(row, event="settled", to="settled", now=clock.now())
        for row in MarginAction.objects.filter(state="unclear")
    ],
    alarms.WITHOUT_A_STOP: lambda: [
        bracket_machine.move(row, event="guarded_again", to="guarded", now=clock.now()) for row in Bracket.objects.all()
    ],
    alarms.BRACKET_UNCLEAR: lambda: [
        bracket_machine.move(row, event="let_go", to="closed", now=clock.now(), outcome="let_go")
        for row in Bracket.objects.all()
    ],
    UNDELIVERED: lambda: Delivery.objects.filter(state="failed").update(state="delivered"),
}
