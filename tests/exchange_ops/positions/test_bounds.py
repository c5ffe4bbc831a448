"""Bounds of the rules that a margin action goes beyond: named, confirmed at the act, kept, or refused."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.models import AuditEvent
from exchange_ops.margin import danger
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import BookSnapshot, Symbol, Ticker
from exchange_ops.policy import quorum
from exchange_ops.positions import states, workflow
from exchange_ops.positions.models import MarginAction
from exchange_ops.positions.request_checks import least_collateral
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_bounds import publish
from tests.exchange_ops.positions.test_views import effect_of, typed

pytestmark = pytest.mark.django_db


@pytest.fixture
def position(db):
    """Long 1 BCH at 500, collateral 100, at the mark of 500: the margin call at 436.84, the liquidation at 421.49."""
    now = clock.now()
    quorum.ensure_first(now=now)
    order_rows.market(now=now)
    Symbol.objects.update(margin_trading=True, max_initial_leverage=10)
    Ticker.objects.filter(symbol="BCHUSD").update(ask=Decimal(501), bid=Decimal(499), last=Decimal(500))
    book = {"bid": [["499", "0.5"], ["498", "5"]], "ask": [["501", "0.5"], ["502", "5"]]}
    BookSnapshot.objects.create(symbol="BCHUSD", timestamp=now, read_at=now, **book)
    return rows.margin_position(now=now)


def act(person, kind, *, confirmed=(), key="key-of-the-test", **wish):
    return workflow.act(
        initiator=person,
        account=Account.objects.get(),
        wish=workflow.Wish(kind=kind, symbol="BCHUSD", **wish),
        request_key=key,
        now=clock.now(),
        confirmed=confirmed,
    )


def missing(person, kind, **wish):
    """What has to be confirmed before this is taken; nothing was stored."""
    with pytest.raises(workflow.NotConfirmed) as found:
        act(person, kind, **wish)
    assert not MarginAction.objects.exists()
    return found.value.oversteps


@pytest.mark.parametrize(
    ("quantity", "entry", "call", "liquidation"),
    [  # the first is the sample that supplement 1.5 reproduces its formula by
        (Decimal("-0.00001"), Decimal("9064.86"), Decimal("284609.92"), Decimal("293623.70")),
        (Decimal(-1), Decimal(500), Decimal("553.33"), Decimal("570.88")),
        (Decimal(1), Decimal(500), Decimal("436.84"), Decimal("421.49")),
    ],
)
def test_the_prices_of_danger_are_those_of_the_exchange(position, quantity, entry, call, liquidation):
    symbol, held = Symbol.objects.get(pk="BCHUSD"), MarginAccount.objects.get()
    balance = Decimal(100)
    if quantity == Decimal("-0.00001"):
        symbol.take_liquidity_rate, symbol.tick_size, balance = (
            Decimal("0.0025"),
            Decimal("0.01"),
            Decimal("2.99974088"),
        )
    else:
        symbol.take_liquidity_rate, symbol.tick_size = Decimal("0.001"), Decimal("0.01")
    row = MarginPosition(quantity=quantity, price_entry=entry, read_at=clock.now())
    found = danger.after(position=row, held=held, symbol=symbol, mark=entry, balance=balance)
    assert (found.call, found.liquidation) == (call, liquidation)


def test_orders_position_and_an_open_loss_stay_covered(position):
    held = MarginAccount.objects.get()
    for pnl, least in (("-7", 70), ("7", 63), ("0", 63)):
        held.margin_balance_orders, position.pnl = Decimal(3), Decimal(pnl)
        assert least_collateral(held, position) == least


def test_collateral_that_brings_the_margin_call_near_is_confirmed_by_name_and_kept(operator, position):
    (found,) = missing(operator, states.SET, amount=Decimal(62))
    assert (found.name, found.field) == ("call_near", "amount")
    near = "The margin call would be at 478.34 USD, 4.33 % from the mark price; the minimum distance is 5 %."
    assert found.sentence == near
    assert found.size == Decimal("0.67")
    row = act(operator, states.SET, amount=Decimal(62), confirmed=[found.token])
    (kept,) = row.confirmed["oversteps"]
    assert (kept["name"], kept["beyond"], kept["size"]) == ("call_near", "confirm", "0.67")
    entry = AuditEvent.objects.filter(subject=row.subject).earliest("seq")
    assert "call_near" in str(entry.after)


def test_what_leaves_the_call_far_is_not_asked_about(operator, position):
    assert act(operator, states.SET, amount=Decimal(90)).confirmed["oversteps"] == []


def test_collateral_that_is_added_is_never_asked_about_however_near_the_call_is(operator, position):
    Ticker.objects.update(last=Decimal(440))
    MarginPosition.objects.update(pnl=Decimal(-60))
    assert act(operator, states.SET, amount=Decimal(101)).confirmed["oversteps"] == []


def test_the_liquidation_is_named_where_it_comes_near_itself(operator, position):
    MarginAccount.objects.update(margin_balance_required=10)
    (found,) = missing(operator, states.SET, amount=Decimal(30))
    assert found.name == "liquidation_near"
    assert "The liquidation would be at 495.25 USD, 0.95 % from the mark price" in found.sentence


def test_a_price_that_is_not_known_is_confirmed_as_unknown(operator, position):
    MarginPosition.objects.update(pnl=None)
    Ticker.objects.update(last=None)
    (found,) = missing(operator, states.SET, amount=Decimal(90))
    assert found.token == "call_near:unknown"


def test_a_price_from_before_the_clock_was_set_back_is_confirmed_as_unknown(operator, position):
    for model in (MarginPosition, Ticker):
        model.objects.update(read_at=clock.now() + timedelta(hours=1))
    (found,) = missing(operator, states.SET, amount=Decimal(90))
    assert found.token == "call_near:unknown"


def test_a_close_that_eats_deep_into_the_book_is_confirmed_by_name(operator, position):
    BookSnapshot.objects.update(bid=[["499", "0.5"], ["400", "5"]])
    close = {"order_type": "market", "position_id": 7}
    (found,) = missing(operator, states.CLOSE, **close)
    assert (found.name, found.size) == ("book_deep", Decimal("19.84"))
    with pytest.raises(workflow.NotConfirmed):
        act(operator, states.CLOSE, confirmed=["call_near:99", "book_deep:2"], **close)
    row = act(operator, states.CLOSE, confirmed=[found.token], **close)
    assert [each["name"] for each in row.confirmed["oversteps"]] == ["book_deep"]


def test_a_part_that_realises_a_loss_is_asked_about_when_the_rest_comes_nearer(operator, position):
    MarginPosition.objects.update(pnl=Decimal(-30))
    Ticker.objects.update(last=Decimal(470))
    BookSnapshot.objects.update(bid=[["470", "0.1"], ["100", "5"]])
    part = {"order_type": "market", "quantity": Decimal("0.4"), "position_id": 7}
    found = {each.name for each in missing(operator, states.REDUCE, **part)}
    assert found == {"book_deep", "liquidation_near"}
    BookSnapshot.objects.update(bid=[["470", "5"]])
    assert act(operator, states.REDUCE, **part).confirmed["oversteps"] == []


def test_a_value_beyond_a_limit_is_confirmed_or_refused_as_the_rules_say(operator, position):
    publish(("order", 100, None, None, "confirm"))
    close = {"order_type": "market", "position_id": 7}
    (found,) = missing(operator, states.CLOSE, **close)
    assert (found.name, "limit is 100 USD" in found.sentence) == ("over_value", True)
    publish(("order", 100, None, None, "approve"))
    with pytest.raises(workflow.CannotAct, match="can't be submitted for approval") as refused:
        act(operator, states.CLOSE, confirmed=[found.token], **close)
    assert not isinstance(refused.value, workflow.NotConfirmed)


def test_an_account_is_closed_with_its_position_by_the_same_bounds(operator, position):
    BookSnapshot.objects.update(bid=[["499", "0.5"], ["400", "5"]])
    (found,) = missing(operator, states.CLOSE_ACCOUNT, position_id=7)
    assert found.name == "book_deep"
    assert act(operator, states.CLOSE_ACCOUNT, position_id=7, confirmed=[found.token]).pk


def test_the_form_shows_what_to_tick_and_takes_it_only_when_it_is_ticked(signed_in, operator, position):
    client = signed_in(operator)
    words, part = effect_of(client, "collateral", symbol="BCHUSD", amount="62")
    (token,) = re.findall(r'name="confirmed"[^>]*value="(call_near:[0-9.]+)"', part)
    assert "478.34" in part
    assert "436.84" not in words
    form = typed(symbol="BCHUSD", amount="62", effect=words)
    refused = client.post("/margin/BCHUSD/collateral/", form)
    assert (refused.status_code, MarginAction.objects.count()) == (422, 0)
    page = refused.content.decode()
    assert "Confirm the following, then send" in page
    assert 'id="id_confirmed"' in page
    ticked = effect_of(client, "collateral", symbol="BCHUSD", amount="62", confirmed=token)[1]
    assert "checked" in re.search(r'<input type="checkbox" name="confirmed"[^>]*>', ticked)[0]
    odd = client.post("/margin/BCHUSD/collateral/", form | {"confirmed": "<script>"})
    assert (odd.status_code, MarginAction.objects.count()) == (422, 0)
    done = client.post("/margin/BCHUSD/collateral/", form | {"confirmed": token})
    assert done.status_code == 302
    assert "confirmed:" in client.get(done.headers["Location"]).content.decode()


def test_closing_all_asks_for_each_symbol_apart_and_keeps_ticks_while_it_is_read_again(signed_in, operator, position):
    client = signed_in(operator)
    BookSnapshot.objects.update(bid=[["499", "0.5"], ["400", "5"]])
    page = client.get("/margin/close-all/").content.decode()
    (token,) = re.findall(r'name="confirmed"[^>]*value="([^"]+)"', page)
    assert token.startswith("BCHUSD:book_deep:")
    again = client.get("/margin/close-all/", {"confirmed": token}, headers={"HX-Target": "positions"}).content.decode()
    assert "checked" in re.search(r'<input type="checkbox" name="confirmed"[^>]*>', again)[0]
    form = typed(positions="BCHUSD:7:1")
    refused = client.post("/margin/close-all/", form)
    assert (refused.status_code, MarginAction.objects.count()) == (409, 0)
    assert "Confirm the following" in refused.content.decode()
    assert client.post("/margin/close-all/", form | {"confirmed": "ETHUSD:book_deep:99"}).status_code == 409
    assert client.post("/margin/close-all/", form | {"confirmed": token}).status_code == 302
    row = MarginAction.objects.get()
    assert row.confirmed["oversteps"][0]["name"] == "book_deep"
    assert f"{row.reference} (BCHUSD): close request recorded; sending now." in client.get("/margin/").content.decode()
