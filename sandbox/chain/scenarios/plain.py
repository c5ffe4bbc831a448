"""Ordinary transactions of every usual form, so that each can be looked at: to keys, hashes, scripts and nobody."""

from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Output
from sandbox.chain import wallet
from sandbox.chain.node.terms import Owned
from sandbox.chain.scenarios.author import Author
from sandbox.chain.wallet import Vault

COIN_SAT = 100_000_000
NOTE = b"Countersign sandbox"
LEAST_HEIGHT = 205  # of the tip when the world begins


def build(author: Author) -> None:
    """Payments from hand to hand over a few blocks."""
    _spread(author)
    _pay_around(author)
    _pay_to_a_key(author)
    _pay_to_a_vault(author)
    _leave_notes(author)


def _spread(author: Author) -> None:
    """Splits coins of the miner's, so that later payments need not wait for each other's change."""
    author.pay(author.miner, [Output(10 * COIN_SAT, author.miner.script) for _ in range(20)])
    author.mine()


def _pay_around(author: Author) -> None:
    """One output, many outputs, and many inputs."""
    names = ("alice", "bob", "carol", "dave")
    author.fund("alice", 25 * COIN_SAT)
    author.mine()
    author.pay(
        "alice",
        [
            Output(sat, author.purse(name).script)
            for sat, name in zip((4 * COIN_SAT, 3 * COIN_SAT, 2 * COIN_SAT), names[1:], strict=True)
        ],
    )
    author.mine()
    author.pay("alice", [Output(COIN_SAT // 10 * n, author.purse("bob").script) for n in range(1, 13)])
    author.mine()
    author.pay("bob", [Output(7 * COIN_SAT, author.purse("carol").script)], fee_rate=3)
    author.mine()


def _pay_to_a_key(author: Author) -> None:
    """An output that names the public key itself, and its spending."""
    dave = author.purse("dave")
    payment = author.pay(author.miner, [Output(3 * COIN_SAT, dave.key_script)])
    author.mine()
    author.pay(dave, [Output(COIN_SAT, author.purse("alice").script)], spending=[(payment.txid_bytes, 0)])
    author.mine()


def _pay_to_a_vault(author: Author) -> None:
    """Two of three keys under the hash of their script: paid in, paid out, and something left."""
    vault = Vault("vault", [author.purse(name) for name in ("alice", "bob", "carol")], 2)
    author.pay(author.miner, [Output(5 * COIN_SAT, vault.script), Output(COIN_SAT // 2, vault.script)])
    author.mine()
    author.pay(vault, [Output(2 * COIN_SAT, author.purse("dave").script)])
    author.mine()


def _leave_notes(author: Author) -> None:
    """Outputs that nobody can spend, and one transaction that spends coins of two owners at once."""
    author.pay("carol", [Output(0, steps.returning([NOTE]))])
    author.pay("dave", [Output(0, steps.returning([b"", bytes(range(200))]))], change_at=0)
    author.mine()
    alice, bob = author.purse("alice"), author.purse("bob")
    coins: list[Owned] = [author.chain.history(purse.script).coins[0] for purse in (alice, bob)]
    total_sat = sum(coin.output.value_sat for coin in coins)
    half = Output(total_sat // 2 - 400, author.purse("carol").script)
    author.send(wallet.signed(coins, [half, half], [alice, bob]))
    author.mine()


def leave_waiting(author: Author) -> None:
    """The end of the scenario: a chain that is long enough, branches that did not win, transactions that still wait.

    Must be built last: what waits stays so until the world mines its first block.
    """
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
