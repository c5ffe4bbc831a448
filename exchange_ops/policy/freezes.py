"""Freezing an account and thawing it. One person or the desk itself freezes an account; two people thaw it.

A freeze releases every undecided hold, revokes approvals that were not acted on, and stops new holds and new orders to
pay. A thaw restores nothing: the digest contains the number of the last freeze, so earlier approvals are void.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol

from django.db import IntegrityError, connection, transaction

from desk.audit import trail
from desk.incidents import review
from desk.live import announcements
from desk.machines import votes
from desk.machines.decisions import Act, Acts
from desk.people import roles
from desk.people.signing import signed_fields
from exchange_ops.policy.models import Freeze, ThawVote
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "thaw-freeze"
VOTES_TO_THAW = 2
_LONGEST_REASON = 500


class CannotFreeze(Exception):
    """The account was not frozen; the text is the sentence for the person."""


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
    """What a room above does when an account is frozen and when that ends, inside the transaction that does so."""

    def lock_open(self, account: Account) -> Sequence[Any]:
        """The rows that a freeze may move, in the order of their numbers, locked where the engine can."""

    def would_release(self, account: Account) -> Sequence[Any]:
        """The rows whose reserved money a freeze would release now."""

    def would_stop(self, account: Account) -> Sequence[Stoppage]:
        """The requests without a hold that a freeze would keep from being sent."""

    def stop(self, row: Any, *, frozen: Freeze, person: "Person | None", now: datetime, session_key: str) -> None:
        """Move one of them."""

    def wake(self, account_id: int, *, now: datetime) -> None:
        """Wake the rows that waited behind the freeze, so that they are judged again."""


_stoppable: list[Stoppable] = []


def register(room: Stoppable) -> None:
    """Declare a room whose rows a freeze moves; called when the app is ready."""
    _stoppable.append(room)


def active(account: Account) -> Freeze | None:
    """The freeze that is on, if there is one."""
    return Freeze.objects.filter(account=account, thawed_at__isnull=True).first()


def of_account(account: Account | None) -> Freeze | None:
    """The account's active freeze; None also for a desk that has no account yet."""
    return None if account is None else active(account)


def latest_number(account_id: int) -> int:
    """The number of the account's last freeze, ended or not; 0 when there never was one."""
    return Freeze.objects.filter(account_id=account_id).order_by("-pk").values_list("pk", flat=True).first() or 0


def freeze(*, person: "Person | None", reason: str, account: Account, now: datetime, session_key: str = "") -> Freeze:
    """Freeze the account now; `person` None is the desk itself. An account that is frozen already stays so."""
    reason = reason.strip()[:_LONGEST_REASON]
    if person is not None and not rules.may_freeze(person, account):
        raise CannotFreeze("Only treasury and administrators can freeze an account.")
    if not reason:
        raise CannotFreeze("Enter a reason for the freeze.")
    with transaction.atomic():
        rows = lock_open(account)
        frozen = active(account) or _begin(account, person, reason, now, session_key)
        for one, locked in rows:
            for row in locked:
                one.stop(row, frozen=frozen, person=person, now=now, session_key=session_key)
    return frozen


def lock_open(account: Account) -> list[tuple[Stoppable, Sequence[Any]]]:
    """Lock every row that a freeze may move, in one order, to the end of the transaction where the engine can.

    Taken before anything is written to the audit trail, so that a freeze and an approval can't wait for each other.
    """
    return [(one, one.lock_open(account)) for one in _stoppable]


def would_release(account: Account) -> list[Any]:
    """The rows whose reserved money a freeze of this account would release now, for whoever is about to freeze it."""
    return [row for one in _stoppable for row in one.would_release(account)]


def would_stop(account: Account) -> list[Stoppage]:
    """The requests without a hold that a freeze of this account would keep from being sent now."""
    return [each for one in _stoppable for each in one.would_stop(account)]


def thaw(
    *, freeze_id: int, person: "Person", answer: dict[str, Any], reason: str, session_key: str, now: datetime
) -> Freeze:
    """Record one person's vote to end the freeze; the second of two different people ends it."""
    act = Act(person, now, session_key, answer=answer)
    THAWS.refuse_while_cooling_off(act)
    reason = THAWS.reason(reason, asks="Enter a reason for lifting the freeze.", longest=_LONGEST_REASON)
    with transaction.atomic():
        frozen = _locked(freeze_id)
        if not rules.may_thaw(person, frozen.account_id):
            raise CannotThaw("Only treasury can lift a freeze.")
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
                one.wake(frozen.account_id, now=now)
    return frozen


def digest_of(frozen: Freeze) -> str:
    """The digest of this freeze and no other. It is signed with the reason for its end (`signed_fields`)."""
    text = f"countersign-thaw-1|{frozen.pk}|{frozen.account_id}|{frozen.frozen_at.isoformat()}|{frozen.reason}"
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


def _begin(account: Account, person: "Person | None", reason: str, now: datetime, session_key: str) -> Freeze:
    try:
        with transaction.atomic():
            frozen = Freeze.objects.create(account=account, reason=reason, frozen_by=person, frozen_at=now)
    except IntegrityError:
        # Somebody else froze it at the same moment, which serves the same purpose.
        return Freeze.objects.get(account=account, thawed_at__isnull=True)
    _record(frozen, "begun", person=person, now=now, session_key=session_key, facts={"reason": reason})
    return frozen


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
    review.review_now(alarms.FROZEN, now=now, key=f"freeze:{frozen.pk}")
