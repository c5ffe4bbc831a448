"""What a drill is, and what is read of the desk's rows while one goes on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q

from desk.incidents import states
from desk.incidents.models import Incident
from desk.models import AuditEvent
from exchange_ops.rehearsals.drills.sandbox_control import SandboxControl

LONGEST: Final = timedelta(minutes=30)
EVERY_S: Final = 1.0
_OF_INCIDENTS: Final = (
    "incident",
    "closing",
    "thread:incident",
)  # subjects of the trail, each with an incident's number

_PAYOUT: Final = "withdrawal"


class CannotDrill(Exception):
    """The drill did not begin; the text is one sentence that says what is missing."""


@dataclass(slots=True)
class Scene:
    """One drill as it goes on: the sandbox, when it began, and the way to speak to people and to wait.

    `payout` is the number of the payout that it is about, and `away` are the numbers of the people who are absent in
    it, where it has them.
    """

    control: SandboxControl
    began: datetime
    say: Callable[[str], None]
    pause: Callable[[float], None]
    payout: int | None = None
    away: frozenset[int] = frozenset()

    def wait_until(self, holds: Callable[[], bool], *, seconds: float | None = None) -> bool:
        """Wait until `holds()`, for at most so long where a length is given; whether it does."""
        waited = 0.0
        while not (is_so := holds()) and (seconds is None or waited < seconds):
            self.pause(EVERY_S)
            waited += EVERY_S
        return is_so


@dataclass(frozen=True, slots=True)
class Alarm:
    """What showed that something is wrong, and when."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Drill:
    """One kind of trouble.

    `happens` and `people` say what goes wrong and what people should do. `begin` makes the trouble and may raise
    CannotDrill, `end` takes it away; in between it stays until somebody acts when `until_somebody_acts`, and for
    `lasts` at most. `kinds` are those of its incidents, which say what showed and when it was over unless `alarms` and
    `resolved` do. People act on these incidents and on `subjects`, as the trail names them; of payouts on the scene's
    alone, where it has one. Times count from `starts`, and the drill ends `longest` after it. `findings` are sentences
    about how people acted.
    """

    name: str
    title: str
    happens: str
    people: str
    begin: Callable[[Scene], None]
    end: Callable[[Scene], None]
    alarms: Callable[[Scene], list[Alarm]] | None = None
    resolved: Callable[[Scene], datetime | None] | None = None
    kinds: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    starts: Callable[[Scene], datetime] = lambda scene: scene.began
    findings: Callable[[Scene], list[str]] = lambda scene: []
    until_somebody_acts: bool = False
    lasts: timedelta = LONGEST
    longest: timedelta = LONGEST


def acts(scene: Scene, drill: Drill) -> list[AuditEvent]:
    """What people have done about the drill's incidents and its other subjects since the trouble began, in order."""
    numbers = [row.pk for row in incidents(scene, drill.kinds)]
    about = Q(subject__in=[f"{name}:{number}" for number in numbers for name in _OF_INCIDENTS])
    for name in drill.subjects:
        if name == _PAYOUT and scene.payout is not None:
            about |= Q(subject__in=[f"{name}:{scene.payout}", f"thread:{name}:{scene.payout}"])
        else:
            about |= Q(subject__startswith=f"{name}:") | Q(subject__startswith=f"thread:{name}:")
    return list(AuditEvent.objects.filter(about, at__gte=drill.starts(scene), actor__isnull=False).order_by("seq"))


def alarms_of(scene: Scene, drill: Drill) -> list[Alarm]:
    """What showed that something is wrong since the trouble began, the earliest first."""
    if drill.alarms is not None:
        return drill.alarms(scene)
    return [Alarm(row.created_at, f"{row.title} ({row.reference})") for row in incidents(scene, drill.kinds)]


def resolved_at(scene: Scene, drill: Drill) -> datetime | None:
    """When it was over: the last of its incidents closed or cleared; None while there is none, or one goes on."""
    if drill.resolved is not None:
        return drill.resolved(scene)
    rows = list(incidents(scene, drill.kinds))
    if not rows or any(row.state != states.RESOLVED for row in rows):
        return None
    return max(_ended(row) for row in rows)


def incidents(scene: Scene, kinds: tuple[str, ...]) -> Iterator[Incident]:
    """The incidents of these kinds since the trouble began, the earliest first."""
    yield from Incident.objects.filter(kind__in=kinds, created_at__gte=scene.began).order_by("created_at", "pk")


def _ended(row: Incident) -> datetime:
    event = row.events.filter(to_state=states.RESOLVED).exclude(event="gone").order_by("version").first()
    return row.updated_at if event is None else event.at
