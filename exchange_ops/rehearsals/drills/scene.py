"""What a drill is, and what is read of the desk's rows while one goes on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q

from desk.incidents import states
from desk.incidents.models import Incident
from desk.models import AuditEvent
from exchange_ops.rehearsals.drills.sandbox_control import SandboxControl

LONGEST: Final = timedelta(minutes=30)


class CannotDrill(Exception):
    """The drill did not begin; the text is one sentence that says what is missing."""


@dataclass(slots=True)
class Scene:
    """One drill as it goes on: the sandbox, when its trouble began, and what the drill remembers of it."""

    control: SandboxControl
    began: datetime
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alarm:
    """What showed that something is wrong, and when."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Drill:
    """One kind of trouble.

    `happens` and `people` say what goes wrong and what people should do. `begin` makes the trouble and may raise
    CannotDrill, `end` takes it away. `alarms` and `resolved` read rows: what showed, and when it was over. Times count
    from `starts`. `findings` are sentences about how people acted, `subjects` the kinds of objects that their acts are
    about. The trouble stays until somebody acts when `until_somebody_acts`, and for `lasts` at most.
    """

    name: str
    title: str
    happens: str
    people: str
    begin: Callable[[Scene], None]
    end: Callable[[Scene], None]
    alarms: Callable[[Scene], list[Alarm]]
    resolved: Callable[[Scene], datetime | None]
    subjects: tuple[str, ...]
    starts: Callable[[Scene], datetime] = lambda scene: scene.began
    findings: Callable[[Scene], list[str]] = lambda scene: []
    until_somebody_acts: bool = False
    lasts: timedelta = LONGEST


def acts(scene: Scene, drill: Drill) -> list[AuditEvent]:
    """What people have done about the drill's kinds of objects since the trouble began, the earliest first."""
    about = Q()
    for name in drill.subjects:
        about |= Q(subject__startswith=f"{name}:") | Q(subject__startswith=f"thread:{name}:")
    return list(AuditEvent.objects.filter(about, at__gte=drill.starts(scene), actor__isnull=False).order_by("seq"))


def alarms_of(*kinds: str) -> Callable[[Scene], list[Alarm]]:
    """The incidents of these kinds since the trouble began."""

    def read(scene: Scene) -> list[Alarm]:
        return [Alarm(row.created_at, f"{row.title} ({row.reference})") for row in incidents(scene, kinds)]

    return read


def resolved_with(*kinds: str) -> Callable[[Scene], datetime | None]:
    """When the last of the incidents of these kinds was closed or cleared; None while there is none, or one goes on."""

    def read(scene: Scene) -> datetime | None:
        rows = list(incidents(scene, kinds))
        if not rows or any(row.state != states.RESOLVED for row in rows):
            return None
        return max(_ended(row) for row in rows)

    return read


def incidents(scene: Scene, kinds: tuple[str, ...]) -> Iterator[Incident]:
    """The incidents of these kinds since the trouble began, the earliest first."""
    yield from Incident.objects.filter(kind__in=kinds, created_at__gte=scene.began).order_by("created_at", "pk")


def _ended(row: Incident) -> datetime:
    event = row.events.filter(to_state=states.RESOLVED).exclude(event="gone").order_by("version").first()
    return row.updated_at if event is None else event.at
