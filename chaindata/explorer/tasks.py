"""What workers are woken for about the tip of the chain."""

from chaindata import tip_follower
from chaindata.cache import service
from desk import clock
from desk.machines.lanes import LANES, Job
from desk.work import CHAIN, Work

WORK = Work(queue=CHAIN)


@WORK.task("chaindata.follow_tip", every_s=3)
def follow_tip() -> None:
    """Look whether there is a new block."""
    LANES.put([Job("tip", "follow", _follow)])


def _follow() -> int:
    tip_follower.follow(now=clock.now(), open_client=service.open_client)
    return 1
