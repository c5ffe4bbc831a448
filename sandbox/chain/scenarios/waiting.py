"""How the scenario ends: a chain that is long enough, branches that did not win, and transactions that still wait."""

from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Output
from sandbox.chain.scenarios.author import Author

COIN_SAT = 100_000_000
LEAST_HEIGHT = 205  # of the tip when the world begins


def build(author: Author) -> None:
    """Must be built last: what waits stays so until the world mines its first block."""
    author.fund("erin", 4 * COIN_SAT)
    author.fund("frank", COIN_SAT)
    author.mine(max(1, LEAST_HEIGHT - author.chain.tip.height))
    author.branch_off(5, 2)
    author.branch_off(12, 3, has_bodies=False)
    _let_wait(author)


def _let_wait(author: Author) -> None:
    """A family of three, each spending the one before, and one alone."""
    erin, frank = author.purse("erin"), author.purse("frank")
    parent = author.pay(erin, [Output(COIN_SAT, frank.script), Output(COIN_SAT, erin.script)])
    child = author.pay(frank, [Output(COIN_SAT // 2, erin.script)], spending=[(parent.txid_bytes, 0)], fee_rate=2)
    author.pay(erin, [Output(COIN_SAT // 4, frank.script)], spending=[(child.txid_bytes, 0), (parent.txid_bytes, 1)])
    author.pay(author.miner, [Output(COIN_SAT, frank.script), Output(0, steps.returning([b"still waiting"]))])
