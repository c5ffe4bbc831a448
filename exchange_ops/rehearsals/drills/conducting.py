"""One drill from its trouble to its end: what showed when, who did what, and the record that is kept of it."""

import contextlib
import fcntl
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from desk.audit import words
from desk.models import AuditEvent
from exchange_ops.rehearsals import spans
from exchange_ops.rehearsals.drills.sandbox_control import SandboxControl
from exchange_ops.rehearsals.drills.scene import EVERY_S, Alarm, CannotDrill, Drill, Scene, acts, alarms_of, resolved_at

FOLDER: Final = "drills"


@dataclass(frozen=True, slots=True)
class Act:
    """What a person did: when, who, and the sentence of the audit trail."""

    at: str
    who: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Record:
    """How one drill went. Times are ISO 8601; those of what never happened are empty."""

    drill: str
    title: str
    began: str
    alarm: str
    alarm_text: str
    person: str
    person_name: str
    resolved: str
    acts: list[Act]
    findings: list[str]


def conduct(
    drill: Drill,
    *,
    control: SandboxControl,
    say: Callable[[str], None],
    now: Callable[[], datetime],
    pause: Callable[[float], None],
) -> Record:
    """Make the trouble, watch the desk's rows until it is over or its longest time has passed, and take it away.

    `say` gets each piece of news once. An interruption ends the drill as it is. Raises CannotDrill, CannotControl.
    """
    control.clear_faults()
    scene = Scene(control, now(), say, pause)
    say(f"{drill.title}. {drill.happens}")
    say(f"What people should do: {drill.people}")
    watch = _Watch(drill, scene, say)
    try:
        drill.begin(scene)
        say(f"{drill.starts(scene):%H:%M:%S} UTC  begun")
        while not watch.is_over(now()):
            pause(EVERY_S)
    except KeyboardInterrupt:
        say("Stopped before the trouble was over.")
    finally:
        drill.end(scene)
    return watch.record()


@dataclass(slots=True)
class _Watch:
    """What has been said of a drill so far."""

    drill: Drill
    scene: Scene
    say: Callable[[str], None]
    alarms: int = 0
    acts: int = 0
    is_relieved: bool = False

    def is_over(self, now: datetime) -> bool:
        """Say what is new; whether nothing more is to come."""
        alarms, people = alarms_of(self.scene, self.drill), acts(self.scene, self.drill)
        for alarm in alarms[self.alarms :]:
            self._tell(alarm.at, f"alarm: {alarm.text}")
        for act in _in_words(people)[self.acts :]:
            self._tell(datetime.fromisoformat(act.at), act.sentence)
        self.alarms, self.acts = len(alarms), len(people)
        lasted = now - self.drill.starts(self.scene)
        has_lasted = lasted >= self.drill.lasts
        if not self.is_relieved and (has_lasted or (self.drill.until_somebody_acts and people)):
            self.is_relieved = True
            self.drill.end(self.scene)
            self._tell(now, "the trouble was taken away")
        resolved = resolved_at(self.scene, self.drill)
        if resolved is not None:
            self._tell(resolved, "resolved")
        return resolved is not None or lasted >= self.drill.longest

    def record(self) -> Record:
        """How it went, read again from the rows."""
        alarms, people = alarms_of(self.scene, self.drill), _in_words(acts(self.scene, self.drill))
        first_alarm: Alarm | None = alarms[0] if alarms else None
        resolved = resolved_at(self.scene, self.drill)
        return Record(
            drill=self.drill.name,
            title=self.drill.title,
            began=_text(self.drill.starts(self.scene)),
            alarm="" if first_alarm is None else _text(first_alarm.at),
            alarm_text="" if first_alarm is None else first_alarm.text,
            person=people[0].at if people else "",
            person_name=people[0].who if people else "",
            resolved="" if resolved is None else _text(resolved),
            acts=people,
            findings=self.drill.findings(self.scene),
        )

    def _tell(self, at: datetime, what: str) -> None:
        after = spans.spoken(at - self.drill.starts(self.scene))
        self.say(f"{at:%H:%M:%S} UTC  {what} (after {after})")


def summary(record: Record) -> list[str]:
    """The record in sentences."""
    began = datetime.fromisoformat(record.began)

    def after(at: str) -> str:
        return f"after {spans.spoken(datetime.fromisoformat(at) - began)}" if at else "never"

    who = f", {record.person_name}" if record.person_name else ""
    what = f", {record.alarm_text}" if record.alarm_text else ""
    return [
        f"{record.title}, {began:%Y-%m-%d %H:%M} UTC",
        f"  first alarm   {after(record.alarm)}{what}",
        f"  first person  {after(record.person)}{who}",
        f"  resolved      {after(record.resolved)}",
        *(f"  {act.sentence} ({after(act.at)})" for act in record.acts),
        *(f"  {finding}" for finding in record.findings),
    ]


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder for one drill: a second one would take the first one's trouble away. Raises CannotDrill."""
    place = folder / FOLDER
    place.mkdir(mode=0o700, exist_ok=True)
    with (place / "lock").open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotDrill("Another drill is being held in this rehearsal. Wait for its end, or stop it.") from None
        yield


def keep(record: Record, folder: Path) -> Path:
    """Keep the record in the rehearsal's folder."""
    began = datetime.fromisoformat(record.began)
    path = folder / FOLDER / f"{began:%Y%m%dT%H%M%S}-{record.drill}.json"
    path.write_text(json.dumps(asdict(record), indent=1) + "\n")
    return path


def kept_in(folder: Path) -> list[Record]:
    """The records of the drills so far, the earliest first; a file that is none is left out."""
    records = []
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            content = json.loads(path.read_text())
            records.append(Record(**{**content, "acts": [Act(**act) for act in content["acts"]]}))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return records


def _in_words(events: list[AuditEvent]) -> list[Act]:
    telling = words.telling(events)
    return [Act(_text(event.at), telling.who(event), telling.sentence(event)) for event in events]


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
