"""What the terms mean that pages can't do without: one sentence each, for somebody new to the desk.

A page names those that it uses, last in its block (`{% terms "hold" "echo" %}`), and they stand at its foot.
"""

from typing import Final

TERMS: Final[dict[str, str]] = {
    "approval group": "A named set of people. A tier or payout rule can require approvals from a group; a person "
    "counts for one group only.",
    "ask and bid": "The ask is the lowest price currently offered by a seller, the bid the highest offered by a buyer.",
    "authenticator app": "An app on your phone that shows a new six-digit code every 30 seconds.",
    "bank account and trading account": "The two accounts at the exchange: payouts are made from the bank account, "
    "orders use the trading account, and transfers move funds between them.",
    "baton": "The right to mint more of a token. It is passed on with each mint; if it is spent in any other way, "
    "no more can be minted.",
    "block": "A batch of transactions added to the chain together.",
    "cash address": "The usual address format on this chain: a prefix, a colon, lower-case letters and digits.",
    "cash account": "A short name and number, registered in a transaction, that stand for an address.",
    "chain": "The public record of all payments in a coin. Anyone can read and verify it.",
    "clearing account": "An account that holds one side of a movement until the other side is posted. What stays "
    "on it is a gain, a loss or an open item.",
    "collateral": "Funds locked at the exchange to keep a margin position open.",
    "collectible": "A unique, indivisible token that belongs to a collection.",
    "collision": "The digits that distinguish accounts with the same name and number.",
    "confirmations": "The number of blocks from the payment's block to the tip. The more there are, the harder the "
    "payment is to reverse.",
    "crowdsale": "A sale of new tokens to everyone who pays in, until a date set at the start.",
    "digest": "A short fingerprint of exactly what was shown. If the content changes, so does the digest.",
    "echo": "The exchange's own record of the request. The desk compares it with what was approved.",
    "ecosystem": "Property tokens belong to the main or the test ecosystem; test tokens are for testing only.",
    "finality": "A final payment is too deep in the chain for any realistic reorganisation to reverse it.",
    "fingerprint": "Four words computed from the digest of a request, easy to compare on two devices.",
    "follower": "A desk process that stays connected to a service and receives updates live.",
    "freeze": "A stop on payouts, transfers, orders and margin actions of an account, of a currency, to a destination, "
    "or of everything. One person can order it; lifting it takes two.",
    "freeze of a sub-account": "The sub-account can't log in, trade or withdraw until an administrator activates it. "
    "Its orders are cancelled.",
    "hold": "Funds that the exchange has reserved for one payout until it is paid or released.",
    "ledger": "The exchange's own list of everything that changed a balance, as last synced by the desk.",
    "leverage": "The maximum size of a margin position as a multiple of its collateral.",
    "liquidation": "The exchange's forced closing of a margin position when the position's collateral is used up.",
    "maker and taker": "A maker order rests in the book; a taker order is matched at once. Each pays its own fee rate.",
    "margin call": "The exchange's demand for more collateral, made when the price reaches a set level.",
    "mark": "The price at which a margin position is valued: the last trade, or the mid price.",
    "mempool": "Transactions that a node has received but that are not in a block yet.",
    "merkle branch": "The hashes that link a transaction to its block's header and prove that it is in that block.",
    "network fee": "The fee for sending a payout over the network: added to the amount, or deducted from it.",
    "bracket": "An order with a stop, which rests on the exchange, and a take-profit, which the desk monitors.",
    "order book": "All open orders in one symbol, by price: bids to buy, asks to sell.",
    "output": "One part of a transaction: an amount, and the condition under which it can be spent.",
    "passkey": "A sign-in key stored on a device and unlocked by fingerprint, face or PIN.",
    "payload": "The part of a transaction that carries a token message.",
    "policy": "The rules that set how many approvals a request needs and which requests are rejected.",
    "position": "A margin holding in one symbol. A long position gains when the price rises, a short one when it "
    "falls.",
    "property": "A token identified by a number: fixed, managed by its issuer, or sold in a crowdsale.",
    "quorum": "How many different people must approve before money moves. The requester never counts.",
    "raw transaction": "A transaction in the exact form sent to the network.",
    "recovery code": "A one-time code for signing in if you lose your app or passkey.",
    "right": "What the exchange allows a key to do, such as reading balances, trading or paying out.",
    "rotation": "Replacing a key with a new one in steps, so that the desk always has a working key.",
    "script": "The spending condition of an output, and the data with which an input satisfies it.",
    "second factor": "Proof of identity in addition to the password: a code from an app on your phone, or a passkey.",
    "step-up": "Confirming a single decision with your second factor at the moment you make it.",
    "stop price": "The trade price that triggers a stop order: below the market for a sell stop, above for a buy stop.",
    "sub-account": "A separate account under ours at the exchange, with its own balances.",
    "suspense account": "An account for movements of a type that is not known, until somebody posts them where "
    "they belong.",
    "tip": "The newest block of the chain.",
    "trail": "The record of who took each action, and when. Each entry carries the hash of the previous one, so any "
    "later change is detected.",
    "unknown": "The exchange's response was lost, so the outcome is unknown until it is looked up.",
    "worker": "A desk process that sends requests to the exchange, syncs balances and carries out decisions.",
}
