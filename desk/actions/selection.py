"""Decisions on chosen requests: each is shown whole, one second factor signs the exact list, and each is judged alone.

A room declares what can be decided in a selection (`desk.rooms.Room.selectable`). The page that shows the requests
gives a mark of what it showed; only what is in the mark can be decided. Then each request is decided by its room's own
rules, in a transaction of its own, as if it were decided on its page: one that is refused stops no other.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.core import signing
from django.db import DatabaseError, transaction

from desk import rooms
from desk.machines.decisions import Act
from desk.machines.rows import Subject
from desk.people import stepup
from desk.people.signing import signed_lists
from desk.people.signing.signed_lists import APPROVE, MOST, REJECT, Decision

if TYPE_CHECKING:
    from desk.models import Person

SHOWN_SECONDS: Final = 3600  # how long a review may lie open
_SALT: Final = "desk.selection"
_log = structlog.get_logger(__name__)


class CannotDecide(Exception):
    """Nothing of the selection was decided; the text is the sentence for the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One request as it is shown whole before it is decided in a selection, with what its own page shows.

    `row` is the row of its machine, `template` draws it from the card, and a decision is bound to `digest`. `purpose`
    is what an approval at the row's stage is confirmed for. `why_not` is why this person can't approve it, empty where
    they can; `may_reject` says whether they can reject it. The labels say what each does.
    """

    row: Any
    template: str
    digest: str
    purpose: str
    approve_label: str
    reject_label: str
    why_not: str = ""
    may_reject: bool = True
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selectable:
    """The requests of one machine that can be decided in a selection.

    `cards` gives those of these numbers that the person may see. `approve` and `reject` are the room's own decisions,
    which take the number of the row as `owner`. Both raise the room's own `refusals`. `outcomes` are sentences on the
    money after a decision, by the state that it led to; any other state speaks for itself.
    """

    model: type[Subject]
    owner: str
    cards: "Callable[[Person, Collection[int], datetime], Mapping[int, Card]]"
    approve: Callable[..., Subject]
    reject: Callable[..., Subject]
    refusals: tuple[type[Exception], ...]
    outcomes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one decision: the sentence begins with what happened to the money."""

    subject: str
    reference: str
    is_done: bool
    sentence: str


def names() -> frozenset[str]:
    """The names of subjects that can be decided in a selection."""
    return frozenset(_by_name())


def cards(person: "Person", subjects: Iterable[str], *, now: datetime, scope: str = "") -> list[Card]:
    """The requests that are shown, in the order of the subjects, each once, without those that this person can't see.

    With a `scope` only requests of that account. Raises CannotDecide for more than `MOST`.
    """
    keys = list(dict.fromkeys(filter(None, map(_parsed, subjects))))
    if len(keys) > MOST:
        raise CannotDecide(f"No decisions recorded. Select up to {MOST} requests.")
    kinds = _by_name()
    by_key: dict[tuple[str, int], Card] = {}
    for name, each in kinds.items():
        numbers = [number for kind, number in keys if kind == name]
        if numbers:
            by_key |= {(name, number): card for number, card in each.cards(person, numbers, now).items()}
    return [by_key[key] for key in keys if key in by_key and scope in {"", by_key[key].row.scope}]


def mark_of(person: "Person", cards: Iterable[Card]) -> str:
    """What the review showed to this person, as a signed text that comes back with the decisions."""
    entries = [[card.row.subject, card.digest, card.purpose] for card in cards]
    return signing.dumps([person.pk, entries], salt=_SALT, compress=True)


def purposes(person: "Person", mark: str) -> dict[str, str]:
    """What an approval of each request that this mark shows is confirmed for. Empty for no mark of this person."""
    try:
        return {subject: purpose for subject, (_, purpose) in _read(person, mark).items()}
    except CannotDecide:
        return {}


def checked(person: "Person", decisions: Sequence[Decision], *, mark: str) -> str:
    """The text of the list that is signed. Raises CannotDecide for an impossible list, or for what was not shown."""
    if not decisions:
        raise CannotDecide("No decisions recorded. Tick each request you want to decide on.")
    if len(decisions) > MOST:
        raise CannotDecide(f"No decisions recorded. Select up to {MOST} requests.")
    if len({each.subject for each in decisions}) != len(decisions):
        raise CannotDecide("No decisions recorded. A request was listed twice. Review the selection again.")
    on_page = _read(person, mark)
    for each in decisions:
        if on_page.get(each.subject) != (each.digest, each.purpose):
            raise CannotDecide(
                "No decisions recorded. The list contains a request that was not shown. Review it again."
            )
        if each.verdict not in {APPROVE, REJECT}:
            raise CannotDecide("No decisions recorded. Choose approve or reject for each ticked request.")
        if each.verdict == REJECT and not each.comment.strip():
            raise CannotDecide("No decisions recorded. Enter a reason for each request you reject.")
    return signed_lists.text_of(decisions)


def decide(decisions: Sequence[Decision], *, act: Act, mark: str, clock: Callable[[], datetime]) -> list[Outcome]:
    """Confirm the list with one second factor, then decide on each request by itself, in the order of the list.

    `act` has the person, their session and their answer. Raises CannotDecide, or `stepup.CannotConfirm`; then nothing
    was decided. Afterwards each request has its outcome, and none is decided whose content is not what was shown.
    """
    text = checked(act.person, decisions, mark=mark)
    with transaction.atomic():
        signature = stepup.verify(
            person=act.person,
            purpose=signed_lists.PURPOSE,
            digest=signed_lists.digest_of(text),
            answer=act.answer,
            session_key=act.session_key,
            now=act.now,
            listed=text,
        )
    places = [signed_lists.Place(signature, position) for position in range(len(decisions))]
    pairs = zip(decisions, places, strict=True)
    return list(starmap(lambda each, place: _decided(each, place, act, clock()), pairs))


def _decided(decision: Decision, place: signed_lists.Place, act: Act, now: datetime) -> Outcome:
    name, _, number = decision.subject.partition(":")
    kind = _by_name()[name]
    model: Any = kind.model
    reference = model(pk=int(number)).reference
    common = {kind.owner: int(number), "person": act.person, "session_key": act.session_key, "now": now}
    refusals: tuple[type[Exception], ...] = (*kind.refusals, stepup.CannotConfirm)
    try:
        if decision.verdict == APPROVE:
            row = kind.approve(digest=decision.digest, answer=place.answer, comment=decision.comment, **common)
        else:
            row = kind.reject(digest=decision.digest, reason=decision.comment, **common)
    except refusals as problem:
        return Outcome(decision.subject, reference, False, f"Not decided. {problem}")
    except DatabaseError as problem:
        _log.exception("selection.not_recorded", subject=decision.subject, reason=type(problem).__name__)
        sentence = "The decision could not be recorded. Open the request to check its status, then decide there."
        return Outcome(decision.subject, reference, False, sentence)
    sentence = kind.outcomes.get(row.state, row.sentence)
    return Outcome(decision.subject, reference, True, sentence)


def _read(person: "Person", mark: str) -> dict[str, tuple[str, str]]:
    """For each request that this mark says was shown to this person the digest and the purpose that were shown."""
    try:
        number, entries = signing.loads(mark, salt=_SALT, max_age=SHOWN_SECONDS)
    except signing.SignatureExpired:
        raise CannotDecide("No decisions recorded. This page is more than an hour old. Review it again.") from None
    except signing.BadSignature:
        raise CannotDecide(
            "No decisions recorded. This page was opened in another session. Review the selection again."
        ) from None
    if number != person.pk:
        return {}
    return {subject: (digest, purpose) for subject, digest, purpose in entries}


def _by_name() -> dict[str, Selectable]:
    return {each.model.name: each for each in rooms.selectable()}


def _parsed(subject: str) -> tuple[str, int] | None:
    name, _, number = subject.partition(":")
    is_number = number.isascii() and number.isdigit() and 0 < len(number) <= 15
    return (name, int(number)) if is_number and name in names() else None
