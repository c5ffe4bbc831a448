"""What is asked about cash accounts: one by its name and number, its proof, and the names of an address.

Source: chain data, Cash accounts; supplement 1.8 and 4. Here `number` is a block's height less the setting
`cash_account_offset`; unknown and malformed accounts are refused alike.
"""

from chaindata.wire import refusals
from chaindata.wire.addresses import Address, Kind
from chaindata.wire.cash_accounts import Identifier, NotAnIdentifier, Payment, identifier
from sandbox.chain.cash_accounts import Account, CashAccountLedger
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import naming
from sandbox.chain.handlers.arguments import Arguments, text
from sandbox.chain.node.terms import Refused

KIND_OF_PAYMENT = {1: Kind.KEY, 2: Kind.SCRIPT}
_TOKEN_AWARE = 0x80


def look_up_cash_account(node: FullNode, arguments: Arguments) -> object:
    """The one account of a name and number; where there are several, digits of its hash tell which."""
    requested = _identifier(arguments, collision=str(arguments.get("collision") or ""))
    if requested is None:
        raise Refused(refusals.CASH_ACCOUNT_UNKNOWN)
    accounts = _ledger(node).named(requested.name, requested.number, requested.prefix)
    if len(accounts) != 1:
        raise Refused(refusals.CASH_ACCOUNT_UNKNOWN)
    return _members(accounts[0])


def check_cash_account(node: FullNode, arguments: Arguments) -> object:
    """Every registration of a name in the block of its number, each with the proof that the block has it."""
    requested = _identifier(arguments)
    if requested is None:
        raise Refused(refusals.CASH_ACCOUNT_MALFORMED)
    accounts = _ledger(node).named(requested.name, requested.number)
    if not accounts:
        raise Refused(refusals.CASH_ACCOUNT_UNKNOWN)
    return {
        "identifier": f"{requested.name}#{requested.number}",
        "block": accounts[0].block.height,
        "results": [
            {"transaction": each.transaction.raw.hex(), "inclusionProof": each.inclusion_proof.hex().upper()}
            for each in accounts
        ],
    }


def find_cash_accounts(node: FullNode, arguments: Arguments) -> object:
    """The accounts that pay an address, or another payment in the text that an account shows, by their numbers."""
    if not str(arguments.get("account") or "").strip():
        raise Refused(refusals.EMPTY_MEMBER, name="address")
    payee_text = text(arguments, "account")
    try:
        address: Address | None = naming.read(payee_text)
    except Refused:
        address = None
    matches = _ledger(node).paying(lambda payment: _is_meant(payment, payee_text, address))
    if not matches:
        raise Refused(refusals.CASH_ACCOUNT_UNKNOWN)
    return {"results": [_owned(account, payment) for account, payment in matches]}


def _is_meant(payment: Payment, payee_text: str, address: Address | None) -> bool:
    kind = KIND_OF_PAYMENT.get(payment.kind & ~_TOKEN_AWARE)
    if kind is None:
        return payment.text(naming.PRINTED) == payee_text
    return address is not None and (address.kind, address.hash) == (kind, payment.content)


def _ledger(node: FullNode) -> CashAccountLedger:
    return node.chain.cash_accounts.numbered_from(node.config.cash_account_offset)


def _identifier(arguments: Arguments, collision: str = "") -> Identifier | None:
    """What is looked for; None when a part of it is malformed. Raises `Refused` when one is missing."""
    name = str(arguments.get("account") or "").strip()
    if not name:
        raise Refused(refusals.EMPTY_MEMBER, name="account name")
    number = text(arguments, "number").strip()
    if not all(each.isascii() and each.isdigit() for each in (number, collision) if each):
        return None
    try:
        return identifier(f"{name}#{number}" + (f".{collision}" if collision else ""))
    except NotAnIdentifier:
        return None


def _members(account: Account) -> dict[str, object]:
    collision = account.collision
    return {
        "identifier": account.identifier,
        "information": {
            "emoji": account.emoji,
            "name": account.registration.name,
            "number": account.number,
            "collision": {"hash": collision.hash, "count": collision.count, "length": collision.length},
            "payment": [
                {"type": each.words, "address": each.text(naming.PRINTED)} for each in account.registration.payments
            ],
        },
    }


def _owned(account: Account, payment: Payment) -> dict[str, object]:
    return {
        "accountEmoji": account.emoji,
        "nameText": account.registration.name,
        "accountNumber": account.number,
        "accountHash": account.collision.hash,
        "accountCollisionLength": account.collision.length,
        "payloadType": payment.kind & ~_TOKEN_AWARE,
        "payloadAddress": payment.text(naming.PRINTED),
    }


HANDLERS = {function.__name__: function for function in (look_up_cash_account, check_cash_account, find_cash_accounts)}
