"""What workers are woken for about keys."""

from desk import clock
from desk.work import Work
from exchange_ops.keys import probing, store
from exchange_ops.keys.rounds import ERRANDS, Round, followed

WORK = Work(queue="money")


@WORK.task("exchange_ops.probe_keys", every_s=15)
@followed(ERRANDS, order=70)
def probe_keys(at: Round) -> None:
    """Wake workers for the keys whose rights nobody asked about yet, or not for a day; ask where there are none."""
    if at.is_following:
        probing.probe_due(now=at.now(), open_client=store.client_of)
    else:
        probing.wake_due(now=at.now())


@WORK.task(probing.TASK)
def probe_key(key_id: int) -> None:
    """Ask the exchange which rights a key really has."""
    probing.fill(key_id=key_id, open_client=store.client_of, now=clock.now())
