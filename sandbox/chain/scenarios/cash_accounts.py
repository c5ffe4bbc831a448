"""Cash accounts: one of a single key, and two of one name in one block, told apart by their hashes."""

from chaindata.wire import cash_accounts
from chaindata.wire.cash_accounts import Payment, Registration
from chaindata.wire.transactions import Output
from sandbox.chain.scenarios.author import Author
from sandbox.chain.wallet import Vault

COIN_SAT = 100_000_000
KEY_HASH, SCRIPT_HASH, TOKEN_AWARE = 1, 2, 0x80
REGISTRARS = ("registrar 1", "registrar 2")


def build(author: Author) -> None:
    """Needs a few of the miner's coins; leaves nothing in the mempool."""
    for name in REGISTRARS:
        author.fund(name, COIN_SAT)
    author.mine()
    first, second = (author.purse(name) for name in REGISTRARS)
    _register(author, REGISTRARS[0], "Harbourmaster", _payment(first.key.address.hash))
    author.mine(2)
    vault = Vault("registrar's vault", [first, second], 2)
    _register(author, REGISTRARS[0], "Lantern", _payment(first.key.address.hash))
    _register(
        author,
        REGISTRARS[1],
        "lantern",
        _payment(second.key.address.hash),
        Payment(SCRIPT_HASH, vault.address.hash),
        Payment(KEY_HASH | TOKEN_AWARE, second.key.address.hash),
    )
    author.mine()


def _payment(key_hash: bytes) -> Payment:
    return Payment(KEY_HASH, key_hash)


def _register(author: Author, purse: str, name: str, *payments: Payment) -> None:
    script = cash_accounts.script_of(Registration(name, payments))
    author.pay(purse, [Output(0, script)])
