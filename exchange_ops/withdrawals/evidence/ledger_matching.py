"""Matching entries of the exchange's ledger to our requests, and flagging payouts that have none.

An entry is ours when it has the id that a hold was given, or the tag that the request was sent with. Any other payout
is flagged as foreign, unless it may turn out to be a hold whose answer we wait for.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from django.db import transaction
from django.db.models import Q

from desk import outbox
from desk.audit import trail
from desk.incidents import review as incidents
from desk.live import announcements
from exchange_ops.addresses import destinations
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared import alarms
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.evidence import probing
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal

LEAVING = ("payout", "withdraw")  # types of movements that take money out of the account
UNPAID = ("created", "failed")
REVIEWED_FOR = timedelta(days=1)


class OtherMatcher(Protocol):
    """A higher room whose requests leave entries in the ledger as well."""

    def link(self, *, entry: LedgerEntry, now: datetime) -> bool:
        """Join the entry to its request and wake what waits for one like it; True when it belongs to this room."""

    def known_ids(self, *, account: Account, exchange_ids: Iterable[str]) -> set[str]:
        """Those of the exchange's ids that belong to requests of this room."""

    def awaited_amounts(self, *, account: Account) -> set[Decimal]:
        """Amounts of requests that wait for an entry."""

    def is_awaited(self, entry: LedgerEntry, /) -> bool:
        """Whether a request of this room may turn out to be the entry's."""


_others: list[OtherMatcher] = []


def register(matcher: OtherMatcher) -> None:
    """Declare another room's matcher; called when the app is ready."""
    _others.append(matcher)


def link(*, entry: LedgerEntry, now: datetime) -> None:
    """Join the entry to the request that caused it and wake its machine; flag a payout without a request.

    Call it inside the transaction that changed the entry.
    """
    withdrawal = _owner(entry)
    if withdrawal is not None:
        if entry.withdrawal_id != withdrawal.pk or entry.foreign:
            LedgerEntry.objects.filter(pk=entry.pk).update(withdrawal=withdrawal, foreign=False)
            was_foreign, entry.withdrawal, entry.foreign = entry.foreign, withdrawal, False
            if was_foreign:
                incidents.review_now(alarms.PAYOUT_ELSEWHERE, now=now, key=f"ledger:{entry.pk}")
            announcements.announce(f"ledger:{entry.account_id}")
        _wake(withdrawal, now)
    elif not any(other.link(entry=entry, now=now) for other in _others) and _is_foreign(entry) and not entry.foreign:
        _flag(entry, now)


def concerned(*, account: Account, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Those of many entries that `link` would act on, found for all of them at once."""
    ids, tags = [entry.exchange_id for entry in entries], {entry.public_comment for entry in entries} - {""}
    withdrawals = Withdrawal.objects.filter(account=account)
    calls = ExternalCall.objects.filter(account=account, tag__in=tags)
    known_ids = {*withdrawals.filter(exchange_id__in=ids).values_list("exchange_id", flat=True)}
    known_ids |= {each for other in _others for each in other.known_ids(account=account, exchange_ids=ids)}
    own_tags = {*withdrawals.filter(tag__in=tags).values_list("tag", flat=True), *calls.values_list("tag", flat=True)}
    amounts = {each for other in _others for each in other.awaited_amounts(account=account)}
    return [
        entry
        for entry in entries
        if entry.exchange_id in known_ids
        or entry.public_comment in own_tags
        or entry.amount in amounts
        or (not entry.foreign and entry.type in LEAVING and entry.created_at >= account.created_at)
    ]


def review(*, account: Account, now: datetime) -> None:
    """Check the unmatched payouts of the last day again: a hold may have got its id meanwhile."""
    entries = LedgerEntry.objects.filter(
        account=account,
        withdrawal=None,
        transfer=None,
        type__in=LEAVING,
        first_seen_at__gte=now - REVIEWED_FOR,
        created_at__gte=account.created_at - REVIEWED_FOR,
    )
    for entry in concerned(account=account, entries=list(entries.select_related("account"))):
        with transaction.atomic():
            link(entry=entry, now=now)


def _owner(entry: LedgerEntry) -> Withdrawal | None:
    """The request whose hold this is: by the exchange's id first, else by the tag of any attempt."""
    withdrawals = Withdrawal.objects.filter(account=entry.account_id)
    owner = withdrawals.filter(exchange_id=entry.exchange_id).first()
    if owner is None and entry.public_comment:
        calls = ExternalCall.objects.filter(account=entry.account_id, tag=entry.public_comment).exclude(tag="")
        by_tag = Q(tag=entry.public_comment) | Q(pk__in=calls.values("withdrawal"))
        owner = withdrawals.filter(by_tag).order_by("pk").first()
    return owner


def _is_foreign(entry: LedgerEntry) -> bool:
    """Whether money left without a request since the desk keeps this account, and it can't be a hold we wait for."""
    if entry.type not in LEAVING or entry.created_at < entry.account.created_at:
        return False
    if is_of_probe(entry):
        return False
    return not may_be_awaited(entry) and not any(other.is_awaited(entry) for other in _others)


def is_of_probe(entry: LedgerEntry) -> bool:
    """Whether a probe of ours made this: a hold that is not paid, or its payment to an own address."""
    if entry.status in UNPAID and probing.is_probe(account=entry.account, public_comment=entry.public_comment):
        return True
    return probing.is_own_payment(account=entry.account, exchange_id=entry.exchange_id)


def may_be_awaited(entry: LedgerEntry) -> bool:
    """Whether the entry may turn out to be a hold whose answer we wait for: nothing in it says otherwise."""
    withdrawals = Withdrawal.objects.filter(
        account=entry.account_id, state__in=states.IN_FLIGHT_HOLDS, currency=entry.currency
    )
    return any(_may_be(row, entry) for row in withdrawals)


def _may_be(row: Withdrawal, entry: LedgerEntry) -> bool:
    """Whether amount, tag, address and payment id agree as far as the entry has them; a stream may first send fewer."""
    amounts = {entry.amount, entry.amount + (entry.fee or 0)} if row.include_fee else {entry.amount}
    if row.amount not in amounts or entry.public_comment not in {"", row.tag}:
        return False
    if not entry.address:
        return True
    return row.payment_id == entry.payment_id and destinations.same_address(
        code=row.currency, one=row.address, other=entry.address
    )


def _flag(entry: LedgerEntry, now: datetime) -> None:
    changed = LedgerEntry.objects.filter(pk=entry.pk, foreign=False, withdrawal=None).update(foreign=True)
    if not changed:
        return
    entry.foreign = True
    trail.record(
        actor=None,
        action="ledger.foreign_payout",
        subject=f"ledger:{entry.pk}",
        before={},
        after={
            "exchange_id": entry.exchange_id,
            "type": entry.type,
            "status": entry.status,
            "currency": entry.currency,
            "amount": entry.amount,
            "address": entry.address,
        },
        now=now,
    )
    announcements.announce(f"ledger:{entry.account_id}", foreign=True)
    incidents.review_now(alarms.PAYOUT_ELSEWHERE, now=now, key=f"ledger:{entry.pk}")


def _wake(withdrawal: Withdrawal, now: datetime) -> None:
    """Have the machine process its row now; a row without a next step is left alone."""
    if withdrawal.state not in states.OPEN_STATES:
        return
    if withdrawal.next_action_at is None or withdrawal.next_action_at > now:
        machine.touch(withdrawal, next_action_at=now)
    outbox.wake(machine.task_of(withdrawal.state), withdrawal.pk)
