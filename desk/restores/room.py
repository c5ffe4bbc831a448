"""What this room declares to the desk: its topics, guards, replay, check, incidents, what keeps calls back."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from desk import clock
from desk.incidents.kinds import Cause, Kind, Severity
from desk.people import roles
from desk.restores import backup_record, machine, signs, states
from desk.restores.models import Restore, RestoreEvent, RestoreWord
from desk.rooms import Check
from desk.rows import witnessed

if TYPE_CHECKING:
    from desk.models import Person

FELL_BACK: Final = "fell_back"
BACKUP_LATE: Final = "backup-late"
REPLAYS: Final = {machine.REPLAY.subject: machine.REPLAY.check}
GUARDS: Final = {"restores": machine.GUARDS.statements}


def _may_follow(person: "Person", key: str) -> bool:
    return not key and person.has_role(*roles.ALL)


def _may_follow_one(person: "Person", key: str) -> bool:
    return person.has_role(*roles.ALL)


TOPICS: Final = {machine.TOPIC: _may_follow, Restore.name: _may_follow_one}


def _causes(now: datetime, only: str) -> Iterator[Cause]:
    for row in Restore.objects.filter(state=states.OPEN):
        if only in {"", row.subject}:
            as_of = "" if row.as_of is None else f" as of {row.as_of:%Y-%m-%d %H:%M:%S} UTC"
            sentence = (
                f"Nothing is sent: the database is in an earlier state{as_of}, so anything sent later may be missing "
                "from it. Two treasurers must decide on each pending request."
            )
            yield Cause(row.subject, sentence, "restore", str(row.pk))


def _backup_late(now: datetime, only: str) -> Iterator[Cause]:
    answer = backup_record.health()
    if not answer.ok:
        yield Cause("backup", f"Payouts continue. {answer.sentence}", "system")


CHECKS: Final = {"backup": Check(backup_record.health, order=75, incident=BACKUP_LATE)}
KINDS: Final = (
    Kind(
        FELL_BACK,
        "Database restored to an earlier state",
        Severity.CRITICAL,
        (roles.TREASURY, roles.ADMIN),
        _causes,
        closable=False,
        ends="Resolves once two treasurers have decided on each pending request.",
    ),
    Kind(
        BACKUP_LATE,
        "Backup failed or overdue",
        Severity.HIGH,
        (roles.ADMIN,),
        _backup_late,
    ),
)


def why_nothing_leaves() -> str:
    """Asked before every call that moves money: looks for a sign, and says whether a restore is open."""
    return signs.check(now=clock.now())


def register() -> None:
    """Declare the tables; called once at the start."""
    unused = dict.fromkeys(("lease_until", "next_action_at"), "unused: no worker acts on this")
    witnessed.register(Restore, loose=Restore.table.loose | unused)
    witnessed.register(RestoreEvent)
    witnessed.register(RestoreWord)
    witnessed.decides_nothing({"desk.backuprecord": "when the last backup was made; no payout depends on it"})
