"""What workers are woken for about the tip of the chain."""

from chaindata import tip_follower
from chaindata.cache import service
from desk import clock
from desk.work import CHAIN, Work

WORK = Work(queue=CHAIN)


@WORK.task("chaindata.follow_tip", every_s=3)
def follow_tip() -> None:
    """Look whether there is a new block."""
    tip_follower.follow(now=clock.now(), open_client=service.open_client)
