"""The room of the scheduled checks: the reconciliation of each account, and the audit trail."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import Q

from desk import clock, rooms
from desk.incidents.kinds import Cause, Kind, Severity
from desk.people import roles
from desk.rooms import Check, Health
from desk.rows.retention import Retention
from desk.web.context import Entry
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import alarms, facts, rules
from exchange_ops.shared.declarations import ages, causes
from exchange_ops.shared.models import Account, CheckRun, Fact
from exchange_ops.withdrawals.evidence import reconciliation

MOST_NAMED: Final = 3  # findings that an incident names


def _differences(now: datetime, only: str) -> Iterator[Cause]:
    rows = {row.name: row for row in CheckRun.objects.exclude(name=scheduled_checks.AUDIT)}
    for account in Account.objects.order_by("pk"):
        row = rows.get(scheduled_checks.name_of(account))
        if row is not None and row.held is False:
            sentence = f"{account.name}: our figures differ from the exchange's. {_findings(row)}"
            yield Cause(row.name, sentence, "system", scope=str(account.pk))
        elif row is not None and scheduled_checks.is_late(row, now=now):
            late = f"Reconciliation for {account.name} has not completed for hours. {row.problem}".strip()
            yield Cause(f"{row.name}:late", late, "system", scope=str(account.pk))


def _audit_differences(now: datetime, only: str) -> Iterator[Cause]:
    row = CheckRun.objects.filter(name=scheduled_checks.AUDIT).first()
    if row is not None and row.held is False:
        yield Cause("audit", f"Records differ from the audit trail. {_findings(row)}", "audit")


def _older_readings() -> Q:
    """The readings of each account but the newest, which its statement is made of."""
    newest = [facts.newest(account=account, name=reconciliation.READING) for account in Account.objects.all()]
    return Q(name=reconciliation.READING) & ~Q(pk__in=[fact.pk for fact in newest if fact is not None])


def _findings(row: CheckRun) -> str:
    more = len(row.findings) - MOST_NAMED
    return " ".join(row.findings[:MOST_NAMED]) + (f" And {more} more." if more > 0 else "")


def _reconciliation() -> Health:
    """What the last reconciliation of each account by the scheduler found."""
    now, accounts = clock.now(), list(Account.objects.order_by("pk"))
    rows = {row.name: row for row in CheckRun.objects.exclude(name=scheduled_checks.AUDIT)}
    answers = []
    for one in accounts:
        of_one = _health(f"Reconciliation for {one.name}", rows.get(scheduled_checks.name_of(one)))
        waits = " Reconciliation starts once the ledger has been synced." if scheduled_checks.waits(one, now) else ""
        answers.append(replace(of_one, sentence=of_one.sentence + waits))
    return ages.worst(answers) if answers else Health(ok=True, sentence="No account to reconcile yet.")


def _audit() -> Health:
    """What the last check of the audit trail by the scheduler found."""
    return _health("Audit trail check", CheckRun.objects.filter(name=scheduled_checks.AUDIT).first())


def _health(spoken: str, row: CheckRun | None) -> Health:
    """A failed check stays failed until a later run succeeds; one that never ran yet is no alarm."""
    if row is None:
        return Health(ok=True, sentence=f"{spoken} has not run yet; it is scheduled.")
    age = ages.age(row.ran_at, clock.now())
    problem = f" The last run failed: {row.problem}" if row.problem else ""
    ok = row.held is not False and not scheduled_checks.is_late(row, now=clock.now())
    if age is None:
        return Health(ok=ok, sentence=f"{spoken} has not completed yet.{problem}")
    named = " ".join(row.findings[: ages.MOST_NAMED])
    result = (
        "no differences"
        if row.held
        else f"{len(row.findings)} difference{'s' * (len(row.findings) != 1)}. {named}".rstrip(".")
    )
    sentence = f"{spoken}, {ages.spoken(age)} ago: {result}.{problem}"
    return Health(ok=ok, sentence=sentence, age_s=age.total_seconds())


ROOM: Final = rooms.Room(
    checks={"reconciliation": Check(_reconciliation, order=60), "audit": Check(_audit, order=70)},
    incidents=(
        Kind(
            alarms.AUDIT,
            "Audit trail differs",
            Severity.CRITICAL,
            (roles.ADMIN,),
            _audit_differences,
            opens=causes.KEEPERS,
            by_two=True,
        ),
        Kind(
            alarms.RECONCILIATION,
            "Reconciliation differs",
            Severity.HIGH,
            causes.DECIDERS,
            _differences,
            by_two=True,
        ),
    ),
    urls="exchange_ops.reconciliation.urls",
    navigation=(
        Entry(
            "Reconciliation",
            "reconciliation",
            "file-check",
            "Money",
            order=95,
            may_see=rules.may_see,
            also=("Opening balance", "Closing balance", "Differences"),
        ),
    ),
    retention=(Retention(Fact, "noted_at", lambda: timedelta(days=settings.ANSWERS_KEPT_DAYS), _older_readings),),
    tasks="exchange_ops.reconciliation.tasks",
)
