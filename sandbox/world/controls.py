"""What testers do to the world through the control plane: money from outside, payouts moved on, time, configuration.

An action takes the world and plain arguments and returns JSON; anything odd is refused with 10001 and a sentence.
"""

from collections.abc import Callable
from typing import TypeAlias

from sandbox.amounts import digits_after_point
from sandbox.engine.clock import CannotSetClock, instant_text
from sandbox.exchange.accounts.transactions import Payout, Phase, Status
from sandbox.exchange.funds import chain_blocks, network, withdrawals
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.arguments import Arguments
from sandbox.exchange.handlers.withdrawals import ORDER_NAMES, order
from sandbox.exchange.listing.currencies import Currency
from sandbox.exchange.listing.symbols import MOST_SYMBOLS
from sandbox.exchange.terms import PAYOUT_NOT_FOUND, VALIDATION_ERROR, Refusal
from sandbox.settings.config import CannotConfigure
from sandbox.settings.keys import DESK_ACCOUNT
from sandbox.world import chain_controls
from sandbox.world.control import Control

Action: TypeAlias = "Callable[[Control, Arguments], object]"

CLOCK, RESET = "clock", "reset"
HIGHEST_SEED = 2**63 - 1
_MOVES = (Status.PENDING.value, Status.SUCCESS.value, Status.FAILED.value)


def deposit(control: Control, params: Arguments) -> object:
    """A payin of a currency and amount, to an address of the exchange or to the account's current one.

    On the sandbox's own chain it is a payment of the miner's, who is the sender then.
    """
    arguments.only(params, "currency", "amount", "address", "paymentId", "account", "sender")
    currency, amount = arguments.currency(control.exchange, params), arguments.amount(params)
    if digits_after_point(amount) > max(currency.digits, currency.precision_transfer or 0):
        raise arguments.odd("amount", f"has more digits after the point than {currency.code}")
    account, address, payment_id = _receiver(control, params, currency)
    sender, movements = arguments.word(params, "sender"), control.exchange.movements
    if currency.on_chain and movements is not None:
        if sender or not address:
            raise arguments.odd(
                "sender" if sender else "address", f"can't be told: a deposit of {currency.code} is paid"
            )
        return {"id": chain_controls.pay_in(control, movements, address, amount)}
    transaction = network.deposit(
        control.exchange,
        account,
        currency,
        amount,
        address=address,
        payment_id=payment_id,
        senders=(sender,) if sender else (),
    )
    return {"id": transaction.id}


def payouts(control: Control, params: Arguments) -> object:
    """Moves the payout `id` on to a status by force: pending, success, or failed with an errorCode."""
    arguments.only(params, "id", "status", "errorCode")
    exchange = control.exchange
    payout = exchange.payouts.get(arguments.text(params, "id", required=True))
    if payout is None:
        raise Refusal(PAYOUT_NOT_FOUND)
    status = arguments.choice(params, "status", _MOVES)
    if "errorCode" in params and status != Status.FAILED:
        raise arguments.odd("errorCode", "is only for a payout that fails")
    error_code = arguments.choice(params, "errorCode", network.ERROR_CODES, network.INVALID_ADDRESS)
    if payout.ended or (status == Status.PENDING and exchange.transaction(payout.id).status is Status.PENDING):
        raise arguments.odd("id", f"is a payout that is {exchange.transaction(payout.id).status.value} already")
    currency = exchange.currencies[payout.currency]
    if currency.on_chain and status != Status.FAILED and not network.can_be_paid(exchange, payout):
        raise arguments.odd("status", "can't be that: no transaction of the chain pays this address")
    _move(control, payout, status, error_code if "errorCode" in params else "")
    return network.record_of(exchange, exchange.transaction(payout.id))


def foreign_withdrawal(control: Control, params: Arguments) -> object:
    """A withdrawal from the account (the desk's unless `account` says otherwise) that nobody here asked for."""
    arguments.only(params, "account", *ORDER_NAMES)
    transaction = withdrawals.hold(control.exchange, _account(control, params), order(control.exchange, params))
    return {"id": transaction.id}


def clock(control: Control, params: Arguments) -> object:
    """Advances time by `advance_ms`, freezes it or lets it run (`frozen`), and tells it."""
    arguments.only(params, "advance_ms", "frozen")
    advance_ms, frozen = params.get("advance_ms"), params.get("frozen")
    if frozen is not None and not isinstance(frozen, bool):
        raise arguments.odd("frozen", "must be true or false")
    try:
        if advance_ms is not None:
            control.clock.advance(arguments.whole_number(params, "advance_ms", 0, 0, HIGHEST_SEED))
    except CannotSetClock as problem:
        raise Refusal(VALIDATION_ERROR, str(problem)) from None
    if frozen is not None:
        control.clock.freeze(frozen)
    now_ms = control.clock.now_ms()
    return {"time": instant_text(now_ms), "time_ms": now_ms, "frozen": control.clock.frozen}


def config(control: Control, params: Arguments) -> object:
    """Changes the named settings and tells all of them."""
    try:
        control.exchange.config.change(params)
    except CannotConfigure as problem:
        raise Refusal(VALIDATION_ERROR, str(problem)) from None
    if "block_seconds" in params:
        chain_blocks.pace_changed(control.exchange)
    return control.exchange.config.as_json()


def reset(control: Control, params: Arguments) -> object:
    """A fresh control, with another seed or number of symbols when they are given."""
    arguments.only(params, "seed", "symbols")
    header = control.journal.header
    seed = arguments.whole_number(params, "seed", header.seed, 0, HIGHEST_SEED)
    symbols = arguments.whole_number(params, "symbols", header.symbols or 0, 0, MOST_SYMBOLS)
    control.begin_again(seed, symbols or None)
    return state_json(control)


CONTROLS: dict[str, Action] = {
    "deposit": deposit,
    "payouts": payouts,
    "foreign-withdrawal": foreign_withdrawal,
    CLOCK: clock,
    "config": config,
    RESET: reset,
    **chain_controls.CHAIN_CONTROLS,
}
# The clock and payments on the chain write their own entries, and a reset begins another journal.
JOURNALED = frozenset(CONTROLS) - {CLOCK, RESET, chain_controls.PAY}


def state_json(control: Control) -> dict[str, object]:
    """The state of the world as JSON."""
    exchange, header = control.exchange, control.journal.header
    return {
        "time": instant_text(exchange.moment_ms),
        "time_ms": exchange.moment_ms,
        "frozen": control.clock.frozen,
        "seed": header.seed,
        "dialect": control.exchange.config.dialect,
        "started": instant_text(header.started_ms),
        "journal": {"length": control.journal.length, "kept": control.journal.path is not None},
        "tip": chain_controls.tip_json(exchange.chain),
        "counts": {
            "accounts": len(exchange.accounts.every()),
            "currencies": len(exchange.currencies),
            "symbols": len(exchange.symbols),
            "transactions": len(exchange.transactions),
            "payouts": len(exchange.payouts),
            "open_holds": sum(payout.phase is Phase.HELD and not payout.ended for payout in exchange.payouts.values()),
            "open_orders": len(exchange.orders.active),
            "postings": exchange.ledger.posted,
            "timers": len(exchange.timers),
        },
        "config": control.exchange.config.as_json(),
        "warnings": list(control.warnings),
        "broken": control.broken,
    }


def _account(control: Control, params: Arguments) -> str:
    account = arguments.text(params, "account") or DESK_ACCOUNT
    if control.exchange.accounts.find(account) is None:
        raise arguments.odd("account", "is not known")
    return account


def _receiver(control: Control, params: Arguments, currency: Currency) -> tuple[str, str, str]:
    """Account, address and payment id to which a deposit goes."""
    address, payment_id = arguments.word(params, "address"), arguments.word(params, "paymentId")
    if address and currency.crypto:
        owner = control.exchange.addresses.owner(currency.code, address, payment_id)
        if not owner:
            raise arguments.odd(
                "address", f"is no {currency.code} deposit address of this exchange (with this payment id)"
            )
        return owner, address, payment_id
    account = _account(control, params)
    addresses = control.exchange.addresses.deposit_addresses(account, currency.code)
    if not currency.crypto or not addresses:
        return account, "", ""
    return account, addresses[-1].address, addresses[-1].payment_id


def _move(control: Control, payout: Payout, status: str, error_code: str) -> None:
    if payout.phase is Phase.HELD and status != Status.FAILED:
        withdrawals.take_out(control.exchange, payout)
    if status == Status.PENDING:
        network.broadcast(control.exchange, payout)
    elif status == Status.SUCCESS:
        network.settle(control.exchange, payout)
    else:
        withdrawals.call_off(control.exchange, payout, error_code)
