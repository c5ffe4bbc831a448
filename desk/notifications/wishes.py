"""A person's choice of notifications, media and quiet hours: read for their page, and saved from it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import time
from typing import TYPE_CHECKING

from django.db import transaction

from desk import rooms
from desk.actions import entries
from desk.incidents.kinds import Severity
from desk.notifications import mentions, requests
from desk.notifications.finding import INCIDENTS
from desk.notifications.models import Availability, Preference
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


@dataclass(frozen=True, slots=True)
class BrowserKind:
    """A kind that open pages show by themselves, as a note, or in the browser where the person allowed that.

    It is never mailed. `may_get` says whether it can concern a person.
    """

    name: str
    label: str
    may_get: "Callable[[Person], bool]"


@dataclass(frozen=True, slots=True)
class Wish:
    """One kind of notification and by which media a person gets it. Where `is_fixed`, they can't choose.

    Without `is_mailed` it exists in the browser alone.
    """

    kind: str
    label: str
    severity: str
    by_email: bool
    in_browser: bool
    is_fixed: bool
    is_mailed: bool = True

    @property
    def severity_label(self) -> str:
        """The severity as a word; empty for a decision."""
        return Severity(self.severity).label if self.severity else ""


def options(person: "Person") -> list[Wish]:
    """Every kind that can wait for this person: decisions first, then incidents, the gravest first."""
    chosen = {each.kind: each for each in Preference.objects.filter(person=person)}
    kinds = [
        (source.name, source.label, "")
        for source in entries.sources()
        if source.name != INCIDENTS and person.has_role(*source.acts)
    ]
    if any(source.requests is not None and person.has_role(*source.requests.who) for source in entries.sources()):
        kinds.append((requests.KIND, requests.LABEL, ""))
    kinds.append((mentions.KIND, mentions.LABEL, ""))
    ranked = sorted(rooms.incidents(), key=lambda kind: entries.RANKS[kind.severity])
    kinds += [(kind.name, kind.title, str(kind.severity)) for kind in ranked if kind.may_act(person)]
    in_pages = [
        _wish(chosen.get(kind.name), kind.name, kind.label, "", is_mailed=False)
        for kind in rooms.browser_kinds()
        if kind.may_get(person)
    ]
    return [_wish(chosen.get(name), name, label, severity) for name, label, severity in kinds] + in_pages


def in_browser(person: "Person", kind: str) -> bool:
    """Whether this person wants a kind as notifications of the browser: unless they said otherwise."""
    return not Preference.objects.filter(person=person, kind=kind, in_browser=False).exists()


def _wish(chosen: Preference | None, kind: str, label: str, severity: str, *, is_mailed: bool = True) -> Wish:
    is_fixed = severity == Severity.CRITICAL
    return Wish(
        kind=kind,
        label=label,
        severity=severity,
        by_email=is_mailed and (chosen is None or chosen.by_email or is_fixed),
        in_browser=chosen is None or chosen.in_browser or is_fixed,
        is_fixed=is_fixed,
        is_mailed=is_mailed,
    )


@transaction.atomic
def save(
    person: "Person",
    *,
    by_email: Collection[str],
    in_browser: Collection[str],
    quiet: tuple[time | None, time | None],
    turn: int,
) -> None:
    """Save everything; kinds that can't wait for this person are ignored. `quiet` has both hours or neither."""
    Preference.objects.filter(person=person).delete()
    Preference.objects.bulk_create(_departing(person, options(person), by_email, in_browser))
    begins, ends = quiet
    columns = {"quiet_from": begins, "quiet_until": ends, "turn": turn}
    Availability.objects.update_or_create(person=person, defaults=columns)


def _departing(
    person: "Person", wishes: Sequence[Wish], by_email: Collection[str], in_browser: Collection[str]
) -> list[Preference]:
    rows = [
        Preference(
            person=person,
            kind=each.kind,
            by_email=each.kind in by_email or not each.is_mailed,
            in_browser=each.kind in in_browser,
        )
        for each in wishes
        if not each.is_fixed
    ]
    return [row for row in rows if not (row.by_email and row.in_browser)]


def has_turns(person: "Person") -> bool:
    """Whether decisions with a deadline can wait for this person, so that a turn means something."""
    return person.has_role(roles.TREASURY)
