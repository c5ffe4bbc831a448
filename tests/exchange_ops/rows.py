"""Rows for the tests of pages, made by the mover itself, without an exchange."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from exchange_ops.ledger.models import Balance, LedgerEntry
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import Currency, Symbol, Ticker
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.policy import quorum as policy
from exchange_ops.positions import machine as margin_moves
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.transfers import machine as transfer_machine
from exchange_ops.transfers import workflow as transfers
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import deadlines
from exchange_ops.withdrawals import machine as withdrawal_machine
from exchange_ops.withdrawals.decisions import policy_evaluation as judging
from exchange_ops.withdrawals.models import Withdrawal

NOW = datetime(2026, 11, 20, 14, 0, 0, tzinfo=UTC)
ADDRESS = "bchreg:qzd59qv9a8lctxa6eal3dw4rdmnguzxqlqmnj0xnqg"
ECHO = [
    {"field": "amount", "ours": "1.25", "theirs": "1.25", "agrees": True},
    {"field": "address", "ours": ADDRESS, "theirs": ADDRESS, "agrees": True},
]


def account(*, now: datetime = NOW) -> Account:
    """The one account, with rules in force, at an exchange whose forgotten holds were seen to lapse."""
    policy.ensure_first(now=now)
    found, made = Account.objects.get_or_create(name="Main desk", defaults={"quote_currency": "USD"})
    if made:
        facts.note(account=found, name=facts.HOLD_END, value=facts.LAPSES, now=now)
    return found


def currency(code: str = "BCH", *, now: datetime = NOW, **changes: Any) -> Currency:
    """A currency that can be paid out."""
    columns = {
        "full_name": {"BCH": "Bitcoin Cash", "XRP": "Ripple"}.get(code, code),
        "crypto": True,
        "payin_enabled": True,
        "payout_enabled": True,
        "payout_fee": Decimal("0.001"),
        "payout_minimal_amount": Decimal("0.01"),
        "precision_payout": 8,
        "read_at": now,
    }
    return Currency.objects.update_or_create(code=code, defaults={**columns, **changes})[0]


def price(base: str = "BCH", quote: str = "USD", *, last: str = "500", now: datetime = NOW) -> None:
    """A fresh price."""
    code = f"{base}{quote}"
    rates = {"quantity_increment": Decimal("0.001"), "tick_size": Decimal("0.01")}
    rates |= {"take_liquidity_rate": Decimal("0.001"), "provide_liquidity_rate": Decimal("0.001")}
    Symbol.objects.update_or_create(
        code=code,
        defaults={"base_currency": base, "quote_currency": quote, "fee_currency": quote, "read_at": now, **rates},
    )
    Ticker.objects.update_or_create(symbol=code, defaults={"last": Decimal(last), "timestamp": now, "read_at": now})


def balance(code: str = "BCH", *, bank: str = "500", trading: str = "10", now: datetime = NOW) -> None:
    """What both wallets hold."""
    for wallet, text in (("bank", bank), ("trading", trading)):
        Balance.objects.update_or_create(
            account=account(now=now),
            currency=code,
            wallet=wallet,
            defaults={"available": Decimal(text), "reserved": Decimal(0), "read_at": now},
        )


def requested(person: Any, *, now: datetime = NOW, **changes: Any) -> Withdrawal:
    """A request that was only recorded."""
    columns = {
        "account": account(now=now),
        "initiator": person,
        "request_key": str(uuid.uuid4()),
        "currency": "BCH",
        "amount": Decimal("1.25"),
        "address": ADDRESS,
        "reason": "Invoice 2041 of the hosting company",
    }
    row = Withdrawal(**{**columns, **changes})
    return withdrawal_machine.create(row, now=now, actor=row.initiator)


def submitted(person: Any, *, to: str = "queued", now: datetime = NOW, **changes: Any) -> Withdrawal:
    """A request whose checks are done: waiting for its hold, or for approvals before it."""
    row = requested(person, now=now, **changes)
    _, columns = judging.evaluate(row, now=now, fee_estimate=Decimal("0.001"), fee_estimated_at=now)
    return withdrawal_machine.move(row, event="submitted", to=to, now=now, **columns)


def held(person: Any, *, now: datetime = NOW, echo: bool = True, **changes: Any) -> Withdrawal:
    """A request with its money reserved and, unless told otherwise, the exchange's record compared."""
    row = submitted(person, now=now, **changes)
    withdrawal_machine.move(row, event="hold_claimed", to="holding", now=now, attempt=1, tag=f"tx-{row.pk}")
    withdrawal_machine.move(
        row, event="hold_accepted", to="held", now=now, exchange_id=f"ex-{row.pk}", **deadlines.deadlines(now)
    )
    if echo:
        members = {"echo": ECHO, "echo_ok": True, "fee": Decimal("0.001"), "exchange_status": "created"}
        withdrawal_machine.move(row, event="echo_agrees", to="held", now=now, **members)
    return row


def ended(person: Any, *, now: datetime = NOW, **changes: Any) -> Withdrawal:
    """A hold that was released."""
    row = held(person, now=now, **changes)
    decision = {"decision": "rollback", "decided_at": now, "last_problem": "Time was over."}
    withdrawal_machine.move(row, event="time_over", to="rolling_back", now=now, **decision)
    return withdrawal_machine.move(row, event="released", to="rolled_back", now=now)


def entry(number: int, *, now: datetime = NOW, **changes: Any) -> LedgerEntry:
    """A line of the ledger."""
    columns = {
        "account": account(now=now),
        "exchange_id": f"line-{number}",
        "index": number,
        "type": "payin",
        "status": "success",
        "currency": "BCH",
        "amount": Decimal("0.5"),
        "created_at": now,
        "updated_at": now + timedelta(seconds=number),
        "first_seen_at": now,
        "seen_at": now,
    }
    return LedgerEntry.objects.create(**{**columns, **changes})


def trade(number: int, *, now: datetime = NOW, **changes: Any) -> AccountTrade:
    """One trade of the account."""
    columns = {
        "account": account(now=now),
        "exchange_id": number,
        "exchange_order_id": 1,
        "symbol": "BCHUSD",
        "side": "buy",
        "quantity": Decimal("0.5"),
        "price": Decimal(500),
        "fee": Decimal("0.25"),
        "timestamp": now,
        "read_at": now,
    }
    return AccountTrade.objects.create(**{**columns, **changes})


def margin_order(of: Account, number: int | None, *, name: str = "margin", initiator: Any = None) -> Order:
    """An order on margin, placed elsewhere or not yet at the exchange."""
    return Order.objects.create(
        account=of,
        client_order_id=name,
        initiator=initiator,
        exchange_id=number,
        symbol="BCHUSD",
        side="buy",
        type="market",
        time_in_force="GTC",
        quantity=Decimal(50),
        margin=True,
        state="requested" if number is None else "placed",
        version=1,
        active=False,
        created_at=NOW,
        updated_at=NOW,
    )


def subaccount(number: int = 7001, *, now: datetime = NOW, **changes: Any) -> SubAccount:
    """A sub-account as it was read: active, allowed to pay out."""
    columns = {
        "email": f"desk+{number}@demo.test",
        "status": "active",
        "observed_at": now,
        "settings_at": now,
        "settings_shown": True,
        "payout_enabled": True,
        "description": "Trading",
        "balances_at": now,
        "balances_tried_at": now,
    }
    return SubAccount.objects.create(account=account(now=now), exchange_id=number, **{**columns, **changes})


def margin_action(person: Any, *, now: datetime = NOW, **changes: Any) -> MarginAction:
    """A margin account that somebody asked to be opened."""
    columns = {
        "account": account(now=now),
        "initiator": person,
        "request_key": str(uuid.uuid4()),
        "kind": "open",
        "symbol": "BCHUSD",
        "amount": Decimal(100),
    }
    row = MarginAction(**{**columns, **changes})
    return margin_moves.create(row, event="asked", now=now, actor=person)


def margin_position(*, now: datetime = NOW, **changes: Any) -> MarginPosition:
    """A margin account and its long position, as they were read."""
    when = {"created_at": now, "updated_at": now, "read_at": now}
    whose = {"account": account(now=now), "symbol": changes.pop("symbol", "BCHUSD")}
    held = {"margin_balance": 100, "margin_balance_orders": 0, "margin_balance_required": 60, "leverage": 10}
    MarginAccount.objects.update_or_create(**whose, defaults=held | when)
    figures = {"exchange_id": 7, "quantity": Decimal(1), "price_entry": Decimal(500), "pnl": Decimal(0)}
    figures |= {"price_margin_call": Decimal(440), "price_liquidation": Decimal(425)}
    return MarginPosition.objects.update_or_create(**whose, defaults=when | figures | changes)[0]


def transfer(person: Any, *, kind: str = "bank_to_trading", now: datetime = NOW, **changes: Any) -> Transfer:
    """A transfer that was asked for; to another user it waits for an approval."""
    target = {
        "to_user": {"by": "username", "identifier": "other"},
        "convert": {"to_currency": "BCHT20"},
        "to_subaccount": {"subaccount_id": 7001},
        "from_subaccount": {"subaccount_id": 7001},
    }
    columns = {
        "account": account(now=now),
        "currency": "BCH",
        "amount": Decimal("2.5"),
        "reason": "For the orders of tomorrow",
        "request_key": str(uuid.uuid4()),
        **target.get(kind, {}),
    }
    return transfers.request(initiator=person, kind=kind, now=now, **{**columns, **changes})


def transfer_sent(person: Any, *, to: str = "unknown", now: datetime = NOW, **changes: Any) -> Transfer:
    """A transfer whose call is over: moved, or its answer lost and what became of that."""
    row = transfer(person, now=now, **changes)
    transfer_machine.move(row, event="send_claimed", to="sending", now=now, attempt=1, sent_at=now)
    if to == "done":
        return transfer_machine.move(row, event="accepted", to="done", now=now, exchange_id=f"tx-{row.pk}")
    transfer_machine.move(row, event="outcome_unknown", to="unknown", now=now, last_problem="No usable answer: timeout")
    if to != "unknown":
        event = {"not_seen": "not_found", "investigate": "ambiguous"}[to]
        transfer_machine.move(row, event=event, to=to, now=now)
    return row
