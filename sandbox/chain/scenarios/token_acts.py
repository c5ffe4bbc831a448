"""What the scenarios of property tokens and collectibles are built with: one act, one transaction."""

from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.payloads import Burn, Payload
from chaindata.wire.transactions import Output, Transaction
from sandbox.chain.scenarios.author import Author
from sandbox.chain.tokens.properties_terms import BURN_SCRIPT, MATURITY
from sandbox.chain.wallet import DUST_SAT

COIN_SAT = 100_000_000
FIRST_TOKEN = 10**8  # base units of one token of the first property
PURSE_SAT = COIN_SAT // 10  # for fees


def act(author: Author, actor: str, payload: Payload, receiver: str = "") -> Transaction:
    """Somebody says something to the layer; a receiver is paid after the change, so that it is the last."""
    outputs = [Output(0, payloads.carrier(payload.raw))]
    if receiver:
        outputs.append(Output(DUST_SAT, author.purse(receiver).script))
    return author.pay(actor, outputs, change_at=0)


def acts(author: Author, *steps: tuple[str, Payload] | tuple[str, Payload, str]) -> None:
    """Several, each in a block of its own: within one their order would be that of their ids."""
    for each in steps:
        act(author, *each)
        author.mine()


def burn(author: Author, actor: str, sat: int) -> Transaction:
    """Coins given up for tokens of the first property."""
    return author.pay(actor, [Output(sat, BURN_SCRIPT), Output(0, payloads.carrier(Burn().raw))])


def enrich(author: Author, burning: dict[str, int], others: tuple[str, ...]) -> None:
    """Gives purses coins for fees, and those that burn some as many tokens as they ask for."""
    for name, coins in burning.items():
        author.fund(name, coins * COIN_SAT + PURSE_SAT)
    for name in others:
        author.fund(name, PURSE_SAT)
    author.mine()
    for name, coins in burning.items():
        burn(author, name, coins * COIN_SAT)
    author.mine(1 + MATURITY)
