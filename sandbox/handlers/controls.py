"""What testers do to the world through the control plane: money from outside, payouts moved on, time, configuration.

An action takes the world and plain arguments and returns JSON; anything odd is refused with 10001 and a sentence.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from sandbox.clock import CannotSetClock
from sandbox.config import CannotConfigure
from sandbox.exchange import chain_blocks, network, withdrawals
from sandbox.exchange.amounts import digits_after_point
from sandbox.exchange.currencies import Currency
from sandbox.exchange.payouts import Payout, Phase
from sandbox.exchange.symbols import MOST_SYMBOLS
from sandbox.exchange.terms import PAYOUT_NOT_FOUND, VALIDATION_ERROR, Refusal
from sandbox.exchange.transactions import Status, instant_text
from sandbox.handlers import chain_controls, coin_deposits, given
from sandbox.handlers.given import Arguments
from sandbox.handlers.withdrawals import ORDER_NAMES, order
from sandbox.keys import DESK_ACCOUNT

if TYPE_CHECKING:
    from sandbox.world import World

Action: TypeAlias = "Callable[[World, Arguments], object]"

CLOCK, RESET = "clock", "reset"
HIGHEST_SEED = 2**63 - 1
_MOVES = (Status.PENDING.value, Status.SUCCESS.value, Status.FAILED.value)


def deposit(world: "World", arguments: Arguments) -> object:
    """A payin of a currency and amount, to an address of the exchange or to the account's current one.

    On the sandbox's own chain it is a payment of the miner's, who is the sender then.
    """
    given.only(arguments, "currency", "amount", "address", "paymentId", "account", "sender")
    currency, amount = given.currency(world, arguments), given.amount(arguments)
    if digits_after_point(amount) > max(currency.digits, currency.precision_transfer or 0):
        raise given.odd("amount", f"has more digits after the point than {currency.code}")
    account, address, payment_id = _receiver(world, arguments, currency)
    sender, movements = given.word(arguments, "sender"), world.exchange.movements
    if currency.on_chain and movements is not None:
        if sender or not address:
            raise given.odd("sender" if sender else "address", f"can't be told: a deposit of {currency.code} is paid")
        return {"id": coin_deposits.pay_in(world, movements, address, amount)}
    transaction = network.deposit(
        world.exchange,
        account,
        currency,
        amount,
        address=address,
        payment_id=payment_id,
        senders=(sender,) if sender else (),
    )
    return {"id": transaction.id}


def payouts(world: "World", arguments: Arguments) -> object:
    """Moves the payout `id` on to a status by force: pending, success, or failed with an errorCode."""
    given.only(arguments, "id", "status", "errorCode")
    exchange = world.exchange
    payout = exchange.payouts.get(given.text(arguments, "id", required=True))
    if payout is None:
        raise Refusal(PAYOUT_NOT_FOUND)
    status = given.choice(arguments, "status", _MOVES)
    if "errorCode" in arguments and status != Status.FAILED:
        raise given.odd("errorCode", "is only for a payout that fails")
    error_code = given.choice(arguments, "errorCode", network.ERROR_CODES, network.INVALID_ADDRESS)
    if payout.ended or (status == Status.PENDING and exchange.transaction(payout.id).status is Status.PENDING):
        raise given.odd("id", f"is a payout that is {exchange.transaction(payout.id).status.value} already")
    currency = exchange.currencies[payout.currency]
    if currency.on_chain and status != Status.FAILED and not network.can_be_paid(exchange, payout):
        raise given.odd("status", "can't be that: no transaction of the chain pays this address")
    _move(world, payout, status, error_code if "errorCode" in arguments else "")
    return network.shown(exchange, exchange.transaction(payout.id))


def foreign_withdrawal(world: "World", arguments: Arguments) -> object:
    """A withdrawal from the account (the desk's unless `account` says otherwise) that nobody here asked for."""
    given.only(arguments, "account", *ORDER_NAMES)
    transaction = withdrawals.hold(world.exchange, _account(world, arguments), order(world, arguments))
    return {"id": transaction.id}


def clock(world: "World", arguments: Arguments) -> object:
    """Advances time by `advance_ms`, freezes it or lets it run (`frozen`), and tells it."""
    given.only(arguments, "advance_ms", "frozen")
    advance_ms, frozen = arguments.get("advance_ms"), arguments.get("frozen")
    if frozen is not None and not isinstance(frozen, bool):
        raise given.odd("frozen", "must be true or false")
    try:
        if advance_ms is not None:
            world.clock.advance(given.whole(arguments, "advance_ms", 0, 0, HIGHEST_SEED))
    except CannotSetClock as problem:
        raise Refusal(VALIDATION_ERROR, str(problem)) from None
    if frozen is not None:
        world.clock.freeze(frozen)
    now_ms = world.clock.now_ms()
    return {"time": instant_text(now_ms), "time_ms": now_ms, "frozen": world.clock.frozen}


def config(world: "World", arguments: Arguments) -> object:
    """Changes the named settings and tells all of them."""
    try:
        world.config.change(arguments)
    except CannotConfigure as problem:
        raise Refusal(VALIDATION_ERROR, str(problem)) from None
    if "block_seconds" in arguments:
        chain_blocks.pace_changed(world.exchange)
    return world.config.shown()


def reset(world: "World", arguments: Arguments) -> object:
    """A fresh world, with another seed or number of symbols when they are given."""
    given.only(arguments, "seed", "symbols")
    header = world.journal.header
    seed = given.whole(arguments, "seed", header.seed, 0, HIGHEST_SEED)
    symbols = given.whole(arguments, "symbols", header.symbols or 0, 0, MOST_SYMBOLS)
    world.begin_again(seed, symbols or None)
    return shown_state(world)


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


def shown_state(world: "World") -> dict[str, object]:
    """The state of the world as JSON."""
    exchange, header = world.exchange, world.journal.header
    return {
        "time": instant_text(exchange.moment_ms),
        "time_ms": exchange.moment_ms,
        "frozen": world.clock.frozen,
        "seed": header.seed,
        "dialect": world.config.dialect,
        "started": instant_text(header.started_ms),
        "journal": {"length": world.journal.length, "kept": world.journal.path is not None},
        "tip": chain_controls.shown_tip(exchange.chain),
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
        "config": world.config.shown(),
        "warnings": list(world.warnings),
        "broken": world.broken,
    }


def _account(world: "World", arguments: Arguments) -> str:
    account = given.text(arguments, "account") or DESK_ACCOUNT
    if world.exchange.accounts.find(account) is None:
        raise given.odd("account", "is not known")
    return account


def _receiver(world: "World", arguments: Arguments, currency: Currency) -> tuple[str, str, str]:
    """Account, address and payment id to which a deposit goes."""
    address, payment_id = given.word(arguments, "address"), given.word(arguments, "paymentId")
    if address and currency.crypto:
        owner = world.exchange.addresses.owner(currency.code, address, payment_id)
        if not owner:
            raise given.odd("address", f"is no {currency.code} deposit address of this exchange (with this payment id)")
        return owner, address, payment_id
    account = _account(world, arguments)
    made = world.exchange.addresses.of(account, currency.code)
    if not currency.crypto or not made:
        return account, "", ""
    return account, made[-1].address, made[-1].payment_id


def _move(world: "World", payout: Payout, status: str, error_code: str) -> None:
    if payout.phase is Phase.HELD and status != Status.FAILED:
        withdrawals.take_out(world.exchange, payout)
    if status == Status.PENDING:
        network.broadcast(world.exchange, payout)
    elif status == Status.SUCCESS:
        network.settle(world.exchange, payout)
    else:
        withdrawals.call_off(world.exchange, payout, error_code)
