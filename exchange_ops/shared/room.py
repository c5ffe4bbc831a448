"""The room of what every other rests on: accounts, clocks, and the processes that work and listen."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Max

from desk import clock, health, rooms
from desk.audit import clock_falls
from desk.incidents.kinds import Cause, Kind, Severity
from desk.machines.guards import Guards, Rule, edited, table_of
from desk.people import roles
from desk.rooms import Check, Health
from desk.rows.witnessed import Table
from exchange_ops.shared import alarms, clocks, heartbeats, places
from exchange_ops.shared.declarations import ages, causes, reasons, topics
from exchange_ops.shared.models import Account, Fact, FollowerState


def _clocks(now: datetime, only: str) -> Iterator[Cause]:
    for account in Account.objects.order_by("pk"):
        if problem := clocks.problem(account=account):
            yield Cause(f"account:{account.pk}", problem, "system", scope=str(account.pk))


def _places(now: datetime, only: str) -> Iterator[Cause]:
    for account in Account.objects.order_by("pk"):
        if problem := places.problem(account):
            yield Cause(f"account:{account.pk}", problem, "keys", scope=str(account.pk))


def _broker(now: datetime, only: str) -> Iterator[Cause]:
    answer = health.broker()
    if not answer.ok:
        yield Cause("broker", answer.sentence, "system")


def _clock() -> Health:
    now = clock.now()
    beat = FollowerState.objects.aggregate(newest=Max("beat_at"))["newest"]
    behind = clock_falls.fallen_by(now, beat)
    if behind:
        return Health(ok=False, sentence=clock_falls.sentence(behind), age_s=behind.total_seconds())
    return Health(ok=True, sentence="The server's clock has not been set back.")


def _worker() -> Health:
    return _loop(
        heartbeats.WORKER, "Worker", "Address and fee checks are delayed; payouts continue through the scheduler."
    )


def _releases() -> Health:
    return _loop(heartbeats.RELEASES, "Release worker", "The scheduler releases reserved funds instead.")


def _sweeper() -> Health:
    return _loop(heartbeats.SWEEPER, "Scheduler", "Payouts continue as long as a worker is running.")


def _jobs() -> Health:
    row = heartbeats.state_of(heartbeats.JOBS)
    age = ages.age(row.beat_at if row else None, clock.now())
    if row is None or age is None or age > ages.BEAT_AGE:
        return Health(ok=True, sentence="No worker job is overdue.")
    consequence = (
        "The affected account or task may be delayed; other jobs continue. An administrator can restart the workers."
    )
    return Health(ok=False, sentence=f"{row.problem} {consequence}", age_s=age.total_seconds())


def _loop(name: str, spoken: str, consequence: str) -> Health:
    row = heartbeats.state_of(name)
    age = ages.age(row.beat_at if row else None, clock.now())
    if age is not None and age <= ages.BEAT_AGE:
        return Health(ok=True, sentence=f"{spoken} active {ages.spoken(age)} ago.", age_s=age.total_seconds())
    when = "not active yet" if age is None else f"last active {ages.spoken(age)} ago"
    sentence = f"{spoken} {when}. {consequence}"
    return Health(ok=False, sentence=sentence, age_s=None if age is None else age.total_seconds())


def _accounts() -> Iterator[tuple[str, str]]:
    """The accounts that a role may be limited to."""
    for number, name in Account.objects.order_by("pk").values_list("pk", "name"):
        yield str(number), name


INCIDENTS: Final = (
    Kind(
        alarms.PLACE_UNKNOWN,
        "Exchange not in the settings",
        Severity.HIGH,
        (roles.ADMIN,),
        _places,
        sees=causes.KEEPERS,
        closable=False,
        ends="Resolves once the exchange is added to the settings and the desk is restarted.",
    ),
    Kind(
        alarms.WORK_STALLED,
        "Work queue delayed",
        Severity.HIGH,
        causes.WORKERS,
        causes.unwell(alarms.WORK_STALLED),
        grace_period=causes.AFTER_A_START,
    ),
    Kind(
        alarms.BROKER_AWAY,
        "Broker not responding",
        Severity.HIGH,
        (roles.ADMIN,),
        _broker,
        grace_period=timedelta(seconds=15),  # it is started beside the processes that ask it
    ),
    Kind(alarms.CLOCK, "Clock difference", Severity.MEDIUM, (roles.ADMIN,), _clocks),
    Kind(
        alarms.CLOCK_FELL_BACK,
        "Clock was set back",
        Severity.HIGH,
        (roles.ADMIN,),
        causes.unwell(alarms.CLOCK_FELL_BACK),
    ),
)

GUARDS: Final = Guards(
    own=(
        Rule(
            table_of(Account),
            "place_fixed",
            "UPDATE",
            edited(["place"]),
            "an account stays at its exchange: its ledger and its keys belong there",
        ),
    ),
)

ROOM: Final = rooms.Room(
    topics={heartbeats.TOPIC: topics.desk_wide},
    checks={
        "clock": Check(_clock, order=115, incident=alarms.CLOCK_FELL_BACK),
        "worker": Check(_worker, order=120, incident=alarms.WORK_STALLED),
        "releases": Check(_releases, order=130, incident=alarms.WORK_STALLED),
        "jobs": Check(_jobs, order=135, incident=alarms.WORK_STALLED),
        "sweeper": Check(_sweeper, order=140, incident=alarms.WORK_STALLED),
    },
    incidents=INCIDENTS,
    guards={"accounts": GUARDS.statements},
    tables=(Table(Account), Table(Fact)),
    idle_tables={
        "exchange_ops.clockreading": "a measurement of the exchange's clock, of which the newest counts for minutes",
        "exchange_ops.followerstate": "how a follower is doing, for pages and readiness",
        "exchange_ops.lease": reasons.LEASE,
        "exchange_ops.checkrun": "what a check found when it last ran; it runs again by itself",
    },
    scopes=_accounts,
)
