"""What workers are woken for about the ledger."""

from desk import clock
from desk.work import CHAIN, Work
from exchange_ops.keys.rounds import LEDGERS, Round, followed
from exchange_ops.ledger import chain_differences, refresh

WORK = Work(queue="money")


@WORK.task("exchange_ops.sync_ledger", every_s=10)
@followed(LEDGERS)
def sync_ledger(at: Round) -> None:
    """Walk the exchange's ledger from the watermark and read the wallets."""
    refresh.sync_ledgers(now=at.now(), client_for=at.client_for, only_stale=at.is_following, to_the_end=at.keep_running)


@WORK.task(chain_differences.TASK, every_s=20, queue=CHAIN)
def compare_deposits() -> None:
    """Keep looking at the transactions of recent deposits."""
    chain_differences.refresh(now=clock.now())
