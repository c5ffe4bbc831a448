"""Why a person would not want a page of its own for an operation: one sentence for each, by the operation's name.

Such a row is asked from the console, or, where it acts, from nowhere. A test holds this table to the catalogues: every
operation and every method of the sockets has a page besides the console, or stands here; no sentence stands twice, and
none about what has got a page.
"""

from collections.abc import Mapping
from typing import Final

EXCHANGE: Final[Mapping[str, str]] = {
    "get_currency": "The list of all currencies is read in one call, and its row of each says the same.",
    "get_symbol": "The list of all symbols is read in one call, and the rules of one symbol are a row of it.",
    "get_ticker": "The tickers of all symbols come in one call, and those of open markets over the socket.",
    "get_trades": "A page shows the trades of one market, and asks for those of its symbol alone.",
    "get_orderbooks": "A page shows the book of one market, and asks for that of its symbol alone.",
    "get_candles": "A chart shows one market in one period, and asks for the candles of its symbol alone.",
    "get_order_trades": "Every fill is kept from the account's trade history, and an order's page lists its own.",
    "get_trading_fees": "A list of all rates decides nothing; what counts is that of the symbol which is traded.",
    "get_margin_position": "The positions of all symbols come in one call, which also shows that one is gone.",
    "put_order": "Places an order as `POST /order` does, which the ticket sends with an id of the desk's own.",
    "put_margin_order": "Places an order as `POST /margin/order` does, with an id of the desk's own.",
    "close_margin_accounts": "Each account is closed by a call of its own, so that each has an outcome of its own.",
    "close_margin_positions": "Each position that was seen is closed by a call of its own, and no other.",
}
STREAMS: Final[Mapping[str, str]] = {
    "marginAccountSet": "It is set by `PUT /margin/account/{symbol}`, which may be repeated after a lost answer.",
    "marginPositionClose": "A position is closed by `DELETE /margin/position/{symbol}`, which takes a limit price too.",
    "unsubscribeTransactions": "The ledger is followed while the socket is open; closing it ends the subscription.",
    "unsubscribeBalance": "The balances are followed for as long as the socket is open, as the ledger is.",
    "findTransactions": "The whole ledger is kept; its page searches it by currency, days, kind, state and words.",
    "getCurrencies": "The list of currencies changes rarely; a worker reads it over REST, with no socket to open.",
    "getCurrency": "One currency is a row of the list that is read over REST.",
    "getSymbols": "The list of symbols changes rarely; a worker reads it over REST and keeps its age.",
    "getSymbol": "The rules of one symbol are a row of the list that is read over REST.",
    "getTrades": "Subscribing to trades brings the last ones first, and what came before is read over REST.",
    "getTradingBalance": "The trading account is read over REST in each round, with or without an open socket.",
}
CHAIN: Final[Mapping[str, str]] = {
    "get_best_block_hash": "The tip's hash comes with the state of the whole chain, so that both are of one moment.",
    "get_block_count": "The tip's height comes with the state of the whole chain, and with the headers checked here.",
    "get_difficulty": "The difficulty comes with the state of the whole chain, and each block's page has its own.",
    "verify_tx_out_proofs": "A proof is checked by the desk's own arithmetic; the service is asked about one at most.",
    "get_token_balance": "An address's page reads its balances of all properties in one call.",
    "get_frozen_balance": "What is frozen is read for a whole address or property at once and marked in the lists.",
    "get_slp_balance": "An address's page reads its balances of all tokens of the simple ledger in one call.",
    "get_slp_transactions": "An address's page lists what it did with all tokens, which holds those of each.",
    "get_address_unconfirmed": "The unspent outputs of an address hold those that wait for a block, with their age.",
    "get_unconfirmed_of_addresses": "No page shows several addresses; the unspent outputs of each hold what waits.",
    "get_raw_transactions": "Bytes are read of one transaction at a time, when a page or a proof first needs them.",
    "get_slp_balances_of_addresses": "A page shows the tokens of one address; the bulk form answers the same for each.",
    "get_slp_balances_of_tokens": "A page shows the holders of one token; the bulk form answers the same for each.",
    "get_slp_balances": "Nobody asks for pairs of address and token who can read all tokens of the address.",
    "get_slp_transactions_of_pairs": "The history of an address covers all its tokens, without naming each pair.",
    "send_raw_transactions": "Each transaction is explained and confirmed by itself before it is sent.",
    "create_slp_token": "Carries a private key, which never enters a browser: `manage.py slp_token create`.",
    "mint_slp_token": "Carries the key of the minting baton's owner: `manage.py slp_token mint`.",
    "send_slp_token": "Carries the key of the tokens' owner: `manage.py slp_token send`.",
}
