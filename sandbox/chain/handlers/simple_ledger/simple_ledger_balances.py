"""Who holds which simple-ledger tokens, three ways, and the transactions that moved them (supplement 1.8 and 3)."""

from itertools import islice

from chaindata.wire.addresses import Address
from chaindata.wire.scripts import steps
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import naming
from sandbox.chain.handlers.arguments import Arguments, pairs, text, texts
from sandbox.chain.handlers.simple_ledger import simple_ledger_forms
from sandbox.chain.simple_ledger import simple_ledger_figures
from sandbox.chain.state import Chain
from wire import values

MOST_RECENT = 100  # transactions in one history

# Balances ------------------------------------------------------------------------------------------------------------


def get_slp_balances_of_address(node: FullNode, arguments: Arguments) -> object:
    """What an address holds of each token, by their ids; an empty list when it holds none."""
    return _of_address(node.chain, naming.read(text(arguments, "address")))


def get_slp_balances_of_addresses(node: FullNode, arguments: Arguments) -> object:
    """The same of several addresses, a list for each in its place."""
    addresses = [naming.read(each) for each in texts(arguments, "addresses")]
    return [_of_address(node.chain, each) for each in addresses]


def get_slp_balances_of_token(node: FullNode, arguments: Arguments) -> object:
    """The holders of a token, the largest first; an empty list for an unknown token."""
    return _of_token(node.chain, text(arguments, "tokenId"))


def get_slp_balances_of_tokens(node: FullNode, arguments: Arguments) -> object:
    """The same of several tokens, a list for each in its place."""
    return [_of_token(node.chain, each) for each in texts(arguments, "tokenIds")]


def get_slp_balance(node: FullNode, arguments: Arguments) -> object:
    """What an address holds of one token: nothing of an unknown one."""
    return _of_both(node.chain, naming.read(text(arguments, "address")), text(arguments, "tokenId"))


def get_slp_balances(node: FullNode, arguments: Arguments) -> object:
    """The same of several addresses with their tokens, each in its place."""
    queries = [(naming.read(address), token_id) for address, token_id in pairs(arguments, "address", "tokenId")]
    return [_of_both(node.chain, address, token_id) for address, token_id in queries]


def _held(chain: Chain, address: Address) -> dict[str, int]:
    return simple_ledger_figures.held_by_token(chain.simple_ledger.coins_of_script(steps.locking(address)))


def _of_address(chain: Chain, address: Address) -> list[dict[str, object]]:
    return [
        {
            "tokenId": token_id,
            **_balance(quantity, decimals := chain.simple_ledger.decimals(token_id) or 0),
            "slpAddress": address.slp_address,
            "decimalCount": decimals,
        }
        for token_id, quantity in sorted(_held(chain, address).items())
    ]


def _of_both(chain: Chain, address: Address, token_id: str) -> dict[str, object]:
    quantity = _held(chain, address).get(token_id.lower(), 0)
    return {"tokenId": token_id, **_balance(quantity, chain.simple_ledger.decimals(token_id) or 0)}


def _balance(quantity: int, decimals: int) -> dict[str, object]:
    amount = simple_ledger_forms.amount(quantity, decimals)
    return {"balance": amount, "balanceString": values.decimal_text(amount)}


def _of_token(chain: Chain, token_id: str) -> list[dict[str, object]]:
    token = chain.simple_ledger.token(token_id)
    if token is None:
        return []
    held = simple_ledger_figures.held_by_script(chain.simple_ledger.coins_of_token(token))
    holders = [(address, quantity) for script, quantity in held.items() if (address := naming.of_script(script))]
    holders.sort(key=lambda each: (-each[1], each[0].slp_address))
    return [
        {
            "tokenId": token.id,
            "tokenBalance": (amount := simple_ledger_forms.amount(quantity, token.genesis.decimals)),
            "tokenBalanceString": values.decimal_text(amount),
            "slpAddress": address.slp_address,
        }
        for address, quantity in holders
    ]


# Histories -----------------------------------------------------------------------------------------------------------


def get_slp_transactions(node: FullNode, arguments: Arguments) -> object:
    """The transactions of a token at an address, valid or not, the newest first."""
    return _history(node.chain, naming.read(text(arguments, "address")), text(arguments, "tokenId"))


def get_slp_transactions_of_pairs(node: FullNode, arguments: Arguments) -> object:
    """The same of several tokens with their addresses, a list for each in its place."""
    queries = [(token_id, naming.read(address)) for token_id, address in pairs(arguments, "tokenId", "address")]
    return [_history(node.chain, address, token_id) for token_id, address in queries]


def get_slp_history_of_address(node: FullNode, arguments: Arguments) -> object:
    """The transactions of all tokens at an address, the newest first."""
    return _history(node.chain, naming.read(text(arguments, "address")))


def _history(chain: Chain, address: Address, token_id: str | None = None) -> list[dict[str, object]]:
    only_id = None if token_id is None else token_id.lower()
    transactions = (
        judged
        for judged in chain.simple_ledger.history(steps.locking(address))
        if (named := simple_ledger_forms.token_id_of(judged)) is not None and only_id in (None, named)
    )
    return [simple_ledger_forms.listed(chain, judged) for judged in islice(transactions, MOST_RECENT)]


HANDLERS = {
    function.__name__: function
    for function in (
        get_slp_balances_of_address,
        get_slp_balances_of_addresses,
        get_slp_balances_of_token,
        get_slp_balances_of_tokens,
        get_slp_balance,
        get_slp_balances,
        get_slp_transactions,
        get_slp_transactions_of_pairs,
        get_slp_history_of_address,
    )
}
