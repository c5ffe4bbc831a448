"""Account management: withdrawals in one or two phases, and their fee."""

from sandbox.amounts import text_of
from sandbox.exchange.funds import withdrawals
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import FORBIDDEN_FOR_ACCOUNT, Caller, Refusal

LONGEST_COMMENT = 255
LONGEST_ADDRESS = 128
ORDER_NAMES = ("currency", "amount", "address", "paymentId", "includeFee", "autoCommit", "publicComment")


def create_withdrawal(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Pays out, or with autoCommit false only holds until commit, rollback or the end of the hour."""
    account = arguments.account(exchange, caller)
    sub_account = exchange.accounts.sub_account(account)
    if sub_account is not None and not sub_account.is_payout_enabled:
        raise Refusal(FORBIDDEN_FOR_ACCOUNT)
    transaction = withdrawals.hold(exchange, account, order(exchange, params))
    return {"id": transaction.id}


def commit_withdrawal(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Lets a held payout go out."""
    account, payout_id = arguments.account(exchange, caller), arguments.text(params, "id", required=True)
    return {"result": withdrawals.commit(exchange, account, payout_id)}


def rollback_withdrawal(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """Calls a held payout off."""
    account, payout_id = arguments.account(exchange, caller), arguments.text(params, "id", required=True)
    return {"result": withdrawals.roll_back(exchange, account, payout_id)}


def estimate_withdrawal(exchange: Exchange, caller: Caller | None, params: Arguments) -> object:
    """The fee that a withdrawal would cost now."""
    arguments.account(exchange, caller)
    currency = arguments.currency(exchange, params)
    arguments.amount(params)
    return {"fee": text_of(withdrawals.estimated_fee(currency))}


def order(exchange: Exchange, params: Arguments) -> withdrawals.Order:
    """What the arguments of a withdrawal ask for; anything malformed is refused here."""
    return withdrawals.Order(
        currency=arguments.currency(exchange, params),
        amount=arguments.amount(params),
        address=arguments.word(params, "address", required=True, longest=LONGEST_ADDRESS),
        payment_id=arguments.word(params, "paymentId"),
        include_fee=arguments.flag(params, "includeFee", False),
        auto_commit=arguments.flag(params, "autoCommit", True),
        public_comment=arguments.text(params, "publicComment", longest=LONGEST_COMMENT),
    )
