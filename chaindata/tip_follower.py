"""Following the tip: every few seconds one worker asks for the best block and stores the headers up to it.

A new block makes stale every answer that it could change; after a reorganisation, answers about the blocks that left
the chain are no longer final. Both are announced under `chain:tip`.
"""

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.conf import settings
from django.db import transaction

from chaindata.cache.answers import INTEREST
from chaindata.cache.freshness import FRESHNESS
from chaindata.cache.models import ChainAnswer
from chaindata.cache.service import TimeBudget, outage_sentence
from chaindata.client import ChainClient
from chaindata.headers import chain, reading
from chaindata.headers.chain import CannotFollow, Change, OtherChain
from chaindata.headers.models import ChainHeader, ChainTip
from chaindata.headers.reading import Path
from chaindata.wire.records.chain import ChainState
from desk import clock, outbox
from desk.live import announcements
from wire.errors import CallFailed

OpenClient = Callable[[], ChainClient]
CLAIMED_FOR = timedelta(seconds=40)
SWEEP_TASK = "chaindata.sweep"
TIP_TOPIC = "chain:tip"
_MOST_ANNOUNCED = 200  # answers that are announced as no longer final
_BY_BLOCK = [name for name, row in FRESHNESS.items() if row is not None and row.by_block]
_log = structlog.get_logger(__name__)


def follow(*, now: datetime, open_client: OpenClient, budget: TimeBudget | None = None) -> bool:
    """Read the tip once; True if it changed. Does nothing while another worker is reading it."""
    row = _claim(now)
    if row is None:
        return False
    changes: dict[str, object] = {}
    try:
        client = open_client()
        try:
            change = _catch_up(client, row, now, budget or TimeBudget())
        finally:
            client.close()
        changes = {"read_at": now, "problem": "", "problem_at": None}
    except (CallFailed, CannotFollow) as failure:
        change = None
        changes = {"problem": _sentence(failure), "problem_at": now}
    finally:
        columns = {"claimed_by": "", "claimed_until": None, **changes}
        ChainTip.objects.filter(pk=1, claimed_by=row.claimed_by).update(**columns)
    if bool(changes["problem"]) != bool(row.problem):
        _announce_outage(bool(changes["problem"]), now)
    return change is not None


def _claim(now: datetime) -> ChainTip | None:
    """Claim the row of the tip; None if another worker has it. With another service the chain starts again."""
    ChainTip.objects.get_or_create(pk=1, defaults={"world": _world()})
    free = clock.ended("claimed_until", now=now, lasts=CLAIMED_FOR)
    claim = {"claimed_by": secrets.token_hex(16), "claimed_until": now + CLAIMED_FOR}
    if not ChainTip.objects.filter(free, pk=1).update(**claim):
        return None
    row = ChainTip.objects.select_related("header").get(pk=1)
    if row.world != _world():
        chain.forget(world=_world())
        row.refresh_from_db()
    return row


def _world() -> str:
    return f"{settings.CHAIN_NETWORKS[0]} {settings.CHAINDATA_URL}"[:300]


def _catch_up(client: ChainClient, row: ChainTip, now: datetime, budget: TimeBudget) -> Change | None:
    """Store the headers up to the best block, a hundred at a time. Returns the last change of the tip."""
    state: ChainState = client.call("get_blockchain_info")
    if state.chain not in settings.CHAIN_NETWORKS:
        raise CannotFollow(f"The chain-data service is on the {state.chain[:20]} network, not the one configured here.")
    tip, last = row.header, None
    while tip is None or (tip.hash != state.bestblockhash and not budget.is_over):
        up_to = partial(reading.up_to, client, height=state.blocks, best_hash=state.bestblockhash)
        lost_tip: ChainHeader | None = None
        try:
            path = up_to(tip=tip)
        except OtherChain:
            if chain.is_main():
                raise
            # A test network was set up again: trust its service.
            path, lost_tip = up_to(tip=None), tip
        change = _take_in(path, now, lost_tip=lost_tip)
        if change is None:
            break
        tip, last = change.tip, change
    return last


def _take_in(path: Path, now: datetime, *, lost_tip: ChainHeader | None) -> Change | None:
    """Follow the headers and expire the answers that they change, in one transaction: a worker may end at any moment.

    `lost_tip` is the tip of a chain that has nothing in common with them; its headers are deleted.
    """
    with transaction.atomic():
        if lost_tip is not None:
            chain.forget(world=_world())
        change = chain.adopt(path=path.headers, first_height=path.first_height, first_work=path.first_work, now=now)
        if change is not None and lost_tip is not None:
            change = chain.record_reorganisation(lost_tip, change.tip, common_height=0, now=now)
        if change is not None:
            _expire_answers(change, now)
    return change


def _expire_answers(change: Change, now: datetime) -> None:
    """Expire the answers that the new blocks could have changed, and announce the tip.

    A worker that is fetching one loses its claim, because its answer may be from before the new blocks.
    """
    if change.common_height is not None:
        _log.warning("chain.reorganised", common_height=change.common_height, new_height=change.tip.height)
        _take_back(change.common_height, now)
    open_answers = ChainAnswer.objects.filter(operation__in=_BY_BLOCK, is_final=False)
    open_answers.filter(failures=0, due_at__gt=now).update(due_at=now)
    open_answers.filter(claimed_until__gt=now).update(claimed_by="", claimed_until=None)
    outbox.wake(SWEEP_TASK)
    announcements.announce(TIP_TOPIC)


def _announce_outage(began: bool, now: datetime) -> None:
    """Announce that the service is away, or back: then failed answers are fetched again at once."""
    announcements.announce(TIP_TOPIC)
    if not began:
        ChainAnswer.objects.filter(failures__gt=0, due_at__gt=now).update(due_at=now)
        outbox.wake(SWEEP_TASK)


def _take_back(common_height: int, now: datetime) -> None:
    """Answers that depend on blocks above the last common one are no longer final, and are fetched again."""
    stale_answers = ChainAnswer.objects.filter(rests_on_height__gt=common_height)
    watched_answers = stale_answers.filter(INTEREST.looked_at(now)).order_by("-asked_at")
    keys = list(watched_answers.values_list("key", flat=True)[:_MOST_ANNOUNCED])
    stale_answers.update(is_final=False, due_at=now)
    for key in keys:
        announcements.announce(f"chain-answer:{key}")


def _sentence(failure: Exception) -> str:
    if isinstance(failure, CannotFollow):
        return str(failure)[:300]
    return outage_sentence(failure)
