"""Account management: withdrawals in one or two phases, and their fee."""

from typing import TYPE_CHECKING

from sandbox.exchange import withdrawals
from sandbox.exchange.amounts import text_of
from sandbox.exchange.terms import FORBIDDEN_FOR_ACCOUNT, Caller, Refusal
from sandbox.handlers import given
from sandbox.handlers.given import Arguments

if TYPE_CHECKING:
    from sandbox.world import World

LONGEST_COMMENT = 255
LONGEST_ADDRESS = 128
ORDER_NAMES = ("currency", "amount", "address", "paymentId", "includeFee", "autoCommit", "publicComment")


def create_withdrawal(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Pays out, or with autoCommit false only holds until commit, rollback or the end of the hour."""
    account = given.account(world, caller)
    sub_account = world.exchange.accounts.sub_account(account)
    if sub_account is not None and not sub_account.is_payout_enabled:
        raise Refusal(FORBIDDEN_FOR_ACCOUNT)
    transaction = withdrawals.hold(world.exchange, account, order(world, arguments))
    return {"id": transaction.id}


def commit_withdrawal(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Lets a held payout go out."""
    account, payout_id = given.account(world, caller), given.text(arguments, "id", required=True)
    return {"result": withdrawals.commit(world.exchange, account, payout_id)}


def rollback_withdrawal(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """Calls a held payout off."""
    account, payout_id = given.account(world, caller), given.text(arguments, "id", required=True)
    return {"result": withdrawals.roll_back(world.exchange, account, payout_id)}


def estimate_withdrawal(world: "World", caller: Caller | None, arguments: Arguments) -> object:
    """The fee that a withdrawal would cost now."""
    given.account(world, caller)
    currency = given.currency(world, arguments)
    given.amount(arguments)
    return {"fee": text_of(withdrawals.estimated_fee(currency))}


def order(world: "World", arguments: Arguments) -> withdrawals.Order:
    """What the arguments of a withdrawal ask for; anything malformed is refused here."""
    return withdrawals.Order(
        currency=given.currency(world, arguments),
        amount=given.amount(arguments),
        address=given.word(arguments, "address", required=True, longest=LONGEST_ADDRESS),
        payment_id=given.word(arguments, "paymentId"),
        include_fee=given.flag(arguments, "includeFee", False),
        auto_commit=given.flag(arguments, "autoCommit", True),
        public_comment=given.text(arguments, "publicComment", longest=LONGEST_COMMENT),
    )
