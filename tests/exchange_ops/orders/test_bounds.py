"""Bounds of the rules that an order goes beyond: named with figures, confirmed by name at the act, kept, or refused."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.models import AuditEvent
from exchange_ops.ledger.models import Balance
from exchange_ops.market.models import BookSnapshot, Ticker
from exchange_ops.orders import workflow
from exchange_ops.orders.models import Order
from exchange_ops.orders.policy_checks import NotConfirmed
from exchange_ops.orders.request_checks import CannotPlace, OrderRequest
from exchange_ops.orders.steps import replacing
from exchange_ops.policy import oversteps, quorum
from exchange_ops.policy.models import PolicyVersion, QuorumTier, ValueLimit
from exchange_ops.policy.oversteps import Overstep
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_new_order import EFFECT, PATH, figures, ticks, typed

pytestmark = pytest.mark.django_db
FAR = {"side": "buy", "price": Decimal("540")}  # the market is 499 to 500
MARKET = {"type": "market", "price": None, "time_in_force": "IOC"}
STOP = {"type": "stopLimit", "stop_price": Decimal(600), "price": Decimal(600)}


@pytest.fixture(autouse=True)
def market(db):
    now = clock.now()
    quorum.ensure_first(now=now)
    order_rows.market(now=now)
    rows.balance("USD", trading="100000", now=now)
    Ticker.objects.filter(symbol="BCHUSD").update(ask=Decimal(500), bid=Decimal(499), last=Decimal(500))
    return now


def publish(*limits, distance=None, beyond="refuse"):
    """The next version, with these limits as (kind, most, person, account, what becomes of more)."""
    now, number = clock.now(), quorum.current().number + 1
    version = PolicyVersion.objects.create(
        number=number, published_at=now, price_distance=distance, price_beyond=beyond
    )
    for up_to, approvals, mode in quorum.FIRST_TIERS:
        QuorumTier.objects.create(policy=version, up_to=up_to, approvals=approvals, mode=mode)
    for kind, most, person, account, more in limits:
        ValueLimit.objects.create(
            policy=version, kind=kind, most=Decimal(most), person=person, account=account, beyond=more
        )


def ask(person, *, confirmed=(), key="key-of-the-test", account=None, **changes):
    terms = {"symbol": "BCHUSD", "side": "buy", "type": "limit", "time_in_force": "GTC", "quantity": Decimal("0.5")}
    return workflow.place(
        initiator=person,
        account=account or Account.objects.get(name="Main desk"),
        requested=OrderRequest(**(terms | {"price": Decimal(400)} | changes)),
        request_key=key,
        now=clock.now(),
        confirmed=confirmed,
    )


def missing(person, **changes):
    """What has to be confirmed before this order is taken; nothing was stored."""
    before = Order.objects.count()
    with pytest.raises(NotConfirmed) as found:
        ask(person, **changes)
    assert Order.objects.count() == before
    return found.value.oversteps


def test_a_price_far_from_the_market_is_confirmed_by_name_and_kept_with_its_figures(operator):
    (found,) = missing(operator, **FAR)
    assert (found.name, found.field, found.size) == ("price_far", "price", Decimal("8.00"))
    assert found.sentence == "8.00 % above the best ask (500); policy allows 5 %."
    row = ask(operator, confirmed=[found.token], **FAR)
    assert [(each["name"], each["size"], each["beyond"]) for each in row.oversteps] == [("price_far", "8", "confirm")]
    entry = AuditEvent.objects.filter(subject=row.subject).earliest("seq")
    assert "price_far" in str(entry.after["oversteps"])
    assert "8.00 % above the best ask" in str(entry.after["oversteps"])


def test_one_that_lies_behind_the_market_or_within_the_distance_needs_no_word(operator):
    assert ask(operator, price=Decimal("10"), key="a-key-of-its-own").oversteps == []
    assert ask(operator, price=Decimal("525"), key="another-key").oversteps == []
    assert missing(operator, price=Decimal("525.01"), key="a-third-key")


def test_what_was_confirmed_covers_a_little_more_and_not_any_size(operator):
    (found,) = missing(operator, **FAR)
    Ticker.objects.update(ask=Decimal("499.80"))
    (moved,) = missing(operator, **FAR)
    assert (moved.size, found.token) == (Decimal("8.04"), "price_far:8.8")
    assert (found.confirmed_by([found.token]), moved.confirmed_by([found.token])) == (found.token, found.token)
    for size, covered in (("8.80", True), ("8.81", False), ("4.40", True), ("3", False)):
        other = Overstep("price_far", "price", "", "confirm", Decimal(size))
        assert bool(other.confirmed_by([found.token])) is covered, size
    for token in (
        "price_far:100",
        "price_far:Infinity",
        "price_far:NaN",
        "price_far:",
        "book_deep:9",
        "price_far:unknown",
    ):
        assert found.confirmed_by([token]) == "", token
        missing(operator, confirmed=[token], **FAR)


def test_a_market_that_is_not_known_is_confirmed_as_unknown(operator):
    Ticker.objects.update(read_at=clock.now() - timedelta(hours=1))
    (found,) = missing(operator, price=Decimal(400))
    assert (found.token, "no current price" in found.sentence) == ("price_far:unknown", True)
    assert ask(operator, confirmed=[found.token], price=Decimal(400)).oversteps[0]["size"] == "unknown"


MARKET = {"type": "market", "time_in_force": "IOC", "price": None}


def test_a_market_order_that_eats_deep_is_confirmed_and_one_larger_than_the_book_is_too(operator, market):
    BookSnapshot.objects.create(
        symbol="BCHUSD", timestamp=market, ask=[["500", "1"], ["540", "1"]], bid=[["499", "1"]], read_at=market
    )
    (found,) = missing(operator, quantity=Decimal("1.5"), **MARKET)
    assert (found.name, found.size) == ("book_deep", Decimal("8.00"))
    assert "would move the price 8.00 %, to 540" in found.sentence
    assert ask(operator, quantity=Decimal("1.5"), confirmed=[found.token], **MARKET).pk
    (larger,) = missing(operator, quantity=Decimal(3), key="key-of-a-larger", **MARKET)
    assert (larger.token, "larger than the visible book" in larger.sentence) == ("book_deep:unknown", True)
    assert ask(operator, quantity=Decimal("0.5"), key="key-of-a-small-one", **MARKET).oversteps == []


def test_where_the_rules_say_so_it_is_refused_whatever_was_confirmed(operator):
    publish(("order", 100, operator, None, "confirm"), ("order", 250, None, None, "refuse"), distance=Decimal(2))
    with pytest.raises(CannotPlace, match="policy allows 2 %") as far:
        ask(operator, confirmed=["price_far:8.1", "over_value:260"], **FAR)
    assert set(far.value.problems) == {"price", "quantity"}
    (found,) = missing(operator, price=Decimal(400))
    assert (found.name, "limit is 100 USD" in found.sentence) == ("over_value", True)
    assert ask(operator, confirmed=[found.token], price=Decimal(400)).oversteps[0]["name"] == "over_value"


def test_open_orders_are_counted_by_person_and_account(operator, make_person):
    account = Account.objects.get()
    other = Account.objects.create(name="Second desk", quote_currency="USD")
    Balance.objects.create(
        account=other, currency="USD", wallet="trading", available=Decimal(100000), reserved=0, read_at=clock.now()
    )
    colleague = make_person("operator", username="colleague")
    publish(("open", 1, operator, account, "confirm"), ("open", 3, None, None, "refuse"))
    ask(operator, key="first-of-them")
    (found,) = missing(operator, key="second-of-them")
    assert (found.name, found.token) == ("many_open", "many_open:2")
    assert "limit is 1 open orders on this account" in found.sentence
    ask(operator, confirmed=[found.token], key="second-of-them")
    assert ask(colleague, key="a-colleagues-one").oversteps == []
    assert ask(operator, account=other, key="on-the-other-account").oversteps == []
    with pytest.raises(CannotPlace, match="The policy limit is 3 open orders; this order would bring the total to 4"):
        ask(operator, account=other, key="one-too-many")


def test_an_order_that_is_over_counts_no_more(operator):
    publish(("open", 1, None, None, "refuse"))
    order_rows.placed(operator, now=clock.now(), status="filled", filled="0.5")
    assert ask(operator).pk


def test_the_ticket_shows_what_to_tick_and_takes_the_order_only_when_it_is_ticked(signed_in, operator):
    client = signed_in(operator)
    effect = "Place buy order: 0.5 BCH at 540 USD"
    part = figures(client, price="540")
    (token,) = ticks(part)
    assert f'data-effect="{effect}"' in part
    assert "Price far from the market" in part
    refused = client.post(PATH, typed(price="540", effect=effect))
    assert (refused.status_code, Order.objects.count()) == (422, 0)
    assert "Confirm the following, then place the order" in refused.content.decode()
    assert 'id="id_confirmed"' in refused.content.decode(), "the error leads to it"
    assert (
        "checked"
        in re.search(r'<input type="checkbox" name="confirmed"[^>]*>', figures(client, price="540", confirmed=token))[0]
    )
    odd = client.post(PATH, typed(price="540", effect=effect, confirmed="<script>"))
    assert (odd.status_code, Order.objects.count()) == (422, 0)
    assert client.post(PATH, typed(price="540", effect=effect, confirmed=token)).status_code == 302
    page = client.get(f"/orders/{Order.objects.get().pk}/").content.decode()
    assert "confirmed:" in page
    assert client.post(PATH, typed(effect=EFFECT)).status_code == 302


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "price_far"),
        ({"type": "market", "price": None, "time_in_force": "IOC"}, "book_deep"),
        (STOP, "stop_reached"),
    ],
)
def test_a_price_or_a_book_from_before_the_clock_was_set_back_is_none(operator, changes, name):
    later = clock.now() + timedelta(hours=1)
    Ticker.objects.update(read_at=later)
    levels = {"timestamp": later, "ask": [["500", "1000"]], "bid": [["499", "1000"]], "read_at": later}
    BookSnapshot.objects.update_or_create(symbol="BCHUSD", defaults=levels)
    (found,) = missing(operator, **changes)
    assert (found.name, "urrent" in found.sentence) == (name, True)


def test_a_program_is_told_what_to_send_and_sends_it(client, operator):
    client.force_login(operator)
    body = {"symbol": "BCHUSD", "side": "buy", "quantity": "0.5", "price": "540", "request_key": "a-program's-key"}
    refused = client.post("/api/v1/orders/", body, content_type="application/json")
    assert refused.status_code == 422, refused.content
    (token,) = re.findall(r"price_far:[0-9.]+", refused.content.decode())
    taken = client.post("/api/v1/orders/", body | {"confirmed": [token]}, content_type="application/json")
    assert taken.status_code in {201, 202}, taken.content
    assert [each["name"] for each in taken.json()["oversteps"]] == ["price_far"]


def test_a_replacement_is_judged_by_the_same_bounds(operator):
    row = order_rows.placed(operator, now=clock.now())
    terms = {"order_id": row.pk, "person": operator, "quantity": Decimal("0.5"), "price": Decimal(540)}
    with pytest.raises(replacing.CannotReplace, match="Price far from the market"):
        replacing.ask(request_key="key-of-replacing", now=clock.now(), **terms)
    (found,) = replacing.find_oversteps(
        row,
        replacing.changed_request(row, quantity=Decimal("0.5"), price=Decimal(540)),
        person=operator,
        now=clock.now(),
    )
    new = replacing.ask(request_key="key-of-replacing", now=clock.now(), confirmed=[found.token], **terms)
    assert new.oversteps[0]["name"] == "price_far"
    assert oversteps.LABELS.keys() >= {found.name}
