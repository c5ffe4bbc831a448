"""Holds that are still open at the exchange although their request is closed, reported until they are gone.

The machine by itself releases what was never ordered to be paid (`orphans`). Once an order to pay has left, it sends
nothing more: two people closed the case from the evidence, and two people of treasury order the release of what is
still open. What follows is a DELETE, repeated until the ledger shows the end, and never a PUT: no move leads from a
closed request to an order to pay.
"""

import hashlib
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from desk import outbox
from desk.audit import trail
from desk.live import announcements
from desk.machines import votes
from desk.machines.decisions import Act, Decisions
from desk.models import Person
from desk.people import roles
from desk.people.signing import signed_fields
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import machine, rules, states
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.models import HoldReleaseVote, Withdrawal

if TYPE_CHECKING:
    from desk.models import StepUp

PURPOSE = "release-hold"  # the database asks for it by this word
PEOPLE = 2
# Closed as not paid: unless an order to pay was sent, the desk releases their open holds by itself.
CLOSED_UNPAID = (states.REFUSED, states.LAPSED, states.ROLLED_BACK, states.CANCELLED, states.RESOLVED_NOT_PAID)
RELEASE_TASK = "exchange_ops.sweep_releases"


class CannotOrderRelease(Exception):
    """No release was ordered; the text is the sentence for the person."""


def closed_requests(account: Account | None = None) -> QuerySet[Withdrawal]:
    """Closed requests whose hold is still open in the exchange's ledger."""
    rows = Withdrawal.objects.filter(pk__in=_open_entries().values("withdrawal"), state__in=states.CLOSED_STATES)
    rows = rows.select_related("account", "initiator").order_by("pk")
    return rows if account is None else rows.filter(account=account)


def is_for_people(row: Withdrawal) -> bool:
    """Whether the hold of this closed request is not released until two people order it."""
    return _needs_people(row) and not is_ordered(row)


def waiting_for(person: Person) -> list[Withdrawal]:
    """The holds whose release this person can order."""
    return [row for row in closed_requests() if is_for_people(row) and may_order(person, row)]


def may_order(person: Person, row: Withdrawal) -> bool:
    """Whether this person may order the release and has not done so yet."""
    return rules.may_release_hold(person, row) and not row.release_votes.filter(person=person).exists()


def stands(row: Withdrawal) -> bool:
    """Whether the row is closed, its hold is still open in the ledger, and people have to order its release."""
    closed = row.state in states.CLOSED_STATES and _needs_people(row)
    return closed and _open_entries().filter(withdrawal=row, exchange_id=row.exchange_id).exists()


def sentence(row: Withdrawal) -> str:
    """What happened to the money, why, and who can do what."""
    how = row.label[0].lower() + row.label[1:]
    then = "The release is retried until the exchange's ledger confirms it."
    if is_for_people(row):
        then = "Two treasurers can release the hold."
    return f"{row.reference}: the funds are still reserved at the exchange, although the request is {how}. {then}"


def digest_of(row: Withdrawal) -> str:
    """What an order releases: exactly this hold. It is signed together with the reason (`signed_fields`)."""
    text = f"countersign-hold-release-1|{row.pk}|{row.version}|{row.state}|{row.exchange_id}|{row.digest}"
    return hashlib.sha256(text.encode()).hexdigest()


def _fields(reason: str) -> dict[str, str]:
    return {signed_fields.COMMENT: reason}


def order_release(
    *,
    withdrawal_id: int,
    person: Person,
    reason: str,
    digest: str,
    answer: dict[str, Any],
    session_key: str,
    now: datetime,
) -> Withdrawal:
    """One person's order to release the hold of a closed request; the second person's order takes effect."""
    reason = DECISIONS.reason(reason, asks="Explain why the hold can be released and what you checked.")
    act = Act(person, now, session_key, reason, digest, answer)
    with DECISIONS.on(withdrawal_id) as row:
        _refuse_unless_standing(row, act)
        confirmation = DECISIONS.confirm(replace(act, digest=signed_fields.bind(digest, _fields(reason))))
        _keep(row, confirmation, reason)
        people = _people(row)
        _record(row, act, {"reason": reason, "people": people, **confirmation.evidence()})
        if people >= PEOPLE:
            outbox.wake(RELEASE_TASK)
    return row


def is_ordered(row: Withdrawal) -> bool:
    """Whether two people of treasury ordered the release, each with a second factor for exactly that."""
    return row.state in states.CLOSED_STATES and _people(row) >= PEOPLE


def _people(row: Withdrawal) -> int:
    """How many people's orders count now: confirmed by themselves for this hold, and still in the role."""
    orders, digest = HoldReleaseVote.objects.filter(withdrawal_id=row.pk), digest_of(row)
    proven = votes.among(
        orders, purpose=PURPOSE, digests=lambda vote: signed_fields.countable(digest, _fields(vote.reason))
    )
    counting = votes.of_those_who_may(proven, role=roles.TREASURY, scope=row.scope).select_related("person")
    return len({vote.person_id for vote in counting if rules.may_release_hold(vote.person, row)})


def _refuse_unless_standing(row: Withdrawal, act: Act) -> None:
    if not stands(row):
        raise CannotOrderRelease("Nothing to release: the exchange's ledger shows no open hold for this payout.")
    if not rules.may_release_hold(act.person, row):
        raise CannotOrderRelease("Two treasurers must release the hold; the requester can't be one of them.")
    DECISIONS.refuse_while_cooling_off(act)
    if act.digest != digest_of(row):
        raise CannotOrderRelease("A colleague acted on this payout after you opened it. Refresh, then decide.")


def _keep(row: Withdrawal, confirmation: "StepUp", reason: str) -> None:
    proof = {"person": confirmation.person, "digest": confirmation.digest, "at": confirmation.at}
    try:
        with transaction.atomic():
            HoldReleaseVote.objects.create(withdrawal=row, reason=reason, confirmation=confirmation, **proof)
    except IntegrityError:
        raise CannotOrderRelease(
            "Your release is already recorded; another treasurer must also release the hold."
        ) from None


def _record(row: Withdrawal, act: Act, facts: dict[str, Any]) -> None:
    trail.record(
        action="withdrawal.release_ordered",
        subject=row.subject,
        before={},
        after={"exchange_id": row.exchange_id, "ordered": facts["people"] >= PEOPLE, **facts},
        **act.moved,
    )
    announcements.announce(row.subject, state=row.state, version=row.version)


def _needs_people(row: Withdrawal) -> bool:
    """Whether only people can have it released: an order to pay was claimed for it, or people found it paid."""
    return row.put_count > 0 or row.state not in CLOSED_UNPAID


def _open_entries() -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(type="payout", status=ledger_lookup.HELD, withdrawal__isnull=False)


DECISIONS: Final = Decisions(
    PURPOSE,
    CannotOrderRelease,
    machine.MACHINE,
    missing="Request not found.",
    why_over=lambda row: "A colleague has just acted on this payout. Refresh.",
)
