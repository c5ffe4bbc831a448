"""Freezing an account, a currency, a destination or everything. One person or the desk itself freezes; two people thaw.

A freeze releases every undecided hold that it covers, revokes approvals that were not acted on, and stops new holds and
new orders to pay. A thaw restores nothing: the digest contains the number of the last freeze that covered the request,
so earlier approvals are void. What a freeze covers is decided in `freeze_scopes` alone; `stopping` is the one gate.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from django.db import IntegrityError, connection, transaction
from django.db.models import Q, QuerySet

from desk.audit import trail
from desk.incidents import review
from desk.live import announcements
from desk.machines import votes
from desk.machines.decisions import Act, Acts
from desk.people import roles
from desk.people.signing import signed_fields
from exchange_ops.policy.freeze_scopes import Movement, covers
from exchange_ops.policy.models import Freeze, ThawVote
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "thaw-freeze"
VOTES_TO_THAW = 2
_LONGEST_REASON = 500
_EVERY_ACCOUNT = "for all accounts, because it holds at every account."
_NOT_THEIRS: Final = {
    False: "Only treasury and administrators can freeze an account.",
    True: f"Not frozen: this freeze needs treasury or an administrator {_EVERY_ACCOUNT}",
}
_NOT_LIFTED: Final = {
    False: "Only treasury can lift a freeze.",
    True: f"Not lifted: this freeze needs two treasurers {_EVERY_ACCOUNT}",
}


class CannotFreeze(Exception):
    """Nothing was frozen; the text is the sentence for the person."""


class CannotThaw(Exception):
    """The freeze goes on; the text is the sentence for the person."""


THAWS: Final = Acts(PURPOSE, CannotThaw)


@dataclass(frozen=True, slots=True)
class Stoppage:
    """A request without a hold that a freeze keeps from being sent: `effect` says what becomes of it.

    `url` is the address of its page, `content` what it is about, in one line.
    """

    reference: str
    url: str
    content: str
    effect: str


class Stoppable(Protocol):
    """What a room above does when a freeze begins and when it ends, inside the transaction that does so.

    The freezes it is asked about may be unsaved: those that somebody is about to order.
    """

    def lock_open(self, freeze: Freeze) -> Sequence[Any]:
        """The rows that the freeze may move, in the order of their numbers, locked where the engine can."""

    def would_release(self, freeze: Freeze) -> Sequence[Any]:
        """The rows whose reserved money the freeze would release now."""

    def would_stop(self, freeze: Freeze) -> Sequence[Stoppage]:
        """The requests without a hold that the freeze would keep from being sent."""

    def stop(self, row: Any, *, frozen: Freeze, person: "Person | None", now: datetime, session_key: str) -> None:
        """Move one of them."""

    def wake(self, freeze: Freeze, *, now: datetime) -> None:
        """Wake the rows that waited behind the freeze, so that they are judged again."""


_stoppable: list[Stoppable] = []


def register(room: Stoppable) -> None:
    """Declare a room whose rows a freeze moves; called when the app is ready."""
    _stoppable.append(room)


def stopping(movement: Movement) -> Freeze | None:
    """The active freeze that stops this movement, the oldest of several: the gate that every room asks."""
    rows = _concerning(movement.account).filter(thawed_at__isnull=True).order_by("pk")
    return next((row for row in rows if covers(row, movement)), None)


def of_movement(movement: Movement) -> list[Freeze]:
    """Every freeze that ever covered this movement, the oldest first; those that were lifted have `thawed_at`."""
    rows = _concerning(movement.account).select_related("frozen_by").order_by("pk")
    return [row for row in rows if covers(row, movement)]


def obstacle(movement: Movement) -> str:
    """Why the movement may not go on now, or an empty text."""
    frozen = stopping(movement)
    return "" if frozen is None else frozen.sentence


def late_obstacle(movement: Movement) -> str:
    """The same for a freeze that began between the last look and the claim of a call."""
    frozen = stopping(movement)
    return "" if frozen is None else f"Not sent: {frozen.covered} was frozen just before sending."


def no_approval(movement: Movement) -> str:
    """Why the movement can't be approved while it is frozen, or an empty text."""
    frozen = stopping(movement)
    return "" if frozen is None else f"{frozen.title}, so nothing can be approved. Two treasurers can lift the freeze."


def active(account: Account) -> Freeze | None:
    """The active freeze of the account itself, whatever else is frozen."""
    return Freeze.objects.filter(account=account, thawed_at__isnull=True).first()


def active_at(account: Account | None) -> list[Freeze]:
    """Every active freeze that stops something at the account: its own, and those across accounts, the oldest first."""
    return [] if account is None else list(_concerning(account.pk).filter(thawed_at__isnull=True).order_by("pk"))


def across_accounts() -> list[Freeze]:
    """The active freezes that hold at every account, the oldest first."""
    rows = Freeze.objects.filter(account__isnull=True, thawed_at__isnull=True)
    return list(rows.select_related("frozen_by").order_by("pk"))


def latest_number(movement: Movement) -> int:
    """The number of the last freeze that covered the movement, ended or not; 0 when there never was one."""
    rows = _concerning(movement.account).order_by("-pk")
    return next((row.pk for row in rows if covers(row, movement)), 0)


def _concerning(account_id: int) -> QuerySet[Freeze]:
    """The freezes that can cover something at the account."""
    return Freeze.objects.filter(Q(account_id=account_id) | Q(account__isnull=True))


def freeze(*, person: "Person | None", reason: str, account: Account, now: datetime, session_key: str = "") -> Freeze:
    """Freeze the account now; `person` None is the desk itself. An account that is frozen already stays so."""
    return begin(Freeze(account=account), person=person, reason=reason, now=now, session_key=session_key)


def begin(new: Freeze, *, person: "Person | None", reason: str, now: datetime, session_key: str = "") -> Freeze:
    """Begin this unsaved freeze; one of the same that is active stays as it is. Raises CannotFreeze.

    What holds at every account is ordered by somebody whose role is limited to none of them.
    """
    reason = reason.strip()[:_LONGEST_REASON]
    if person is not None and not rules.may_order_freeze(person, new.scope):
        raise CannotFreeze(_NOT_THEIRS[new.account_id is None])
    if not reason:
        raise CannotFreeze("Enter a reason for the freeze.")
    with transaction.atomic():
        rows = lock_open(new)
        frozen = same(new) or _begin(new, person, reason, now, session_key)
        for one, locked in rows:
            for row in locked:
                one.stop(row, frozen=frozen, person=person, now=now, session_key=session_key)
    return frozen


def same(new: Freeze) -> Freeze | None:
    """The active freeze of exactly the same, if there is one."""
    rows = Freeze.objects.filter(kind=new.kind, currency=new.currency, destination=new.destination)
    rows = rows.filter(account__isnull=True) if new.account_id is None else rows.filter(account=new.account_id)
    return rows.filter(thawed_at__isnull=True).first()


def lock_open(freeze: Freeze) -> list[tuple[Stoppable, Sequence[Any]]]:
    """Lock every row that a freeze may move, in one order, to the end of the transaction where the engine can.

    Taken before anything is written to the audit trail, so that a freeze and an approval can't wait for each other.
    """
    return [(one, one.lock_open(freeze)) for one in _stoppable]


def would_release(freeze: Freeze) -> list[Any]:
    """The rows whose reserved money this freeze would release now, for whoever is about to order it."""
    return [row for one in _stoppable for row in one.would_release(freeze)]


def would_stop(freeze: Freeze) -> list[Stoppage]:
    """The requests without a hold that this freeze would keep from being sent now."""
    return [each for one in _stoppable for each in one.would_stop(freeze)]


def thaw(
    *, freeze_id: int, person: "Person", answer: dict[str, Any], reason: str, session_key: str, now: datetime
) -> Freeze:
    """Record one person's vote to end the freeze; the second of two different people ends it."""
    act = Act(person, now, session_key, answer=answer)
    THAWS.refuse_while_cooling_off(act)
    reason = THAWS.reason(reason, asks="Enter a reason for lifting the freeze.", longest=_LONGEST_REASON)
    with transaction.atomic():
        frozen = _locked(freeze_id)
        if not rules.may_lift_freeze(person, frozen.scope):
            raise CannotThaw(_NOT_LIFTED[frozen.account_id is None])
        confirmation = THAWS.confirm(replace(act, digest=_signed_digest(frozen, reason)))
        try:
            with transaction.atomic():
                ThawVote.objects.create(freeze=frozen, person=person, reason=reason, confirmation=confirmation, at=now)
        except IntegrityError:
            raise CannotThaw("You already approved lifting this freeze. A second treasurer must approve too.") from None
        count = _votes(frozen)
        ended = count >= VOTES_TO_THAW
        if ended and not Freeze.objects.filter(pk=frozen.pk, thawed_at__isnull=True).update(thawed_at=now):
            raise CannotThaw("This freeze was already lifted.")
        frozen.thawed_at = now if ended else None
        facts = {"reason": reason, "votes": count, **confirmation.evidence()}
        action = "thawed" if ended else "thaw_agreed"
        _record(frozen, action, person=person, now=now, session_key=session_key, facts=facts)
        if ended:
            for one in _stoppable:
                one.wake(frozen, now=now)
    return frozen


def digest_of(frozen: Freeze) -> str:
    """The digest of this freeze and no other. It is signed with the reason for its end (`signed_fields`)."""
    text = f"countersign-thaw-1|{frozen.pk}|{frozen.account_id}|{frozen.frozen_at.isoformat()}|{frozen.reason}"
    if frozen.kind != Freeze.ACCOUNT:
        text = f"{text}|{frozen.kind}|{frozen.currency}|{frozen.destination}"
    return hashlib.sha256(text.encode()).hexdigest()


def _signed_digest(frozen: Freeze, reason: str) -> str:
    return signed_fields.bind(digest_of(frozen), {signed_fields.COMMENT: reason})


def _votes(frozen: Freeze) -> int:
    """How many people provably agreed to end it."""
    words, digest = ThawVote.objects.filter(freeze=frozen), digest_of(frozen)
    proven = votes.among(
        words,
        purpose=PURPOSE,
        digests=lambda word: signed_fields.countable(digest, {signed_fields.COMMENT: word.reason}),
    )
    return votes.people(votes.of_those_who_may(proven, role=roles.TREASURY, scope=frozen.scope))


def _locked(freeze_id: int) -> Freeze:
    rows = Freeze.objects.select_related("account").filter(pk=freeze_id)
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    frozen = rows.first()
    if frozen is None:
        raise CannotThaw("Freeze not found.")
    if frozen.thawed_at is not None:
        raise CannotThaw(f"This freeze was already lifted at {frozen.thawed_at:%H:%M:%S} UTC.")
    return frozen


def _begin(new: Freeze, person: "Person | None", reason: str, now: datetime, session_key: str) -> Freeze:
    new.reason, new.frozen_by, new.frozen_at = reason, person, now
    try:
        with transaction.atomic():
            new.save(force_insert=True)
    except IntegrityError:
        # Somebody else froze it at the same moment, which serves the same purpose.
        if (frozen := same(new)) is None:
            raise
        return frozen
    facts = {"reason": reason, **({} if new.kind == Freeze.ACCOUNT else {"scope": new.covered})}
    _record(new, "begun", person=person, now=now, session_key=session_key, facts=facts)
    return new


def _record(
    frozen: Freeze, action: str, *, person: "Person | None", now: datetime, session_key: str, facts: dict[str, Any]
) -> None:
    trail.record(
        actor=person,
        action=f"freeze.{action}",
        subject=f"freeze:{frozen.pk}",
        before={},
        after={"account": frozen.account_id, "active": frozen.thawed_at is None, **facts},
        now=now,
        session_key=session_key,
    )
    announcements.announce("freezes", id=frozen.pk, active=frozen.thawed_at is None)
    alarm = alarms.FROZEN if frozen.kind == Freeze.ACCOUNT else alarms.FROZEN_ACROSS
    review.review_now(alarm, now=now, key=f"freeze:{frozen.pk}")
