"""Proving on the chain what the exchange reports as paid: one payout, and all that are due.

Only payouts in the coin of the chain-data service can be proven; for all others there is only the exchange's word. A
proof is looked for as soon as the exchange named the transaction, and checked again with each block until it is buried.
What follows from it for the withdrawal is decided in `verdicts`.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import structlog
from django.db.models import Exists, OuterRef, Q, QuerySet

from chaindata.cache import freshness
from chaindata.client import Busy, ChainClient
from chaindata.headers import tips
from chaindata.proofs import verification
from chaindata.proofs.verification import Outcome, Step, Verdict
from chaindata.shared import addresses, outputs
from desk import clock
from desk.live import announcements
from desk.machines import mover
from desk.machines.step_clock import Stopwatch
from exchange_ops.addresses import destinations
from exchange_ops.shared import leases
from exchange_ops.shared.backoff import pause
from exchange_ops.withdrawals import models, states
from exchange_ops.withdrawals.models import PayoutProof, Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.proofs import verdicts
from wire.errors import CallFailed, Unreachable
from wire.operation import BadArgument

TASK = "exchange_ops.prove_payouts"
LEASE = "payout-proofs"
COIN = destinations.CHAIN_CODE
WITH_TRANSACTION = (states.SENT, states.SETTLED, states.VERIFIED)  # the exchange named the transaction
LOOK_EVERY = timedelta(seconds=30)  # at least, even without news of the tip
LOOKED_AGAIN_WITHIN = timedelta(minutes=3)  # or an earlier absence no longer counts
LAGS_AFTER = timedelta(hours=2)  # an older newest block means that the service lags
PAUSES_S = (5, 15, 30, 60)
SWEEP_SECONDS = 25.0
OpenClient = Callable[[], ChainClient]
_STANDINGS = {
    Outcome.ABSENT: models.ABSENT,
    Outcome.WRONG: models.WRONG,
    Outcome.NOT_PROVEN: models.NOT_PROVEN,
    Outcome.WAITING: models.WAITING,
    Outcome.OFF_CHAIN: models.BLOCK_LEFT,
    Outcome.PROVEN: models.PROVEN,
}
_MOST_KEPT = 2**63 - 1  # the largest value of the column
_log = structlog.get_logger(__name__)


class CannotProve(Exception):
    """Nothing about this payout can be looked for on the chain; the text is a sentence."""


def check(*, row: Withdrawal, client: ChainClient, now: datetime) -> Verdict:
    """What the chain says about the payout now. Raises `CannotProve`, and `CallFailed` when nobody answers."""
    if row.currency != COIN:
        raise CannotProve(f"On-chain verification is available for {COIN} only.")
    if not row.hash:
        raise CannotProve("The exchange returned no transaction hash.")
    try:
        verdict = verification.prove(
            txid=row.hash, address=row.address, amount_sat=owed_sat(row), client=client, now=now
        )
    except (addresses.NotAnAddress, BadArgument) as problem:
        raise CannotProve(f"Not verifiable: {problem}") from None
    return _unless_claimed(row, verdict, client)


def _unless_claimed(row: Withdrawal, verdict: Verdict, client: ChainClient) -> Verdict:
    """The verdict, unless its output is another request's payment: one payment never proves two."""
    if verdict.output is None:
        return verdict
    earlier = _claimants(row)
    if not earlier:
        return verdict
    count = outputs.count_paying(txid=row.hash, address=row.address, amount_sat=owed_sat(row), client=client)
    if count > len(earlier):
        return verdict
    often = "once" if count == 1 else f"{count} times"
    sentence = f"The transaction pays this amount {often} and is already matched to {earlier[-1].reference}."
    return replace(verdict, outcome=Outcome.WRONG, depth=0, steps=(*verdict.steps, Step("own", False, sentence)))


def _claimants(row: Withdrawal) -> list[Withdrawal]:
    """The requests that come before this one for an equal payment: proven ones first, then older ones."""
    spellings = addresses.spellings(row.address)
    same = Withdrawal.objects.filter(currency=row.currency, hash__iexact=row.hash, address__in=spellings)
    equal = [other for other in same.order_by("pk") if other.pk == row.pk or owed(other) == owed(row)]
    proofs = PayoutProof.objects.filter(withdrawal__in=equal).exclude(block_hash="")
    proven = set(proofs.values_list("withdrawal_id", flat=True))
    equal.sort(key=lambda other: (other.pk not in proven, other.pk))
    return equal[: equal.index(row)]


def owed(row: Withdrawal) -> Decimal | None:
    """What has to reach the address: the amount of the record that was compared before the order to pay.

    A different fee that the exchange reports later changes nothing.
    """
    compared = next((item["theirs"] for item in row.echo if item["field"] == "amount" and item["agrees"]), None)
    if not row.include_fee:
        return row.arrives
    if compared is not None:
        return Decimal(compared)
    return row.arrives if row.fee_estimate is None else row.amount - row.fee_estimate


def owed_sat(row: Withdrawal) -> int:
    """What has to reach the address, in satoshis."""
    amount = owed(row)
    if amount is None:
        raise CannotProve("The net amount is unknown: the exchange reported no fee.")
    sat = amount.scaleb(8)
    if sat != sat.to_integral_value():
        raise CannotProve("The amount has more decimals than the chain allows.")
    return int(sat)


def due(*, now: datetime) -> QuerySet[Withdrawal]:
    """Payouts to check now: new ones, those that wait for a block, and those whose block may have left the chain."""
    newest_tip = tips.tip(now)
    proof_losses = WithdrawalEvent.objects.filter(
        withdrawal=OuterRef("pk"), version=OuterRef("version"), event="proof_lost"
    )
    in_watched_state = Q(state__in=WITH_TRANSACTION) | Q(
        Exists(proof_losses), ~Q(proof__standing=models.WRONG), state=states.DISPUTED
    )
    before_the_fall = Q(proof__tried_at__gt=now + clock.TOLERANCE)
    by_time = Q(proof__next_look_at__lte=now) | before_the_fall
    by_block = ~Q(proof__tip_hash=newest_tip.hash) & Q(proof__problem="") if newest_tip is not None else Q(pk__in=())
    not_put_off = Q(proof__next_look_at=None) | Q(proof__next_look_at__lte=now) | before_the_fall
    buried_no_more = Q(tips.may_be_replaced(height="proof__height", seen_at="proof__looked_at")) & not_put_off
    asks = Q(proof=None) | (Q(proof__final_at=None) & (by_time | by_block)) | buried_no_more
    rows = Withdrawal.objects.filter(in_watched_state, asks, currency=COIN).exclude(hash="")
    return rows.select_related("account", "initiator", "proof").order_by("pk")


def waits_for(row: Withdrawal, *, now: datetime) -> timedelta:
    """How long a due payout has waited for its check; zero where only a new block made it due."""
    proof: PayoutProof | None = getattr(row, "proof", None)
    since = row.updated_at if proof is None else proof.next_look_at or now
    return max(now - since, timedelta(0))


def prove_due(*, now: datetime, open_client: OpenClient) -> int:
    """Check every payout that is due, in one process at a time; returns how many were checked."""
    rows, watch, holder = list(due(now=now)), Stopwatch(now), leases.name_of_this_process()
    if not rows or not leases.hold(name=LEASE, holder=holder, now=now):
        return 0
    client, count = open_client(), 0
    try:
        for row in rows:
            answered = _prove_safely(row, watch, client)
            count += answered
            late = (watch.now() - now).total_seconds() > SWEEP_SECONDS
            if late or not answered or not leases.hold(name=LEASE, holder=holder, now=watch.now()):
                break
    finally:
        client.close()
        leases.release(name=LEASE, holder=holder)
    return count


def _prove_safely(row: Withdrawal, watch: Stopwatch, client: ChainClient) -> bool:
    """An unforeseen failure of one payout doesn't keep the others waiting."""
    try:
        return prove(row=row, now=watch.now(), client=client)
    except Exception:
        _log.exception("payouts.look_failed", withdrawal=row.pk)
        problem = "The check failed; details are in the log."
        _store(row, {"problem": problem, "tried_at": watch.now(), "next_look_at": watch.now() + timedelta(minutes=1)})
        return True


def prove(*, row: Withdrawal, now: datetime, client: ChainClient) -> bool:
    """Check one payout and act on the verdict; False when the service can't be asked at the moment."""
    try:
        verdict = check(row=row, client=client, now=now)
    except CannotProve as reason:
        _store(row, {"problem": str(reason)[:300], "tried_at": now, "next_look_at": now + timedelta(hours=1)})
        return True
    except CallFailed as failure:
        _store(row, _missed(row, failure, now))
        return not isinstance(failure, Unreachable | Busy)
    old = PayoutProof.objects.filter(withdrawal=row).first()
    replaced_block = _has_left(old)
    columns = _columns(old, verdict, replaced_block, now)
    try:
        verdicts.judge(row, columns, was_replaced=replaced_block, verdict=verdict, now=now)
    except mover.CannotMove as lost:
        _log.info("payouts.move_lost", withdrawal=row.pk, reason=str(lost))
        columns["next_look_at"] = now
    if row.state != states.VERIFIED and columns["final_at"] is not None:  # it still has to move
        columns |= {"final_at": None, "next_look_at": columns["next_look_at"] or now + LOOK_EVERY}
    _store(row, columns)
    return True


# Rows ----------------------------------------------------------------------------------------------------------------


def _has_left(old: PayoutProof | None) -> bool:
    """Whether the block of the last proof has left the chain since."""
    if old is None or not old.block_hash or old.height is None:
        return False
    return tips.is_replaced(height=old.height, block_hash=old.block_hash)


def _columns(old: PayoutProof | None, verdict: Verdict, was_replaced: bool, now: datetime) -> dict[str, Any]:
    """The columns to store. A proof is arithmetic: it stands as long as its block does, whatever is said today."""
    state = _STANDINGS[verdict.outcome]
    columns: dict[str, Any] = {"looked_at": now, "tried_at": now, "tip_hash": _tip_hash(now), "problem": ""}
    still = verification.depth_of(old.block_hash) if old is not None and old.standing == models.PROVEN else 0
    if state not in (models.PROVEN, models.WRONG) and still and not was_replaced:
        columns |= {"standing": models.PROVEN, "depth": still, "problem": verdict.sentence[:300]}
    else:
        checks = [{"name": step.name, "holds": step.holds, "sentence": step.sentence} for step in verdict.steps]
        columns |= {"standing": state, "depth": verdict.depth, "sentence": verdict.sentence[:500], "checks": checks}
        columns |= {"output": verdict.output}
    if state == models.PROVEN:
        columns |= {"block_hash": verdict.block_hash or "", "height": verdict.height}
    columns["absent_since"] = _absent_since(old, now) if state == models.ABSENT else None
    buried = columns["standing"] == models.PROVEN and columns["depth"] >= freshness.BURIED
    columns |= {"final_at": now if buried else None, "next_look_at": None if buried else now + LOOK_EVERY}
    return columns


def _absent_since(old: PayoutProof | None, now: datetime) -> datetime:
    """Since when every answer of a service that keeps up with its chain has lacked the transaction."""
    newest_tip = tips.tip(now)
    keeps_up = (
        newest_tip is not None
        and newest_tip.is_current
        and now - datetime.fromtimestamp(newest_tip.time, UTC) <= LAGS_AFTER
    )
    if old is None or old.absent_since is None or old.looked_at is None or not keeps_up:
        return now
    return old.absent_since if clock.is_fresh(old.looked_at, now, within=LOOKED_AGAIN_WITHIN) else now


def _missed(row: Withdrawal, failure: CallFailed, now: datetime) -> dict[str, Any]:
    old = PayoutProof.objects.filter(withdrawal=row).first()
    since = now - (old.looked_at or old.tried_at or now) if old is not None else timedelta(0)
    tries = 1 + int(since.total_seconds() // 15)
    problem = f"The chain service is not available: {failure}."[:300]
    return {"problem": problem, "tried_at": now, "next_look_at": now + pause(PAUSES_S, tries)}


def _store(row: Withdrawal, columns: dict[str, Any]) -> None:
    """Store the columns, and announce it to the pages when something that they show has changed."""
    visible = ("standing", "depth", "block_hash", "problem", "final_at", "sentence")
    before = PayoutProof.objects.filter(withdrawal=row).values(*visible).first()
    satoshis = (owed(row) or Decimal(0)).scaleb(8)
    first = {"txid": row.hash[:64], "wanted_sat": min(int(satoshis), _MOST_KEPT)}
    PayoutProof.objects.update_or_create(withdrawal=row, defaults=columns, create_defaults=columns | first)
    if before is None or any(before[name] != columns[name] for name in visible if name in columns):
        announcements.announce(row.subject)


def _tip_hash(now: datetime) -> str:
    newest_tip = tips.tip(now)
    return newest_tip.hash if newest_tip is not None else ""
