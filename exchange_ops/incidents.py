"""What about the exchange account a person has to look at: every kind, with how its causes are read from rows.

What happened to money comes first, then records, keys and clocks, then the processes that the desk is made of. A kind
that can't be closed by hand ends where its cause is decided, and says where.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, TypeVar

from django.db.models import Model, Q, QuerySet

from desk import health as desk_health
from desk.incidents.kinds import Cause, Kind, Severity
from desk.incidents.models import Incident
from desk.people import roles
from desk.templatetags.desk import kept_amount
from exchange_ops import health, incident_words, scheduled_checks
from exchange_ops.keys import status as key_status
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import chain_differences, quarantine
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.margin import danger
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market.models import Ticker
from exchange_ops.orders.brackets import causes as bracket_causes
from exchange_ops.policy.models import Freeze
from exchange_ops.positions import machine as margin_states
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared import alarms, clocks, places
from exchange_ops.shared.models import Account, CheckRun
from exchange_ops.transfers import machine as transfer_states
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals.decisions import open_holds
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.steps import settlement

R = TypeVar("R", bound=Model)
MOST_NAMED = 3
_LEAVES: Final = {
    "created": "is reserved to leave the account",
    "pending": "is on its way out of the account",
    "success": "left the account",
    "failed": "was to leave the account, and failed",
}
_WORKERS = (roles.OPERATOR, roles.TREASURY, roles.ADMIN)
_DECIDERS = (roles.TREASURY, roles.ADMIN)
_KEEPERS = (roles.ADMIN, roles.AUDITOR)
_AFTER_A_START = timedelta(seconds=45)  # the slowest reading has come round twice


def _of(rows: QuerySet[R], only: str) -> QuerySet[R]:
    """All rows, or the one that `only` names by its number."""
    return (rows.filter(pk=only.rpartition(":")[2]) if only else rows).order_by("pk")


def _disputed(now: datetime, only: str) -> Iterator[Cause]:
    rows = Withdrawal.objects.filter(state__in=(machine.DISPUTED, machine.INVESTIGATE))
    for row in _of(rows, only):
        paid = f"{row.reference}, {kept_amount(row.amount, row.currency)}: {row.sentence}"
        yield Cause(row.subject, paid, "withdrawal", str(row.pk), str(row.account_id))


def _transfers(state: str) -> Callable[[datetime, str], Iterator[Cause]]:
    def causes(now: datetime, only: str) -> Iterator[Cause]:
        for row in _of(Transfer.objects.filter(state=state), only):
            moved = f"{row.reference}, {kept_amount(row.amount, row.currency)}: {row.sentence}"
            yield Cause(row.subject, moved, "transfer", str(row.pk), str(row.account_id))

    return causes


def _margin_calls(now: datetime, only: str) -> Iterator[Cause]:
    """Positions whose price is near that of the margin call, or beyond it."""
    for row, stands, key in _positions(only):
        if stands.is_near_call(warned=_is_warned(alarms.MARGIN_CALL_NEAR, key)):
            where = "has passed its margin call" if stands.is_past_call else "is near its margin call"
            yield _position_cause(row, key, f"{where} at {_figure(stands.call)}", stands)


def _near_liquidations(now: datetime, only: str) -> Iterator[Cause]:
    """Positions that the exchange is about to close by itself."""
    for row, stands, key in _positions(only):
        if stands.is_near_liquidation(warned=_is_warned(alarms.LIQUIDATION_NEAR, key)):
            yield _position_cause(row, key, f"is near its liquidation at {_figure(stands.liquidation)}", stands)


def _positions(only: str) -> Iterator[tuple[MarginPosition, danger.Exposure, str]]:
    rows = list(MarginPosition.objects.filter(gone_at=None).exclude(quantity=0).order_by("pk"))
    tickers = Ticker.objects.in_bulk({row.symbol for row in rows})
    for row in rows:
        key = f"margin:{row.account_id}:{row.exchange_id}"
        if only in {"", key}:
            yield row, danger.exposure(position=row, ticker=tickers.get(row.symbol)), key


def _is_warned(kind: str, key: str) -> bool:
    """Whether it is warned of already: then it is until the price is far again, not only past the border."""
    return Incident.objects.filter(kind=kind, cause=key, gone_at=None).exists()


def _figure(value: Decimal | None) -> str:
    return kept_amount(value or Decimal(0), "").rstrip()


def _position_cause(row: MarginPosition, key: str, where: str, stands: danger.Exposure) -> Cause:
    side = "long" if stands.is_long else "short"
    size, mark = _figure(abs(row.quantity)), _figure(stands.mark)
    sentence = (
        f"The {side} position in {row.symbol}, {size}, {where}: the mark is {mark}. "
        "An operator can add collateral or close it."
    )
    return Cause(key, sentence, "margin-symbol", row.symbol, str(row.account_id))


def _unclear_margin(now: datetime, only: str) -> Iterator[Cause]:
    for row in _of(MarginAction.objects.filter(state=margin_states.UNCLEAR), only):
        sentence = f"{row.reference}, {row.kind_label.lower()} in {row.symbol}: {row.sentence}"
        yield Cause(row.subject, sentence, "margin-action", str(row.pk), str(row.account_id))


def _holds(now: datetime, only: str) -> Iterator[Cause]:
    for row in open_holds.of_closed():
        if open_holds.is_for_people(row):
            yield Cause(row.subject, open_holds.sentence(row), "withdrawal", str(row.pk), str(row.account_id))


def _elsewhere(now: datetime, only: str) -> Iterator[Cause]:
    for entry in _of(LedgerEntry.objects.filter(foreign=True), only):
        how = _LEAVES.get(entry.status.lower(), "may have left the account")
        sentence = (
            f"{kept_amount(entry.amount, entry.currency)} {how}, and nobody here asked for it. Find out who ordered it "
            "at the exchange; treasury can freeze the account meanwhile."
        )
        yield Cause(f"ledger:{entry.pk}", sentence, "ledger?origin=foreign", scope=str(entry.account_id))


def _overdue(now: datetime, only: str) -> Iterator[Cause]:
    for row in settlement.overdue(now=now):
        sentence = settlement.overdue_sentence(row, now=now)
        yield Cause(row.subject, sentence, "withdrawal", str(row.pk), str(row.account_id))


def _frozen(now: datetime, only: str) -> Iterator[Cause]:
    for freeze in _of(Freeze.objects.filter(thawed_at=None).select_related("account", "frozen_by"), only):
        who = str(freeze.frozen_by) if freeze.frozen_by_id else "The desk"
        reason = freeze.reason.rstrip(". ")
        sentence = (
            f"Nothing is reserved, sent or paid from {freeze.account.name}: {who} froze it. {reason}. "
            "Two people of treasury can end that."
        )
        yield Cause(f"freeze:{freeze.pk}", sentence, "policy", scope=str(freeze.account_id))


def _reconciliation(now: datetime, only: str) -> Iterator[Cause]:
    rows = {row.name: row for row in CheckRun.objects.exclude(name=scheduled_checks.AUDIT)}
    for account in Account.objects.order_by("pk"):
        row = rows.get(scheduled_checks.name_of(account))
        if row is not None and row.held is False:
            found = f"The desk's figures of {account.name} differ from the exchange's. {_findings(row)}"
            yield Cause(row.name, found, "system", scope=str(account.pk))
        elif row is not None and scheduled_checks.is_late(row, now=now):
            late = f"The reconciliation of {account.name} came to no answer for hours. {row.problem}".strip()
            yield Cause(f"{row.name}:late", late, "system", scope=str(account.pk))


def _audit(now: datetime, only: str) -> Iterator[Cause]:
    row = CheckRun.objects.filter(name=scheduled_checks.AUDIT).first()
    if row is not None and row.held is False:
        changed = f"Rows differ from what the audit trail says of them. {_findings(row)}"
        yield Cause("audit", changed, "audit")


def _findings(row: CheckRun) -> str:
    more = len(row.findings) - MOST_NAMED
    return " ".join(row.findings[:MOST_NAMED]) + (f" And {more} more." if more > 0 else "")


def _asides(now: datetime, only: str) -> Iterator[Cause]:
    for account in Account.objects.order_by("pk"):
        if count := quarantine.waiting(account=account):
            sentence = (
                f"{count} records of the exchange's ledger of {account.name} could not be read and are kept aside: "
                "figures may miss what they say."
            )
            yield Cause(f"account:{account.pk}", sentence, "ledger", scope=str(account.pk))


def _refused_keys(now: datetime, only: str) -> Iterator[Cause]:
    for key in ApiKey.objects.filter(Q(active=True) | Q(replaces__isnull=False, kept_at=None), retired_at=None):
        if key.is_turned_down:
            sentence = f"The exchange turned down the key {key.label}: {key.last_problem}"
            yield Cause(key.subject, sentence, "key", str(key.pk), str(key.account_id))


def _rights(now: datetime, only: str) -> Iterator[Cause]:
    for key in ApiKey.objects.filter(retired_at=None).select_related("account").order_by("pk"):
        if warnings := key_status.of(key, now=now).warnings:
            yield Cause(key.subject, f"{key.label}: {' '.join(warnings)}", "key", str(key.pk), str(key.account_id))


def _clocks(now: datetime, only: str) -> Iterator[Cause]:
    for account in Account.objects.order_by("pk"):
        if problem := clocks.problem(account=account):
            yield Cause(f"account:{account.pk}", problem, "system", scope=str(account.pk))


def _places(now: datetime, only: str) -> Iterator[Cause]:
    for account in Account.objects.order_by("pk"):
        if problem := places.problem(account):
            yield Cause(f"account:{account.pk}", problem, "keys", scope=str(account.pk))


def _broker(now: datetime, only: str) -> Iterator[Cause]:
    found = desk_health.broker()
    if not found.ok:
        yield Cause("broker", found.sentence, "system")


def _unwell(*names: str) -> Callable[[datetime, str], Iterator[Cause]]:
    """What these checks of readiness find, as soon as there is an account to work for."""

    def causes(now: datetime, only: str) -> Iterator[Cause]:
        if not Account.objects.exists():
            return
        for name in names:
            found = health.CHECKS[name]()
            if not found.ok:
                yield Cause(name, found.sentence, "system")

    return causes


_BY_THE_PRICE = "It ends when the price is far from it again, or the position is closed."
_BY_TREASURY = "It ends when two people of treasury have closed the case on its page."

KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        alarms.FROZEN,
        "Account frozen",
        Severity.CRITICAL,
        _DECIDERS,
        _frozen,
        closable=False,
        ends="It ends when two people of treasury have ended the freeze on the page Policy.",
        words=incident_words.thaws,
    ),
    Kind(
        alarms.PAYOUT_DISPUTED,
        "Payout disputed",
        Severity.CRITICAL,
        (roles.TREASURY,),
        _disputed,
        closable=False,
        ends=_BY_TREASURY,
        words=incident_words.payout_findings,
    ),
    Kind(
        alarms.PAYOUT_ELSEWHERE,
        "Payment made elsewhere",
        Severity.CRITICAL,
        _DECIDERS,
        _elsewhere,
    ),
    Kind(
        alarms.TRANSFER_UNCLEAR,
        "Transfer unclear",
        Severity.CRITICAL,
        (roles.TREASURY,),
        _transfers(transfer_states.INVESTIGATE),
        closable=False,
        ends=_BY_TREASURY,
        words=incident_words.transfer_findings,
    ),
    Kind(
        alarms.LIQUIDATION_NEAR,
        "Liquidation near",
        Severity.CRITICAL,
        (roles.OPERATOR, roles.TREASURY),
        _near_liquidations,
        closable=False,
        ends=_BY_THE_PRICE,
    ),
    Kind(alarms.AUDIT, "Audit trail differs", Severity.CRITICAL, (roles.ADMIN,), _audit, opens=_KEEPERS),
    Kind(
        alarms.TRANSFER_NOT_SEEN,
        "Transfer not seen",
        Severity.HIGH,
        (roles.TREASURY,),
        _transfers(transfer_states.NOT_SEEN),
        closable=False,
        ends="It ends when treasury has closed the transfer, or asked for it anew, on its page.",
    ),
    Kind(
        alarms.MARGIN_CALL_NEAR,
        "Margin call near",
        Severity.HIGH,
        (roles.OPERATOR, roles.TREASURY),
        _margin_calls,
        closable=False,
        ends=_BY_THE_PRICE,
    ),
    Kind(
        alarms.MARGIN_UNCLEAR,
        "Margin action unclear",
        Severity.HIGH,
        (roles.OPERATOR, roles.TREASURY),
        _unclear_margin,
        closable=False,
        ends="It ends when an operator has noted on its page what it did.",
    ),
    Kind(
        alarms.WITHOUT_A_STOP,
        "Position without its stop",
        Severity.HIGH,
        (roles.OPERATOR, roles.TREASURY),
        bracket_causes.without_a_stop,
        ends="It ends when its stop is at the exchange, or the bracket is ended.",
    ),
    Kind(
        alarms.BRACKET_UNCLEAR,
        "Order of a bracket not seen",
        Severity.HIGH,
        (roles.OPERATOR, roles.TREASURY),
        bracket_causes.unclear,
        ends="It ends when the order is seen at the exchange or known not to be there, or the bracket is ended.",
    ),
    Kind(
        alarms.HOLD_LEFT,
        "Money still reserved",
        Severity.HIGH,
        (roles.TREASURY,),
        _holds,
        closable=False,
        ends="It ends when the exchange's ledger shows the reserved money as released.",
        words=incident_words.releases,
    ),
    Kind(alarms.PAYOUT_OVERDUE, "Payout not carried out", Severity.HIGH, _WORKERS, _overdue),
    Kind(
        alarms.RECONCILIATION, "Reconciliation differs", Severity.HIGH, (roles.TREASURY, roles.ADMIN), _reconciliation
    ),
    Kind(alarms.DEPOSIT_DIFFERS, "Deposit differs from the chain", Severity.HIGH, _WORKERS, chain_differences.causes),
    Kind(alarms.KEY_REFUSED, "Key refused", Severity.HIGH, (roles.ADMIN,), _refused_keys, sees=_KEEPERS),
    Kind(
        alarms.PLACE_UNKNOWN,
        "Exchange not in the settings",
        Severity.HIGH,
        (roles.ADMIN,),
        _places,
        sees=_KEEPERS,
        closable=False,
        ends="It ends when the settings name the exchange again and the desk was started with them.",
    ),
    Kind(
        alarms.WORK_STALLED,
        "Work waits",
        Severity.HIGH,
        _WORKERS,
        _unwell("worker", "releases", "sweeper", "payouts", "transfers", "orders"),
        settles=_AFTER_A_START,
    ),
    Kind(
        alarms.LEDGER_LATE,
        "Ledger out of date",
        Severity.HIGH,
        _WORKERS,
        _unwell("exchange"),
        settles=_AFTER_A_START,
    ),
    Kind(
        alarms.BROKER_AWAY,
        "Broker does not answer",
        Severity.HIGH,
        (roles.ADMIN,),
        _broker,
        settles=timedelta(seconds=15),  # it is started beside the processes that ask it
    ),
    Kind(alarms.RECORDS_ASIDE, "Records not read", Severity.MEDIUM, _WORKERS, _asides),
    Kind(alarms.KEY_RIGHTS, "Key with other rights", Severity.MEDIUM, (roles.ADMIN,), _rights, sees=_KEEPERS),
    Kind(alarms.CLOCK, "Clocks differ", Severity.MEDIUM, (roles.ADMIN,), _clocks),
    Kind(
        alarms.PROOFS_LATE,
        "Payouts not looked for on the chain",
        Severity.MEDIUM,
        _WORKERS,
        _unwell("proofs"),
        settles=_AFTER_A_START,
    ),
    Kind(alarms.STREAM_DOWN, "Stream not live", Severity.MEDIUM, _WORKERS, _unwell("stream"), settles=_AFTER_A_START),
    Kind(alarms.PRICES_OLD, "Prices out of date", Severity.MEDIUM, _WORKERS, _unwell("prices"), settles=_AFTER_A_START),
)
