"""What people do about watched addresses: watch one, stop, and review what moved. All of it is in the audit trail."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet

from chaindata import rules
from chaindata.headers import tip as tips
from chaindata.shared import addresses
from chaindata.watching import kinds, machine
from chaindata.watching.models import LONGEST_REASON, OWN, ChainMovement, WatchedAddress
from chaindata.watching.mover import ADDRESSES, MOVEMENTS, TOPIC, CannotMove
from desk.audit import trail
from desk.incidents import review as incidents

if TYPE_CHECKING:
    from collections.abc import Collection

    from desk.models import Person

__all__ = ["TOPIC", "CannotWatch", "listed", "movements", "owners", "review", "stop", "watch", "watched"]

MOST_WATCHED: Final = 200
MOST_REVIEWED: Final = 200  # movements in one go
ONLY_KEEPERS: Final = "Only treasury and administrators of the whole desk decide what is watched."
ONLY_REVIEWERS: Final = "Only operators, treasury and administrators of the whole desk review movements."


class CannotWatch(Exception):
    """Nothing was changed; the text is the sentence for the person."""


def watch(
    *, address: str, title: str, purpose: str, note: str, person: "Person", now: datetime, session_key: str = ""
) -> WatchedAddress:
    """Watch an address from this moment on. Raises `CannotWatch`, and `addresses.NotAnAddress` with a sentence."""
    if not rules.may_watch(person):
        raise CannotWatch(ONLY_KEEPERS)
    printed = addresses.printed(address)
    tip = tips.tip(now)
    if tip is None or not tip.is_current:
        raise CannotWatch("The chain can't be read at the moment, so it isn't known from which block on to watch.")
    rows = WatchedAddress.objects.filter(state=machine.WATCHED)
    if rows.count() >= MOST_WATCHED:
        raise CannotWatch(f"{MOST_WATCHED} addresses are watched already. Stop watching one first.")
    height = {"from_height": tip.height, "settled_height": tip.height}
    words = {"title": title.strip(), "purpose": purpose, "note": note.strip()}
    row = WatchedAddress(address=printed, added_by=person, **words, **height)
    try:
        with transaction.atomic():
            ADDRESSES.create(row, event="began", now=now, actor=person, session_key=session_key)
    except IntegrityError:
        earlier = rows.filter(address=printed).first()
        if earlier is None:
            raise
        raise CannotWatch(f"This address is watched already, as {earlier.title}.") from None
    return row


def stop(*, watched_id: int, reason: str, person: "Person", now: datetime, session_key: str = "") -> WatchedAddress:
    """Watch it no more. Its movements stay, and those that nobody reviewed still wait for somebody."""
    if not rules.may_watch(person):
        raise CannotWatch(ONLY_KEEPERS)
    row = watched(watched_id)
    if row is None or row.state != machine.WATCHED:
        raise CannotWatch("It isn't watched any more.")
    words = _reason(reason)
    try:
        with transaction.atomic():
            ADDRESSES.move(
                row,
                event="stopped",
                to=machine.STOPPED,
                now=now,
                actor=person,
                session_key=session_key,
                reason=words,
            )
            incidents.review_now(kinds.UNREAD, now=now, key=row.subject)
    except CannotMove:
        raise CannotWatch("Somebody else changed it in the same moment. Read it again.") from None
    return row


def review(
    *, watched_id: int, movement_id: int | None, reason: str, person: "Person", now: datetime, session_key: str = ""
) -> int:
    """Say why a movement is in order, or what was done about it; without a number, of all that only received.

    How many were reviewed; their incidents end with it, in the same transaction. Raises `CannotWatch`.
    """
    if not rules.may_review(person):
        raise CannotWatch(ONLY_REVIEWERS)
    words = _reason(reason)
    chosen = Q(pk=movement_id) if movement_id is not None else Q(spends=False)
    waiting = ChainMovement.objects.filter(chosen, watched_id=watched_id, state=machine.SEEN)
    with transaction.atomic():
        trail.take_turn()
        rows = list(waiting.select_related("watched").order_by("pk")[:MOST_REVIEWED])
        if not rows:
            raise CannotWatch("It was reviewed already.")
        _reviewed(rows, words, person, now, session_key)
    return len(rows)


def _reviewed(rows: Sequence[ChainMovement], words: str, person: "Person", now: datetime, session_key: str) -> None:
    causes = {}
    for row in rows:
        MOVEMENTS.move(
            row, event="reviewed", to=machine.REVIEWED, now=now, actor=person, session_key=session_key, reason=words
        )
        causes[kinds.key_of(row)] = kinds.of(row)
    for key, kind in causes.items():
        incidents.review_now(kind, now=now, key=key)


def listed() -> QuerySet[WatchedAddress]:
    """All, what is watched first, each with how many movements wait for somebody (`waiting`)."""
    rows = WatchedAddress.objects.select_related("added_by")
    waits = Count("movements", filter=Q(movements__state=machine.SEEN))
    return rows.annotate(waiting=waits).order_by("-state", "title", "pk")


def watched(watched_id: int) -> WatchedAddress | None:
    """One of them."""
    return listed().filter(pk=watched_id).first()


def of_address(printed: str) -> WatchedAddress | None:
    """The row that watches this printed address now."""
    return WatchedAddress.objects.filter(address=printed, state=machine.WATCHED).first()


def movements(row: WatchedAddress) -> QuerySet[ChainMovement]:
    """What moved there, what waits for a person first, then the newest."""
    return row.movements.order_by("-state", "-pk")


def owners(wanted: "Collection[str]") -> dict[str, str]:
    """Words for those of the printed addresses that are watched as the company's own."""
    rows = WatchedAddress.objects.filter(state=machine.WATCHED, purpose__in=OWN, address__in=wanted)
    return {row.address: f"watched address {row.title}" for row in rows}


def _reason(text: str) -> str:
    words = text.strip()
    if not words or len(words) > LONGEST_REASON:
        raise CannotWatch(f"Say why, in at most {LONGEST_REASON} characters; it goes into the audit trail.")
    return words
