"""What people do about watched addresses: watch one, stop, and review movements. All of it is in the audit trail."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from chaindata import rules
from chaindata.headers import tips
from chaindata.shared import addresses
from chaindata.shared.belongings import Belonging, BelongingsByKey
from chaindata.watching import kinds, states
from chaindata.watching.machine import ADDRESSES, MOVEMENTS, TOPIC, CannotMove
from chaindata.watching.models import LONGEST_REASON, OWN, ChainMovement, WatchedAddress
from desk.audit import trail
from desk.incidents import review

if TYPE_CHECKING:
    from desk.models import Person

__all__ = [
    "TOPIC",
    "CannotWatch",
    "belongings",
    "by_id",
    "listing",
    "movements",
    "owners",
    "review_movements",
    "stop",
    "watch",
]

MOST_WATCHED: Final = 200
MOST_REVIEWED: Final = 200  # movements in one go
ONLY_KEEPERS: Final = "Only treasury and administrators with access to all accounts can change watched addresses."
ONLY_REVIEWERS: Final = "Only operators, treasury and administrators with access to all accounts can review movements."


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
        raise CannotWatch("No chain data at the moment, so the starting block is unknown. Try again later.")
    rows = WatchedAddress.objects.filter(state=states.WATCHED)
    if rows.count() >= MOST_WATCHED:
        raise CannotWatch(f"The maximum of {MOST_WATCHED} watched addresses has been reached. Stop watching one first.")
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
        raise CannotWatch(f"This address is already watched as {earlier.title}.") from None
    return row


def stop(*, watched_id: int, reason: str, person: "Person", now: datetime, session_key: str = "") -> WatchedAddress:
    """Stop watching an address. Its movements stay, and those that nobody has reviewed still wait for a review."""
    if not rules.may_watch(person):
        raise CannotWatch(ONLY_KEEPERS)
    row = by_id(watched_id)
    if row is None or row.state != states.WATCHED:
        raise CannotWatch("This address is no longer watched.")
    words = _reason(reason)
    try:
        with transaction.atomic():
            ADDRESSES.move(
                row,
                event="stopped",
                to=states.STOPPED,
                now=now,
                actor=person,
                session_key=session_key,
                reason=words,
            )
            review.review_now(kinds.UNREAD, now=now, key=row.subject)
    except CannotMove:
        raise CannotWatch("A colleague has just stopped watching this address. Refresh the page.") from None
    return row


def review_movements(
    *, watched_id: int, movement_id: int | None, reason: str, person: "Person", now: datetime, session_key: str = ""
) -> int:
    """Review a movement, or without its number all that only received: why it is in order, or what was done about it.

    Returns how many were reviewed; their incidents end in the same transaction. Raises `CannotWatch`.
    """
    if not rules.may_review(person):
        raise CannotWatch(ONLY_REVIEWERS)
    words = _reason(reason)
    selection = Q(pk=movement_id) if movement_id is not None else Q(spends=False)
    waiting = ChainMovement.objects.filter(selection, watched_id=watched_id, state=states.TO_REVIEW)
    with transaction.atomic():
        trail.take_turn()
        rows = list(waiting.select_related("watched").order_by("pk")[:MOST_REVIEWED])
        if not rows:
            raise CannotWatch("Already reviewed.")
        _review(rows, words, person, now, session_key)
    return len(rows)


def _review(rows: Sequence[ChainMovement], words: str, person: "Person", now: datetime, session_key: str) -> None:
    causes = {}
    for row in rows:
        MOVEMENTS.move(
            row, event="reviewed", to=states.REVIEWED, now=now, actor=person, session_key=session_key, reason=words
        )
        causes[kinds.key_of(row)] = kinds.kind_of(row)
    for key, kind in causes.items():
        review.review_now(kind, now=now, key=key)


def listing() -> QuerySet[WatchedAddress]:
    """All addresses, the watched ones first, each with how many movements wait for a review (`waiting`)."""
    rows = WatchedAddress.objects.select_related("added_by")
    waits = Count("movements", filter=Q(movements__state=states.TO_REVIEW))
    return rows.annotate(waiting=waits).order_by("-state", "title", "pk")


def by_id(watched_id: int) -> WatchedAddress | None:
    """One address of the listing."""
    return listing().filter(pk=watched_id).first()


def movements(row: WatchedAddress) -> QuerySet[ChainMovement]:
    """The movements of an address: those to review first, then the newest."""
    return row.movements.order_by("-state", "-pk")


def owners(printed: Collection[str]) -> dict[str, str]:
    """Words for the printed addresses among these that are watched as the company's own."""
    rows = WatchedAddress.objects.filter(state=states.WATCHED, purpose__in=OWN, address__in=printed)
    return {row.address: f"watched address {row.title}" for row in rows}


def belongings(addresses: Collection[str], txids: Collection[str], person: "Person") -> BelongingsByKey:
    """The watched addresses among these, and those whose coins the transactions moved; everybody reads the chain."""
    belongings_by_key: dict[str, list[Belonging]] = defaultdict(list)
    rows = WatchedAddress.objects.filter(state=states.WATCHED, address__in=addresses) if addresses else ()
    for row in rows:
        belongings_by_key[row.address].append(Belonging(f"watched as {row.title}", _page(row.pk), watches=True))
    moves = ChainMovement.objects.filter(txid__in=txids).select_related("watched") if txids else ()
    for movement in moves:
        words = f"movement of {movement.watched.title}, {movement.label.lower()}"
        belongings_by_key[movement.txid].append(Belonging(words, _page(movement.watched_id)))
    return belongings_by_key


def _page(number: int) -> str:
    return reverse("chain-watched-address", args=[number])


def _reason(text: str) -> str:
    words = text.strip()
    if not words or len(words) > LONGEST_REASON:
        raise CannotWatch(f"Enter a reason of up to {LONGEST_REASON} characters. It is recorded in the audit trail.")
    return words
