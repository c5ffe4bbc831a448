"""Ids that may grow beyond 2^53 leave as text in every answer and message, and each fee with its currency."""

import json
import re

import pytest

from desk import clock
from desk.live import announcements
from desk.notifications import finding, messages
from desk.notifications.models import Medium, Notification
from exchange_ops.market.models import PublicTrade, Symbol
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db
BEYOND = 2**53 + 1  # the first whole number that a reader with floating point rounds
# Whole numbers that can't grow so far: our own ids, what is counted one by one, and amounts of a coin.
SMALL = {
    *("id", "order_id", "withdrawal", "transfer", "reissues", "replaces", "movement", "n", "vout", "place", "status"),
    *("height", "from_height", "confirmations", "size", "transactions", "attempts", "quorum_required", "left_today"),
    *("precision_payout", "reviewed", "waiting", "approvals"),
}
IN_CURRENCY_OF_ITS_ROW = {"WithdrawalOut": "currency", "LedgerEntryOut": "currency", "CurrencyOut": "code"}
NO_FEE = {"include_fee", "is_after_fees", "fee_currency"}


def members(described):
    description, _ = described
    for shape, facts in description["components"]["schemas"].items():
        for name, member in facts.get("properties", {}).items():
            yield shape, name, member


def test_no_member_of_an_answer_is_a_number_that_a_reader_could_round(described):
    odd = [
        (shape, name)
        for shape, name, member in members(described)
        if {"integer", "number"} & {*([member.get("type")] if isinstance(member.get("type"), str) else [])}
        and not (name in SMALL or name.endswith("_sat"))
    ]
    assert not odd, "use ExchangeIdText, or say in SMALL why it can't grow"


def test_each_fee_has_its_currency_in_the_same_object(described):
    shapes = {}
    for shape, name, _ in members(described):
        shapes.setdefault(shape, set()).add(name)
    fees = {shape for shape, names in shapes.items() if [one for one in names - NO_FEE if re.search("fees?(_|$)", one)]}
    without = {
        shape
        for shape in fees - {"ChainTransactionBody"}  # fee_sat names its unit
        if not {"fee_currency", IN_CURRENCY_OF_ITS_ROW.get(shape, "fee_currency")} & shapes[shape]
    }
    assert {"TradeOut", "OrderOut", "WithdrawalOut"} <= fees
    assert not without


@pytest.fixture
def beyond(described, operator):
    """A row of everything that carries a number of the exchange, with one that is beyond."""
    now = clock.now()
    order_rows.market(now=now)
    rows.currency(now=now, transfer_enabled=True)
    order_rows.elsewhere(now=now, number=BEYOND)
    rows.trade(BEYOND, now=now, exchange_order_id=BEYOND)
    rows.entry(1, now=now, index=BEYOND)
    rows.subaccount(BEYOND, now=now)
    rows.transfer(operator, kind="to_subaccount", now=now, subaccount_id=BEYOND)
    rows.margin_position(now=now, exchange_id=BEYOND)
    action = rows.margin_action(operator, now=now, kind="close_account", amount=None, position_id=BEYOND)
    type(action).objects.filter(pk=action.pk).update(exchange_order_id=BEYOND)
    trade = {"price": 1, "quantity": 1, "side": "buy", "timestamp": now, "read_at": now}
    PublicTrade.objects.create(symbol="BCHUSD", trade_id=BEYOND, **trade)
    _, client = described
    return client


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("orders/", 1),
        ("trades/", 2),
        ("ledger/", 1),
        ("subaccounts/", 1),
        (f"subaccounts/{BEYOND}/", 1),
        ("transfers/", 1),
        ("margin/", 1),
        ("margin/actions/", 2),
        ("markets/BCHUSD/trades/", 1),
    ],
)
def test_an_id_beyond_what_a_reader_keeps_exact_is_text(beyond, path, count):
    answer = beyond.get(f"/api/v1/{path}")
    assert answer.status_code == 200
    text = answer.content.decode()
    assert len(re.findall(rf':\s*"{BEYOND}"', text)) == count
    assert not re.search(rf"[:\[,]\s*{BEYOND}", text)


def test_the_fee_of_a_trade_is_in_the_currency_of_its_symbol(beyond):
    assert beyond.get("/api/v1/trades/").json()["items"][0]["fee_currency"] == "USD"
    Symbol.objects.update(fee_currency="BCH")
    assert beyond.get("/api/v1/trades/").json()["items"][0]["fee_currency"] == "BCH"
    Symbol.objects.all().delete()
    assert beyond.get("/api/v1/trades/").json()["items"][0]["fee_currency"] == ""


def test_the_body_of_a_webhook_or_a_chat_has_no_number_at_all(beyond, operator, treasury, admin):
    now = clock.now()
    rows.held(operator, now=now)
    rows.transfer(operator, kind="to_user", now=now)
    rows.transfer_sent(operator, to="investigate", now=now, kind="to_subaccount", subaccount_id=BEYOND)
    order_rows.waiting(operator, now=now)
    finding.notify_due(now=now)
    notifications = list(Notification.objects.all())
    assert {"approvals"} < {row.kind for row in notifications}
    assert len(notifications) > 3
    for row in notifications:
        for medium in (Medium.WEBHOOK, Medium.CHAT):
            json.loads(messages.content(row, medium), parse_int=pytest.fail, parse_float=pytest.fail)


@pytest.mark.parametrize("number", [BEYOND, -BEYOND, 2**63])
def test_no_message_to_browsers_carries_such_a_number(number):
    with pytest.raises(TypeError, match="as strings"):
        announcements.announce("orders", id=number)
    with pytest.raises(TypeError, match="as strings"):
        announcements.tick("trades:BCHUSD", rows=[[{"id": number}]])
    assert json.loads(json.dumps(2**53 - 1)) == 2**53 - 1
    announcements.announce("orders", id=2**53 - 1)
    announcements.tick("trades:BCHUSD", rows=[[2**53 - 1, str(number)]])
