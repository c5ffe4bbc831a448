"""Simple-ledger tokens: one that can still be minted, one whose minting has ended, and one of which some was burnt.

They pass through the hands of a few holders, whose purses hold coins besides for the fees; one transfer claims more
than there is, and moves nothing but coins.
"""

from chaindata.wire.tokens.slp import Genesis, Mint, Send
from chaindata.wire.transactions import Output, Transaction
from sandbox.chain.scenarios.author import Author
from sandbox.chain.simple_ledger import simple_ledger_spending
from sandbox.chain.simple_ledger.simple_ledger import TokenCoin
from sandbox.chain.wallet import DUST_SAT, Purse

COIN_SAT = 100_000_000
ISSUER, HOLDERS = "token issuer", ("token holder 1", "token holder 2", "token holder 3")
HARBOUR = Genesis(b"HARB", b"Harbour Credit", b"https://harbour.example", bytes(range(32)), 2, 2, 1_000_000_00)
LANTERN = Genesis(b"LAMP", b"Lantern Voucher", b"https://lantern.example/voucher", b"", 0, 2, 500)
EMBER = Genesis(b"EMBR", b"Ember Point", b"", b"", 8, None, 21_000_000 * 10**8)


def build(author: Author) -> None:
    """Needs some of the miner's coins; leaves nothing in the mempool."""
    for name in (ISSUER, *HOLDERS):
        author.fund(name, COIN_SAT)
    author.mine()
    _alive(author)
    _ended(author)
    _burnt(author)


def _alive(author: Author) -> None:
    """A token that was minted once more, the baton being kept; and a transfer that claims too much."""
    token_id = _created(author, HARBOUR)
    first, second, third = (author.purse(name) for name in HOLDERS)
    issuer = author.purse(ISSUER)
    _sent(author, issuer, token_id, 250_000_00, first)
    _sent(author, first, token_id, 1_234_56, second)
    _minted(author, Mint(token_id, simple_ledger_spending.BATON_VOUT, 50_000_00), to=second)
    _sent(author, second, token_id, 50_000_00, third)
    claim = Send(token_id, (9_999_99, 1))
    outputs = [Output(DUST_SAT, third.script), Output(DUST_SAT, first.script)]
    author.send(simple_ledger_spending.compose(author.chain, first, claim, outputs, spending=[], change=first.script))
    author.mine()


def _ended(author: Author) -> None:
    """A token whose last mint did not pass the baton on."""
    token_id = _created(author, LANTERN)
    _minted(author, Mint(token_id, None, 250), to=author.purse(HOLDERS[0]))
    _sent(author, author.purse(HOLDERS[0]), token_id, 40, author.purse(HOLDERS[1]))


def _burnt(author: Author) -> None:
    """A token that nobody ever could mint; a holder spends some of it as if it were a plain coin, and sends some away
    with less than all named."""
    token_id = _created(author, EMBER)
    first, second = (author.purse(name) for name in HOLDERS[:2])
    _sent(author, author.purse(ISSUER), token_id, 700 * 10**8, first)
    _sent(author, first, token_id, 300 * 10**8, second)
    coins = _token_coins(author, second, token_id)
    author.pay(second, [Output(COIN_SAT // 10, first.script)], spending=[(each.txid_bytes, each.n) for each in coins])
    author.mine()
    less = Send(token_id, (399 * 10**8,))
    paid = [Output(DUST_SAT, second.script)]
    held = _token_coins(author, first, token_id)
    author.send(simple_ledger_spending.compose(author.chain, first, less, paid, spending=held, change=first.script))
    author.mine()


def _created(author: Author, genesis: Genesis) -> str:
    script = author.purse(ISSUER).script
    transaction = simple_ledger_spending.create(
        author.chain, author.purse(ISSUER), genesis, to=script, baton_to=script, change=script
    )
    return _mined(author, transaction).txid


def _minted(author: Author, message: Mint, *, to: Purse) -> None:
    issuer = author.purse(ISSUER)
    transaction = simple_ledger_spending.mint(
        author.chain, issuer, message, to=to.script, baton_to=issuer.script, change=issuer.script
    )
    _mined(author, transaction)


def _sent(author: Author, payer: Purse, token_id: str, quantity: int, receiver: Purse) -> None:
    transaction = simple_ledger_spending.send(
        author.chain, payer, token_id, quantity, to=receiver.script, change=payer.script
    )
    _mined(author, transaction)


def _mined(author: Author, transaction: Transaction) -> Transaction:
    author.send(transaction)
    author.mine()
    return transaction


def _token_coins(author: Author, purse: Purse, token_id: str) -> list[TokenCoin]:
    coins = author.chain.simple_ledger.coins_of_script(purse.script)
    return [each for each in coins if each.holding.token_id == token_id]
