"""The account stream's session with scripted frames: every step, every oddity, no socket and no clock."""

import hashlib
import hmac
import json
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange_ops.wire.records import Balance, Transaction
from exchange_ops.wire.session import (
    AccountSession,
    Balances,
    BecameLive,
    Ended,
    Odd,
    Origin,
    Pace,
    Phase,
    Transactions,
    gathered,
    login_params,
)
from wire.credentials import Credentials
from wire.records import decode
from wire.values import Secret

KEY = Credentials("demo-read", Secret("demo-read-secret"), "hs256")


def transaction(number, **changes):
    return {
        "id": f"t-{number}",
        "index": number,
        "type": "payin",
        "status": "success",
        "currency": "BTC",
        "amount": "0.5",
        "createdAt": "2026-11-20T10:00:00.000Z",
        "updatedAt": "2026-11-20T10:00:00.000Z",
        **changes,
    }


class Script:
    """Plays the exchange: keeps what was asked and says what the test wants, at the test's moment."""

    def __init__(self, *, watermark=0, pace=None):
        self.now_ms = 1_000
        self.session = AccountSession(login={"algo": "BASIC"}, watermark=watermark, pace=pace)
        self.happened = []

    def open(self):
        self.session.opened(self.now_ms)
        return self.requests()

    def requests(self):
        self.happened += self.session.events()
        return [(frame["method"], frame["params"], frame["id"]) for frame in map(json.loads, self.session.outgoing())]

    def say(self, frame):
        self.session.received(frame if isinstance(frame, str | bytes) else json.dumps(frame), self.now_ms)
        return self.requests()

    def answer(self, requests, result):
        return self.say({"jsonrpc": "2.0", "result": result, "id": requests[2]})

    def notify(self, method, params):
        return self.say({"jsonrpc": "2.0", "method": method, "params": params})

    def wait(self, ms):
        self.now_ms += ms
        self.session.tick(self.now_ms)
        return self.requests()

    def go_live(self):
        (login,) = self.open()
        (backlog,) = self.answer(login, True)
        subscribe, balance = self.answer(backlog, [])
        assert self.answer(subscribe, True) == []
        gap, held = self.answer(balance, True)
        assert self.answer(gap, []) == []
        assert self.session.phase is Phase.CATCHING_UP
        assert self.answer(held, []) == []
        assert self.session.phase is Phase.LIVE
        return self

    def of(self, kind):
        return [event for event in self.happened if isinstance(event, kind)]

    @property
    def indexes(self):
        return [record.index for event in self.happened if isinstance(event, Transactions) for record in event.records]

    @property
    def end(self):
        assert self.session.phase is Phase.ENDED
        return next(event for event in self.happened if isinstance(event, Ended))


def test_the_order_is_login_backlog_subscriptions_gap_live():
    script = Script(watermark=70)
    (login,) = script.open()
    assert (login[0], script.session.phase) == ("login", Phase.LOGGING_IN)
    (backlog,) = script.answer(login, True)
    assert backlog[:2] == ("loadTransactions", {"from": 70, "limit": 1000, "order": "ASC"})
    (more,) = script.answer(backlog, [transaction(number) for number in range(70, 170)])
    assert more[1]["from"] == 170
    subscriptions = script.answer(more, [transaction(175)])  # the end is near, and what is left comes afterwards
    assert [name for name, _, _ in subscriptions] == ["subscribeTransactions", "subscribeBalance"]
    assert script.session.phase is Phase.SUBSCRIBING
    script.answer(subscriptions[0], True)
    gap, held = script.answer(subscriptions[1], True)
    assert gap[:2] == ("loadTransactions", {"from": 70, "limit": 1000, "order": "ASC"})
    assert held[:2] == ("getBalance", {})
    script.answer(gap, [])
    assert script.session.phase is Phase.CATCHING_UP
    script.answer(held, [])
    assert script.session.phase is Phase.LIVE
    assert script.indexes == [*range(70, 170), 175]
    assert isinstance(script.happened[-1], BecameLive)


def test_what_was_missed_between_loading_and_subscribing_is_told_as_a_gap():
    script = Script()
    (login,) = script.open()
    (backlog,) = script.answer(login, True)
    first, second = script.answer(backlog, [])
    script.answer(first, True)
    gap, held = script.answer(second, True)
    script.answer(held, [])
    assert script.session.phase is Phase.CATCHING_UP
    (more,) = script.answer(gap, [transaction(5)])
    assert (script.session.phase, more[1]["from"]) == (Phase.LIVE, 6)
    assert script.answer(more, []) == []
    (gap,) = script.of(Transactions)
    assert (gap.origin, gap.records[0].index, gap.loaded_from) == (Origin.GAP, 5, 0)


def test_notifications_are_told_as_they_come_even_while_catching_up():
    script = Script()
    (login,) = script.open()
    (backlog,) = script.answer(login, True)
    first, second = script.answer(backlog, [])
    script.answer(first, True)
    gap, held = script.answer(second, True)
    script.notify("updateTransaction", transaction(9))
    script.answer(gap, [])
    script.answer(held, [])
    assert script.indexes == [9]
    assert script.session.phase is Phase.LIVE


def test_duplicates_and_disorder_are_passed_on_as_they_came():
    script = Script().go_live()
    for index in (12, 11, 11, 13):
        script.notify("updateTransaction", transaction(index))
    assert script.indexes == [12, 11, 11, 13]


def test_balances_are_told():
    script = Script().go_live()
    script.notify("balance", [{"currency": "BTC", "available": "1.5", "reserved": "0"}, {"currency": "ETH"}])
    last = script.happened[-1]
    assert isinstance(last, Balances)
    assert [str(entry.available) for entry in last.records] == ["1.5"]
    assert len(last.unread) == 1


def test_a_live_session_loads_again_from_the_watermark_it_was_given():
    script = Script(pace=Pace(recheck_ms=5_000)).go_live()
    script.session.watermark = 44
    assert script.wait(4_999) == []
    load, held = script.wait(1)
    assert load[1]["from"] == 44
    (more,) = script.answer(load, [transaction(50)])
    script.answer(held, [{"currency": "BTC", "available": "1", "reserved": "0"}])
    assert script.wait(5_000) == []  # still loading
    script.answer(more, [])
    assert script.indexes == [50]
    assert script.of(Transactions)[-1].origin is Origin.GAP
    assert (script.of(Balances)[-1].is_complete, len(script.of(BecameLive))) == (True, 1)
    assert script.wait(1)


def test_a_session_loads_nothing_while_somebody_else_walks_the_ledger_and_is_live_meanwhile():
    script = Script(pace=Pace(recheck_ms=6_000))
    script.session.walked_elsewhere = True
    (login,) = script.open()
    first, second = script.answer(login, True)
    assert (first[0], second[0]) == ("subscribeTransactions", "subscribeBalance")
    script.answer(first, True)
    (held,) = script.answer(second, True)
    assert held[0] == "getBalance"
    script.answer(held, [])
    assert script.session.phase is Phase.LIVE
    script.notify("updateTransaction", transaction(9))
    assert script.indexes == [9]
    script.session.walked_elsewhere, script.session.watermark = False, 7
    assert script.wait(999) == []
    load, held = script.wait(1)  # sooner than usual: what happened since the walk's end may not have been told
    assert load[1]["from"] == 7
    script.answer(load, [])
    script.answer(held, [])
    assert script.wait(5_999) == []
    assert len(script.wait(1)) == 2


def begin_a_history(script):
    """To the look after the subscriptions, with a thousand transactions loaded before; the question and the answer."""
    (login,) = script.open()
    (requests,) = script.answer(login, True)
    subscriptions = script.answer(requests, [transaction(number) for number in range(1, 1_001)])
    assert [name for name, _, _ in subscriptions] == ["subscribeTransactions", "subscribeBalance"]
    script.answer(subscriptions[0], True)
    gap, held = script.answer(subscriptions[1], True)
    script.answer(held, [])
    return gap


def test_a_stream_is_live_after_a_thousand_and_reads_on_to_the_end_whatever_is_settled():
    """The watermark stands still here: on a busy day thousands are too young for it, and none may stay untold."""
    script = Script()
    requests = begin_a_history(script)
    for page in range(3):
        assert script.session.phase is (Phase.LIVE if page else Phase.CATCHING_UP)
        first = page * 1_000 + 1
        (requests,) = script.answer(requests, [transaction(number) for number in range(first, first + 1_000)])
        assert requests[1]["from"] == first + 1_000
    assert script.answer(requests, []) == []
    assert sorted({*script.indexes}) == list(range(1, 3_001))


def test_a_long_history_is_left_to_a_walk_that_begins_meanwhile():
    script = Script(pace=Pace(recheck_ms=6_000))
    requests = begin_a_history(script)
    script.session.watermark, script.session.walked_elsewhere = 1_000, True
    assert script.answer(requests, [transaction(number) for number in range(1_001, 2_001)]) == []
    assert script.session.phase is Phase.LIVE
    script.session.watermark, script.session.walked_elsewhere = 9_000, False
    gap, _ = script.wait(1_000)
    assert gap[1]["from"] == 9_000, "it is looked for sooner what the walk left"


def test_balances_that_are_listed_are_all_there_are_unless_one_can_not_be_read():
    for entries, whole in (([], True), ([{"currency": "BTC"}], False)):
        script = Script(pace=Pace(recheck_ms=5_000)).go_live()
        script.notify("balance", [{"currency": "BTC", "available": "1.5", "reserved": "0"}])
        assert not script.of(Balances)[-1].is_complete
        _, held = script.wait(5_000)
        script.answer(held, entries)
        assert script.of(Balances)[-1].is_complete is whole


def test_a_snapshot_that_is_told_again_is_passed_on_again():
    script = Script().go_live()
    entry = {"currency": "BTC", "available": "1.5", "reserved": "0"}
    for _ in range(3):
        script.notify("balance", [entry])
    assert [event.records[0].currency for event in script.of(Balances)[1:]] == ["BTC"] * 3
    assert script.session.phase is Phase.LIVE


def test_events_that_came_together_are_put_into_one_where_their_order_does_not_matter():
    def of(*numbers, origin=Origin.NOTIFICATION, loaded_from=None):
        found = tuple(decode(json.dumps(transaction(number)).encode(), Transaction) for number in numbers)
        return Transactions(origin, found, loaded_from=loaded_from)

    def held(whole=False, **available):
        return Balances(
            tuple(Balance(code, Decimal(one), Decimal(0)) for code, one in available.items()), is_complete=whole
        )

    page = of(3, origin=Origin.GAP, loaded_from=0)
    events = [of(1), held(BTC=1, ETH=1), of(2, 2), held(BTC=2), page, held(BTC=3), held(True, ETH=4), of(9)]
    assert gathered([*events, held(BTC=5), Odd("a")]) == [
        of(1, 2, 2),
        held(BTC=2, ETH=1),
        page,
        of(9),
        held(True, ETH=4, BTC=5),
        Odd("a"),
    ]
    assert gathered([]) == []


def test_members_and_values_nobody_knows_do_no_harm():
    script = Script().go_live()
    script.notify("updateTransaction", transaction(9, novelty={"a": 1}, status="haunted", type="teleport"))
    assert script.happened[-1].records[0].status == "haunted"
    script.say({"jsonrpc": "2.0", "method": "balance", "params": [], "extra": 1, "usIn": 3})
    assert script.happened[-1] == Balances(())


@pytest.mark.parametrize(
    "bad",
    [
        {"amount": "NaN"},
        {"amount": None},
        {"index": "many"},
        {"createdAt": "yesterday"},
        {"id": ""},
        {"status": 4},
    ],
)
def test_a_transaction_that_can_not_be_read_is_handed_on_with_a_reason(bad):
    script = Script().go_live()
    script.notify("updateTransaction", transaction(9, **bad))
    last = script.happened[-1]
    assert (last.records, len(last.unread)) == ((), 1)
    assert last.unread[0].reason
    assert script.session.phase is Phase.LIVE


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "no json",
        "[]",
        "null",
        b"\xff\xfe",
        '{"jsonrpc":"2.0"}',
        '{"jsonrpc":"2.0","result":true,"error":{"code":1,"message":""},"id":1}',
        '{"jsonrpc":"2.0","method":"tellJoke","params":{}}',
        '{"jsonrpc":"2.0","method":"login","params":{},"id":4}',
        '{"jsonrpc":"2.0","result":true,"id":999}',
        '{"jsonrpc":"2.0","result":true,"id":null}',
        '{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests","description":""},"id":null}',
        '{"jsonrpc":"2.0","result":true,"id":"1"}',
        "[" * 5_000,
    ],
)
def test_odd_messages_are_noted_and_ignored(frame):
    script = Script().go_live()
    script.say(frame)
    assert isinstance(script.happened[-1], Odd)
    script.notify("updateTransaction", transaction(9))
    assert script.indexes == [9]


def test_too_many_odd_messages_end_the_session():
    script = Script().go_live()
    for _ in range(51):
        script.say("no json")
    assert "unknown messages" in script.end.sentence


@pytest.mark.parametrize("result", [False, None, "true", [], {}])
def test_a_login_that_is_not_confirmed_ends_the_session(result):
    script = Script()
    (login,) = script.open()
    script.answer(login, result)
    assert script.end.turned_down


@pytest.mark.parametrize(
    ("code", "turned_down"), [(1001, True), (1002, True), (1003, True), (429, False), (500, False)]
)
def test_a_refusal_ends_the_session_and_says_whether_it_is_the_key(code, turned_down):
    script = Script()
    (login,) = script.open()
    script.say({"error": {"code": code, "message": "No", "description": "because"}, "id": login[2]})
    assert script.end.turned_down is turned_down
    assert script.end.sentence == f"The exchange rejected login: {code} No: because"


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_an_unanswered_question_ends_the_session(step):
    script = Script()
    requests = script.open()
    for result in (True, [], True)[:step]:
        requests = script.answer(requests[0], result)[:1] or requests[1:]
    assert script.wait(10_000) == []
    script.wait(1)
    assert re.fullmatch(r"No response to \w+ within 10 s\.", script.end.sentence)


def test_a_long_backlog_is_not_taken_for_silence():
    script = Script()
    (login,) = script.open()
    (requests,) = script.answer(login, True)
    for page in range(1, 8):
        script.wait(9_000)
        (requests,) = script.answer(requests, [transaction(page * 100 + number) for number in range(100)])
    assert script.session.phase is Phase.CATCHING_UP
    assert script.indexes == list(range(100, 800))


def test_an_exchange_where_something_happens_all_the_time_is_subscribed_to_and_live_all_the_same():
    script = Script()
    (login,) = script.open()
    (backlog,) = script.answer(login, True)
    first, second = script.answer(backlog, [transaction(1), transaction(2)])
    script.answer(first, True)
    gap, held = script.answer(second, True)
    script.answer(held, [])
    for index in range(10, 70, 10):  # with each answer there is something new, and it is asked on
        (gap,) = script.answer(gap, [transaction(index)])
        assert gap[1]["from"] == index + 1
    assert script.session.phase is Phase.LIVE
    assert len(script.of(BecameLive)) == 1


def test_pages_that_are_full_are_all_loaded_before_the_session_is_live():
    script = Script()
    (login,) = script.open()
    (backlog,) = script.answer(login, True)
    first, second = script.answer(backlog, [])
    script.answer(first, True)
    gap, held = script.answer(second, True)
    script.answer(held, [])
    (more,) = script.answer(gap, [transaction(number) for number in range(1, 101)])
    assert script.session.phase is Phase.CATCHING_UP
    script.answer(more, [])
    assert script.session.phase is Phase.LIVE


def test_silence_ends_a_live_session_and_a_pong_does_not():
    script = Script(pace=Pace(recheck_ms=10**9)).go_live()
    script.wait(20_000)
    script.session.heard(script.now_ms)
    script.wait(25_000)
    assert script.session.phase is Phase.LIVE
    script.wait(1)
    assert "No data from the exchange for 25 s" in script.end.sentence


def test_a_lost_connection_ends_the_session_once():
    script = Script().go_live()
    script.session.closed("1006")
    script.session.closed("again")
    script.requests()
    assert script.end.sentence == "The connection was lost: 1006."
    assert script.notify("updateTransaction", transaction(9)) == []
    assert script.indexes == []
    assert len([event for event in script.happened if isinstance(event, Ended)]) == 1


def test_an_exchange_that_ignores_the_index_does_not_keep_us_loading():
    page = [transaction(number) for number in range(8, 108)]
    script = Script(watermark=5)
    (login,) = script.open()
    (requests,) = script.answer(login, True)
    (again,) = script.answer(requests, page)
    subscriptions = script.answer(again, page)
    assert [name for name, _, _ in subscriptions] == ["subscribeTransactions", "subscribeBalance"]


@pytest.mark.parametrize("body", [{"data": []}, None, 5, "text"])
def test_a_loading_that_is_no_list_ends_the_session(body):
    script = Script()
    (login,) = script.open()
    (requests,) = script.answer(login, True)
    script.answer(requests, body)
    assert "not a list" in script.end.sentence


def test_the_signature_is_of_the_nonce_with_the_secret():
    params = login_params(KEY, nonce="N1g287gL8YOwDZr")
    assert params == {
        "algo": "HS256",
        "pKey": "demo-read",
        "nonce": "N1g287gL8YOwDZr",
        "signature": hmac.new(b"demo-read-secret", b"N1g287gL8YOwDZr", hashlib.sha256).hexdigest(),
    }
    basic = Credentials("demo-read", Secret("demo-read-secret"))
    assert login_params(basic, nonce="x") == {"algo": "BASIC", "pKey": "demo-read", "sKey": "demo-read-secret"}


@given(
    st.lists(
        st.one_of(st.text(), st.binary(), st.integers(0, 20).map(lambda number: f'{{"result":true,"id":{number}}}'))
    )
)
def test_nothing_that_is_said_makes_a_session_raise(frames):
    script = Script()
    script.open()
    for frame in frames:
        script.session.received(frame, script.now_ms)
        script.now_ms += 7
        script.session.tick(script.now_ms)
    assert script.session.phase in Phase
