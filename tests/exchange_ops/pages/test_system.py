"""The system page says how each follower is, and pages say what their figures rest on, in words and with an age."""

import re
from datetime import datetime, timedelta

import pytest

from desk import clock
from exchange_ops.ledger import stream as streams
from exchange_ops.market import stream as market_stream
from exchange_ops.orders import stream as trading_stream
from exchange_ops.orders import workflow as orders
from exchange_ops.policy import freezes
from exchange_ops.shared import heartbeats, stream_states
from exchange_ops.shared.models import ClockReading, FollowerState
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def account(payable):
    return rows.account()


def follower(account, *, name=streams.name_of, now, **columns):
    """A follower that is well, but for what `columns` say."""
    title = name if isinstance(name, str) else name(account)
    stream_states.became_live(title, now=now, account=None if isinstance(name, str) else account)
    FollowerState.objects.filter(name=title).update(**columns)


def text_of(client, path, part=""):
    """What a page or a part of it says, without its markup."""
    headers = {"HX-Request": "true", "HX-Target": part} if part else {}
    page = client.get(path, headers=headers).content.decode()
    main = page if part else page[page.index("<main") : page.index("</main>")]
    inline = re.sub(r"</?(span|time|svg|use|a)\b[^>]*>", "", main)
    return " ".join(re.sub(r"<[^>]*>", " ", inline).split())


def test_each_follower_is_told_in_words(signed_in, admin, account, standing_clock):
    now = clock.now()
    heartbeats.succeeded(heartbeats.SWEEPER, now=now)
    follower(account, now=now, message_at=now - timedelta(seconds=9), lag_ms=34, reconnects=3, gaps_closed=7)
    follower(account, name=trading_stream.name_of, now=now - timedelta(hours=2))
    stream_states.ended(trading_stream.name_of(account), sentence="The key was turned down.", now=now)
    follower(account, name=market_stream.NAME, now=now - timedelta(minutes=5), lag_ms=61_000)
    page = text_of(signed_in(admin), "/system/", "followers")
    assert re.search(
        r"Account stream Main desk transactions and the bank account "
        r"Connected since [-\d]+ [:\d]+ UTC 9 s ago 34 ms 3 7",
        page,
    )
    trading = page[page.index("Trading stream") : page.index("Market stream")]
    assert "Not connected last connected" in trading
    assert "never not measured 1 0 The key was turned down." in trading
    market = page[page.index("Market stream") : page.index("Background tasks")]
    assert "Silent last received 5 min ago" in market, "a process that was killed left a row that says connected"
    assert "61 s" in market
    assert "Follower not running" not in page


def test_a_page_without_followers_says_what_starts_them(signed_in, admin):
    page = text_of(signed_in(admin), "/system/", "followers")
    assert "Follower not running" in page
    assert "manage.py follow" in page
    assert "No background tasks have run yet." in page
    heartbeats.succeeded(heartbeats.SWEEPER, now=clock.now() - timedelta(minutes=10))
    page = text_of(signed_in(admin), "/system/", "followers")
    assert "Follower not running" in page, "it ran, and does not any more"
    assert "Follower followers, timers, and payouts when no worker is running Silent 10 min ago" in page
    heartbeats.succeeded(heartbeats.SWEEPER, now=clock.now())
    assert "a follower starts once a key" in text_of(signed_in(admin), "/system/", "followers")


def test_the_part_of_the_followers_asks_for_nothing_else(signed_in, admin, account, django_assert_max_num_queries):
    client = signed_in(admin)
    for number in range(3):
        follower(account, name=f"stream:{number}", now=clock.now())
    client.get("/system/", headers={"HX-Request": "true", "HX-Target": "followers"})
    with django_assert_max_num_queries(6):
        client.get("/system/", headers={"HX-Request": "true", "HX-Target": "followers"})


@pytest.mark.parametrize("path", ["/", "/funds/", "/ledger/", "/orders/", "/margin/"])
def test_a_page_says_what_its_figures_rest_on(signed_in, operator, account, path, standing_clock):
    client, now = signed_in(operator), clock.now()
    by_orders = path in ("/orders/", "/margin/")
    stream = (trading_stream if by_orders else streams).name_of
    reading = orders.name_of(account) if by_orders else heartbeats.ledger_of(account)
    assert "Not synced yet." in text_of(client, path)

    heartbeats.succeeded(reading, now=now - timedelta(seconds=8), account=account)
    follower(account, name=stream, now=now)
    assert "Live · last full sync 8 s ago" in text_of(client, path)

    stream_states.ended(stream(account), sentence="closed", now=now)
    FollowerState.objects.filter(name=stream(account)).update(heard_at=now - timedelta(minutes=7))
    page = text_of(client, path)
    assert "Exchange stream disconnected, last received 7 min ago:" in page
    assert "data from 8 s ago, refreshed every few seconds." in page

    heartbeats.succeeded(reading, now=now - timedelta(minutes=4), account=account)
    heartbeats.failed(reading, now=now, problem="There is no answer.", account=account)
    page = text_of(client, path)
    assert "data from 4 min ago, may be out of date" in page
    assert "There is no answer." in page


def test_who_looks_at_the_system_is_told_when_a_loop_begins_to_fail_and_not_of_each_round(account, monkeypatch):
    heard, now = [], clock.now()
    monkeypatch.setattr("desk.live.announcements.announce", lambda topic, **hint: heard.append(topic))
    heartbeats.succeeded("orders:1", now=now)
    assert heard == ["system"]
    heartbeats.succeeded("orders:1", now=now)
    assert heard == ["system"]
    heartbeats.failed("orders:1", now=now, problem="No answer")
    heartbeats.failed("orders:1", now=now, problem="No answer")
    assert heard == ["system"] * 2
    heartbeats.failed("orders:1", now=now, problem="Another answer")
    heartbeats.succeeded("orders:1", now=now)
    assert heard == ["system"] * 4
    follower(account, now=now)
    stream_states.closed_gaps(streams.name_of(account), count=2, account=account)
    stream_states.stopped(streams.name_of(account), now=now, account=account)
    assert heard == ["system"] * 7


def test_somebody_without_a_role_has_no_strip_bar_or_counts(signed_in, make_person, operator, account):
    freezes.freeze(person=None, reason="Odd payout", account=account, now=clock.now())
    rows.held(operator, now=clock.now())
    pages = {
        role: signed_in(make_person(*role, username=f"frame-{len(role)}")).get("/frame/").content.decode()
        for role in ((), ("treasury",))
    }
    for words in ('id="strip"', "Account frozen", "Main desk", "pending"):
        assert words not in pages[()], words
        assert words in pages[("treasury",)], words


def test_the_strip_of_a_desk_with_one_account_carries_the_exchanges_clock(signed_in, auditor, account):
    ClockReading.objects.create(account=account, skew_ms=4_000, read_at=clock.now())
    page = signed_in(auditor).get("/frame/?parts=strip").content.decode()
    ours, theirs = (
        datetime.fromisoformat(re.search(f'{name}="([^"]+)"', page)[1]) for name in ("data-now", "data-exchange-now")
    )
    assert theirs - ours == timedelta(seconds=4)
