"""What workers are woken for about kept answers. A wake-up call that is lost costs one sweep."""

from chaindata.cache import answers, fetching, retention, service
from desk import clock
from desk.work import CHAIN, Work

WORK = Work(queue=CHAIN)


@WORK.task(answers.FETCH_TASK)
def fetch(answer_id: int) -> None:
    """Ask for one answer that a page waits for, and for others of its kind."""
    fetching.fetch(answer_id=answer_id, now=clock.now(), open_client=service.open_client)


@WORK.task("chaindata.sweep", every_s=5)
def fetch_answers() -> None:
    """Ask for whatever is looked at and due."""
    fetching.fetch_due(now=clock.now(), open_client=service.open_client)


@WORK.task("chaindata.purge", every_s=600, expires_s=300)
def purge() -> None:
    """Remove answers that nobody looks at any more."""
    retention.purge(now=clock.now())
