"""What the terms mean that pages can't do without: one sentence each, for somebody new to the desk.

A page names those that it uses, last in its block (`{% terms "hold" "echo" %}`), and they stand at its foot.
"""

from typing import Final

TERMS: Final[dict[str, str]] = {
    "ask and bid": "The ask is the lowest price at which somebody sells at this moment, the bid the highest at "
    "which somebody buys.",
    "authenticator app": "An app on your phone that shows a code of six digits, a new one every half minute.",
    "bank account and trading account": "The two accounts at the exchange: payouts leave from the bank account, "
    "orders trade with the trading account, and a transfer moves money between them.",
    "baton": "The right to mint more of a token. It is passed on with each minting; once it is gone nothing can "
    "be minted.",
    "block": "A batch of transactions that was added to the chain together.",
    "cash address": "The usual form of an address on this chain: small letters and digits behind a prefix and a colon.",
    "cash account": "A short name with a number that stands for an address, registered in a transaction.",
    "chain": "The public record of all payments in a coin, which anybody can read and check.",
    "collateral": "Money that is tied up at the exchange so that a margin position can be kept open.",
    "collectible": "One of a family of tokens each of which is different from all others and can't be divided.",
    "collision": "The digits that tell apart two accounts with the same name and number.",
    "confirmations": "How many blocks hold a payment down: its own and all after it. The more, the harder to undo.",
    "crowdsale": "A sale in which everybody who pays in is given new tokens, until a date that was set when it began.",
    "digest": "A short fingerprint of exactly what was shown. It changes if anything of it changes.",
    "echo": "The exchange's own record of what was asked for. The desk compares it with what was approved.",
    "ecosystem": "Tokens with a number belong to a main or a test part, and those of the test part are for "
    "trying things out.",
    "finality": "A payment that is final is too deep in the chain to be undone by the branches that occur in practice.",
    "follower": "A process of the desk that stays connected to a service and hears what changes there as it happens.",
    "freeze": "A stop for all money that leaves: one person can freeze, and it takes two people to thaw.",
    "freeze of a sub-account": "It can't log in, trade or withdraw, and its orders are cancelled, until an admin "
    "activates it.",
    "hold": "Money that the exchange has reserved for one payout, until it is paid out or released.",
    "ledger": "The exchange's own list of everything that changed a balance, as the desk has read it.",
    "leverage": "How many times the collateral a margin position may be worth.",
    "liquidation": "The exchange closes a margin position by itself, because its collateral no longer covers the loss.",
    "maker and taker": "An order that waits in the book makes the market; one that is matched at once takes from it. "
    "Each pays its own rate.",
    "margin call": "The price at which the exchange asks for more collateral.",
    "mark": "The price by which a margin position is judged now: the last trade, or the middle of the market.",
    "mempool": "The transactions that a node of the chain knows and that are not in a block yet.",
    "merkle branch": "The hashes that lead from one transaction to its block's header, which show that it is in "
    "that block.",
    "network fee": "What the payment itself costs: added to the amount, or deducted from it.",
    "bracket": "An order with a stop, which rests at the exchange, and a take profit, which the desk watches.",
    "order book": "All orders that wait at the exchange, by price: bids want to buy, asks want to sell.",
    "output": "One part of a transaction: an amount, and the condition under which it can be spent.",
    "passkey": "A key for signing in that a device keeps and opens by a finger, a face or its own code.",
    "payload": "The bytes in a transaction that mean something to the tokens upon the chain.",
    "policy": "The rules that say how many people have to approve what, and what is refused.",
    "position": "What is held on margin in one symbol: long gains when the price rises, short when it falls.",
    "property": "A token that is known by a number: issued once, issued when its issuer wants, or sold in a crowdsale.",
    "quorum": "How many different people have to approve before money moves. Whoever asked is never one of them.",
    "raw transaction": "A transaction as the very bytes that are sent to the network.",
    "recovery code": "A code that lets you in once, when the app or the passkey is lost.",
    "right": "What the exchange lets a key do: read balances, trade, or pay out, for instance.",
    "rotation": "A key is replaced by a new one in steps, so that the desk is never without one that works.",
    "script": "The condition of an output, written as small instructions, and what an input brings to meet it.",
    "second factor": "What you give beside the password: a code of an app on your phone, or a passkey.",
    "step-up": "Your second factor, asked for again at the moment of a decision and for that decision alone.",
    "stop price": "The trade price that wakes a stop order: below the market for a sale, above it for a purchase.",
    "sub-account": "A separate account at the exchange that belongs under ours, with balances of its own.",
    "tip": "The newest block of the chain.",
    "trail": "The list of what was done, by whom and when. Each entry carries the hash of the one before, "
    "so that a change to the past shows.",
    "unknown": "The answer of the exchange was lost, so what it did has to be looked up first.",
    "worker": "A process of the desk that asks the exchange, reads balances and carries out decisions.",
}
