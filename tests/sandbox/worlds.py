"""Worlds for tests: a clock that only moves when told, the two accounts, addresses of every kind to pay to."""

from pathlib import Path
from typing import Any

import pytest

from sandbox.exchange.accounts import address_forms
from sandbox.exchange.orders.orders_reports import history_record, order_record, trade_record
from sandbox.world.world import Caller, Refusal, World

START_MS = 1_795_000_000_000
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DESK = Caller("demo-full", "desk@demo.test")
OTHER = Caller("other-full", "other@demo.test")


class Ticking:
    """A real clock that stands where the test puts it."""

    def __init__(self, at_ms: int = START_MS) -> None:
        self.at_ms = at_ms

    def __call__(self) -> int:
        return self.at_ms


def opened(
    folder: Path | None = None, clock: Ticking | None = None, *, traders: bool | None = None, **options: Any
) -> World:
    """A world on a standing clock. Unless `traders` says otherwise, a still one has empty books: what is in them is the
    test's."""
    world = World.open(folder, now_ms=clock or Ticking(), **options)
    if traders is False or (traders is None and options.get("still")):
        dismiss_traders(world)
    return world


def dismiss_traders(world: World) -> None:
    """Leaves the books of a world to the test."""
    world.exchange.refresh_book = world.exchange.simulated_traders = None


def outside(code: str, name: str = "somebody") -> str:
    """A valid address of the currency that belongs to nobody on the exchange."""
    kinds = {"BTC": "bitcoin", "BCH": "cash", "LTC": "litecoin", "DOGE": "dogecoin", "XRP": "ripple", "EOS": "eos"}
    return address_forms.make(kinds.get(code, "ontology" if code == "ONT" else "ethereum"), name)


def withdrawal(code: str = "BTC", amount: object = "1", **more: object) -> dict[str, object]:
    """Arguments of a two-phase withdrawal to an outside address."""
    return {"currency": code, "amount": amount, "address": outside(code), "autoCommit": False} | more


def held(world: World, code: str = "BTC", amount: object = "1", **more: object) -> str:
    """The id of a fresh hold."""
    return str(call(world, "create_withdrawal", **withdrawal(code, amount, **more))["id"])


def call(world: World, operation: str, caller: Caller | None = DESK, /, **arguments: object) -> Any:
    """The answer to a call, by the desk unless told otherwise; `from_` stands for `from`."""
    return world.perform(operation, caller, {name.rstrip("_"): value for name, value in arguments.items()})


def row(world: World, transaction_id: str) -> dict[str, Any]:
    """The desk's transaction."""
    transaction: dict[str, Any] = call(world, "get_transaction", id=transaction_id)
    return transaction


def balance(world: World, code: str, caller: Caller = DESK, operation: str = "get_balances") -> tuple[str, str]:
    """Available and reserved of one currency."""
    for line in call(world, operation, caller):
        if line["currency"] == code:
            return line["available"], line["reserved"]
    raise AssertionError(f"{code} is not among the balances")


def picture(world: World) -> tuple[object, ...]:
    """Everything that customers and testers can see of a world: equal pictures mean equal worlds."""
    exchange = world.exchange
    return (
        world.ledger(),
        [transaction.wire(show_senders=True) for transaction in exchange.transactions.every()],
        [(payout.id, payout.phase, payout.step, payout.ended) for payout in exchange.payouts.values()],
        [call(world, "get_deposit_addresses", currency=code) for code in ("BTC", "XRP", "NXT")],
        [call(world, "get_used_addresses", currency=code) for code in ("BTC", "BCH", "XRP")],
        [_ordered(world, account.email) for account in exchange.accounts.every()],
        world.config.as_json(),
        world.clock.setting,
        exchange.timers.next_due_ms(),
        exchange.moment_ms,
        [tip.block.hash for tip in world.chain.tips()],
        [entry.txid for entry in world.chain.mempool],
    )


def _ordered(world: World, account: str) -> tuple[object, ...]:
    """What an account ordered and traded, with what backs it."""
    dealings = world.exchange.orders.dealings(account)
    orders = dealings.orders.values()
    return (
        [
            (order_record(order), order.remaining, order.reserved, order.take, order.provide)
            for order in orders
            if order.is_active
        ],
        [history_record(order) for order in orders],
        [trade_record(trade) for trade in dealings.trades],
        sorted(dealings.active),
        sorted(dealings.latest),
    )


def refused(world: World, operation: str, code: int, caller: Caller | None = DESK, /, **arguments: object) -> Refusal:
    """The refusal of a call that must be refused with `code` and change nothing."""
    before, length = picture(world), world.journal.length
    with pytest.raises(Refusal) as caught:
        call(world, operation, caller, **arguments)
    assert caught.value.code == code, str(caught.value)
    assert picture(world) == before
    assert world.journal.length == length
    return caught.value
