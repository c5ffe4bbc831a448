"""The price rule for stop orders: the limit against the stop, and the stop by its side of the market."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.market.models import BookSnapshot, Ticker
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import CannotPlace
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_bounds import ask, market, missing, publish
from tests.exchange_ops.orders.test_new_order import PATH, figures, typed

pytestmark = pytest.mark.django_db
__all__ = ["market"]  # a fixture: the market is 499 to 500, the last price 500


def stop_limit(side, stop, limit):
    return {"side": side, "type": "stopLimit", "stop_price": Decimal(stop), "price": Decimal(limit)}


def stop_market(side, stop):
    return {"side": side, "type": "stopMarket", "stop_price": Decimal(stop), "price": None}


@pytest.mark.parametrize(
    "terms",
    [
        stop_limit("buy", "600", "630"),  # 26 % above the market, and 5 % beyond its stop
        stop_limit("buy", "600", "500"),  # better than its stop: it rests
        stop_limit("sell", "400", "380"),
        stop_limit("sell", "400", "900"),
        stop_market("buy", "900"),  # a stop far from the market is what it is for
        stop_market("sell", "100"),
        stop_limit("buy", "500.01", "500.01"),
        stop_limit("sell", "499.99", "499.99"),
    ],
)
def test_a_stop_on_its_side_with_a_limit_near_it_needs_no_word(operator, terms):
    assert ask(operator, **terms).oversteps == []


@pytest.mark.parametrize(
    ("terms", "size", "sentence"),
    [
        (stop_limit("buy", "600", "630.01"), "5.00", "5.00 % above the stop (600); policy allows 5 %."),
        (stop_limit("buy", "600", "720"), "20.00", "20.00 % above the stop (600); policy allows 5 %."),
        (stop_limit("sell", "400", "300"), "25.00", "25.00 % below the stop (400); policy allows 5 %."),
    ],
)
def test_a_limit_far_beyond_its_stop_is_confirmed_by_name(operator, terms, size, sentence):
    (found,) = missing(operator, **terms)
    assert (found.name, found.field, found.size) == ("limit_past_stop", "price", Decimal(size))
    assert found.sentence == sentence
    row = ask(operator, confirmed=[found.token], **terms)
    assert [(each["name"], each["beyond"]) for each in row.oversteps] == [("limit_past_stop", "confirm")]


def test_what_the_rules_refuse_of_a_limit_they_refuse_beyond_a_stop(operator):
    publish(distance=Decimal(2))
    with pytest.raises(CannotPlace, match=r"2\.50 % above the stop \(600\); policy allows 2 %") as found:
        ask(operator, confirmed=["limit_past_stop:3"], **stop_limit("buy", "600", "615"))
    assert set(found.value.problems) == {"price"}
    assert Order.objects.count() == 0


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        (stop_limit("sell", "500", "490"), "A sell stop should be below the market (500). The next trade would"),
        (stop_limit("sell", "510", "500"), "A sell stop should be below the market (500). The next trade would"),
        (stop_limit("buy", "500", "505"), "A buy stop should be above the market (500). The next trade would"),
        (stop_limit("buy", "100", "100"), "A buy stop should be above the market (500). The next trade would"),
    ],
)
def test_a_stop_that_the_market_has_reached_is_confirmed_by_name_whatever_the_rules_say(operator, terms, sentence):
    publish(distance=Decimal(5), beyond="refuse")
    (found,) = missing(operator, **terms)
    assert (found.name, found.field, found.beyond) == ("stop_reached", "stop_price", "confirm")
    assert found.sentence.startswith(sentence)
    assert ask(operator, confirmed=[found.token], **terms).oversteps[0]["name"] == "stop_reached"


def test_what_was_confirmed_of_a_stop_holds_while_the_market_hovers_at_it(operator):
    (found,) = missing(operator, **stop_limit("sell", "500", "490"))
    Ticker.objects.update(last=Decimal("496"))
    assert ask(operator, confirmed=[found.token], **stop_limit("sell", "500", "490")).oversteps[0]["size"] == "1"
    Ticker.objects.update(last=Decimal("300"))
    assert missing(operator, confirmed=[found.token], key="a-key-of-its-own", **stop_limit("sell", "500", "490"))


def test_a_reached_stop_market_order_is_judged_by_the_book_as_a_market_order(operator, market):
    BookSnapshot.objects.create(
        symbol="BCHUSD", timestamp=market, ask=[["500", "0.1"], ["560", "9"]], bid=[["499", "9"]], read_at=market
    )
    found = missing(operator, **stop_market("buy", "480"))
    assert [each.name for each in found] == ["stop_reached", "book_deep"]
    assert ask(operator, key="a-waiting-one", **stop_market("buy", "520")).oversteps == []


def test_a_market_that_is_not_known_is_confirmed_as_unknown(operator):
    Ticker.objects.update(read_at=clock.now() - timedelta(hours=1))
    (found,) = missing(operator, **stop_limit("buy", "600", "600"))
    assert (found.token, "No current price" in found.sentence) == ("stop_reached:unknown", True)


def test_the_ticket_says_where_the_stop_lies_and_how_far_its_limit_may_trade(signed_in, operator):
    client = signed_in(operator)
    part = figures(client, type="stopLimit", stop_price="600", price="612")
    assert "Stop distance from market" in part
    assert "20.00 %" in part
    assert "up to 2.00 % worse" in " ".join(part.split())
    assert "confirm-1" not in part
    reached = figures(client, type="stopMarket", stop_price="450", price="")
    assert "Stop price already reached" in reached
    refused = client.post(PATH, typed(type="stopMarket", stop_price="450", price="", effect="none of it"))
    assert refused.status_code == 200
    assert Order.objects.count() == 0


def test_the_page_of_the_rules_says_it(signed_in, treasury):
    order_rows.market(now=clock.now())
    page = " ".join(signed_in(treasury).get("/policy/").content.decode().split())
    assert "For stop-limit orders, the same applies to the limit price relative to the stop price." in page
    assert (
        "A stop price that has already been reached needs explicit confirmation, as the order triggers immediately."
        in page
    )
