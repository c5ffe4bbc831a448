"""The session of the trading stream with scripted frames: every step, snapshots, reports and every oddity."""

import pytest

from exchange_ops.wire.conversation import BecameLive, Ended, Odd, Pace, Phase
from exchange_ops.wire.trading_session import MarginAccounts, NoMargin, Reports, TradingSession
from tests.exchange_ops.wire.scripts import Script

AT = "2026-11-20T10:00:00.000Z"


def report(number=1, **changes):
    return {
        "id": str(number),
        "clientOrderId": f"client-{number}",
        "symbol": "ETHBTC",
        "side": "sell",
        "status": "new",
        "type": "limit",
        "timeInForce": "GTC",
        "quantity": "1.5",
        "price": "0.05",
        "cumQuantity": "0",
        "postOnly": False,
        "createdAt": AT,
        "updatedAt": AT,
        "reportType": "status",
        **changes,
    }


def margin_account(symbol="BTCUSD", **changes):
    amounts = dict.fromkeys(("leverage", "marginBalance", "marginBalanceOrders", "marginBalanceRequired"), "10")
    return {"symbol": symbol, **amounts, "createdAt": AT, "updatedAt": AT, "reportType": "status", **changes}


def begin():
    script = Script(TradingSession(login={"algo": "BASIC"}, pace=Pace()))
    script.open()
    return script


def subscribing():
    script = begin()
    script.answer(script.waiting[0], True)
    return script


def live(*, orders=(), margin_orders=(), accounts=()):
    script = subscribing()
    script.confirm_all()
    script.notify("activeOrders", list(orders))
    script.notify("marginOrders", list(margin_orders))
    script.notify("marginAccounts", list(accounts))
    assert script.session.phase is Phase.LIVE
    return script


def test_the_order_is_login_both_subscriptions_snapshots_live():
    script = begin()
    assert [one[:2] for one in script.waiting] == [("login", {"algo": "BASIC"})]
    assert script.session.phase is Phase.LOGGING_IN
    subscriptions = script.answer(script.waiting[0], True)
    assert [one[:2] for one in subscriptions] == [("subscribeReports", {}), ("marginSubscribe", {})]
    script.confirm_all()
    script.notify("activeOrders", [report()])
    script.notify("marginOrders", [])
    assert not script.of(BecameLive)
    script.notify("marginAccounts", [margin_account()])
    assert script.session.phase is Phase.LIVE
    assert isinstance(script.happened[-1], BecameLive)
    of = [(type(event), event.is_complete, len(event.records)) for event in script.happened[:-1]]
    assert of == [(Reports, True, 1), (Reports, True, 0), (MarginAccounts, True, 1)]


def test_snapshots_that_come_before_the_answers_count_as_well():
    script = subscribing()
    for method in ("activeOrders", "marginOrders", "marginAccounts"):
        script.notify(method, [])
    assert not script.of(BecameLive)
    script.confirm_all()
    assert len(script.of(BecameLive)) == 1


def test_reports_come_as_they_happen_spot_ids_as_texts_and_margin_ids_as_numbers():
    script = live()
    script.happened.clear()
    script.notify("report", report(7, reportType="new"))
    script.notify(
        "marginOrderReport",
        report(
            8, id=8, reportType="trade", status="filled", tradeId=5, tradeQuantity="1", tradePrice="2", tradeFee="-3"
        ),
    )
    script.notify("marginAccountReport", margin_account(reportType="updated", reportReason="openTrade"))
    spot, margin, account = script.happened
    assert (spot.margin, spot.is_complete, spot.records[0].id) == (False, False, "7")
    assert (margin.margin, margin.records[0].id, margin.records[0].trade_id) == (True, 8, 5)
    assert account.records[0].report_reason == "openTrade"


def test_words_and_members_that_nobody_knows_are_kept_as_they_came():
    script = live()
    script.notify("report", report(status="paused", reportType="melted", type="iceberg", side="both", flavour={"a": 1}))
    record = script.of(Reports)[-1].records[0]
    assert (record.status, record.report_type, record.type, record.side) == ("paused", "melted", "iceberg", "both")
    assert not script.of(Odd)


def test_a_report_that_can_not_be_read_is_told_as_unread_and_hides_no_other():
    script = live()
    script.notify("report", report(quantity="NaN"))
    script.notify("activeOrders", [report(1), {"id": 2}, report(3)])
    assert [len(event.unread) for event in script.of(Reports)[-2:]] == [1, 1]
    assert [record.id for record in script.of(Reports)[-1].records] == ["1", "3"]
    assert script.session.phase is Phase.LIVE


def test_a_snapshot_may_come_again_and_does_not_make_it_live_twice():
    script = live()
    script.notify("activeOrders", [report(1)])
    script.notify("marginAccounts", [margin_account()])
    assert len(script.of(BecameLive)) == 1
    assert script.of(Reports)[-1].is_complete


def test_an_account_without_margin_is_followed_without_it():
    script = subscribing()
    reports, margin = script.waiting
    script.answer(reports, True)
    script.notify("activeOrders", [])
    script.refuse(margin, 403, "Action is forbidden for account")
    assert "403 Action is forbidden" in script.of(NoMargin)[0].sentence
    assert script.session.phase is Phase.LIVE
    script.session.heard(script.now_ms + 20_000)
    script.now_ms += 20_000
    assert [one[0] for one in script.wait(11_000)] == ["getOrders"]


def test_a_live_session_asks_for_the_lists_every_so_often_and_they_are_whole():
    script = live()
    script.session.heard(script.now_ms + 20_000)
    script.now_ms += 20_000
    assert script.wait(9_000) == []
    requests = script.wait(1_000)
    assert [one[0] for one in requests] == ["getOrders", "marginOrdersGet", "marginAccountsGet"]
    script.answer(requests[0], [report(4)])
    script.answer(requests[1], [report(5, id=5)])
    script.answer(requests[2], [margin_account()])
    spot, margin = script.of(Reports)[-2:]
    assert (spot.is_complete, spot.margin, margin.is_complete, margin.margin) == (True, False, True, True)
    assert script.of(MarginAccounts)[-1].is_complete
    assert script.wait(1_000) == []


def test_a_list_that_is_refused_while_live_is_odd_and_not_the_end():
    script = live()
    script.session.heard(script.now_ms + 30_000)
    script.now_ms += 30_000
    requests = script.wait(1)
    script.refuse(requests[1], 429, "Too many requests")
    assert "marginOrdersGet" in script.of(Odd)[0].sentence
    assert script.session.phase is Phase.LIVE


@pytest.mark.parametrize("code", [403, 1001, 1002, 1003, 1004])
@pytest.mark.parametrize("step", ["login", "subscribeReports"])
def test_a_key_that_is_refused_ends_it_as_turned_down(step, code):
    script = begin() if step == "login" else subscribing()
    script.refuse(script.waiting[0], code, "no", "really")
    assert script.end == Ended(f"The exchange rejected {step}: {code} no: really", turned_down=True)


@pytest.mark.parametrize("result", [False, None, "true", 1, {}])
def test_what_is_not_confirmed_is_the_end(result):
    script = begin()
    script.answer(script.waiting[0], result)
    assert script.end.turned_down
    other = subscribing()
    other.answer(other.waiting[0], result)
    assert "did not confirm a subscription" in other.end.sentence


def test_snapshots_that_never_come_end_it():
    script = subscribing()
    script.confirm_all()
    script.notify("activeOrders", [])
    script.session.heard(script.now_ms + 20_000)
    script.wait(21_000)
    assert "No marginAccounts message from the exchange" in script.end.sentence


@pytest.mark.parametrize(("method", "params"), [("activeOrders", {}), ("marginAccounts", "x"), ("marginOrders", 5)])
def test_a_snapshot_that_is_no_list_ends_it(method, params):
    script = subscribing()
    script.confirm_all()
    script.notify(method, params)
    assert f"{method} message is not a list" in script.end.sentence
    assert not script.of(BecameLive)


@pytest.mark.parametrize(
    "frame",
    [
        {"jsonrpc": "2.0", "result": True, "id": 77},
        {"jsonrpc": "2.0", "method": "login", "params": {}, "id": 1},
        [],
        "nonsense",
    ],
)
def test_what_nobody_knows_is_odd_and_too_much_of_it_the_end(frame):
    script = live()
    script.say(frame)
    assert len(script.of(Odd)) == 1
    assert script.session.phase is Phase.LIVE
    for _ in range(50):
        script.say(frame)
    assert "Too many unknown messages" in script.end.sentence


def test_something_new_is_told_once_however_often_it_comes_and_very_much_that_is_new_is_the_end():
    script = live()
    for _ in range(200):
        script.notify("ordersMelted", {})
    assert [event.sentence for event in script.of(Odd)] == ["Unknown message type from the exchange: 'ordersMelted'"]
    assert script.session.phase is Phase.LIVE
    for number in range(50):
        script.notify(f"ordersMelted{number}", {})
    assert "Too many unknown messages" in script.end.sentence


def test_a_list_is_as_old_as_the_question_and_one_that_nobody_asked_for_a_second():
    script = subscribing()
    script.confirm_all()
    script.session.heard(script.now_ms + 400)
    script.now_ms += 400
    script.notify("activeOrders", [report()])
    script.notify("marginOrders", [])
    script.notify("marginAccounts", [margin_account()])
    script.notify("activeOrders", [])
    script.session.heard(script.now_ms + 30_000)
    script.now_ms += 30_000
    requests = script.wait(1)
    script.now_ms += 70
    script.answer(requests[0], [])
    script.answer(requests[2], [])
    assert [event.age_ms for event in script.of(Reports)] == [400, 400, 1_000, 70]
    assert [event.age_ms for event in script.of(MarginAccounts)] == [400, 70]
    script.notify("report", report())
    assert (script.of(Reports)[-1].age_ms, script.of(Reports)[-1].is_complete) == (0, False)


def test_silence_and_a_closed_socket_end_it_once():
    silent = live()
    silent.wait(26_000)
    assert "No data from the exchange" in silent.end.sentence
    closed = live()
    closed.session.closed("reset")
    closed.notify("report", report())
    closed.session.closed("again")
    closed.requests()
    assert closed.end == Ended("The connection was lost: reset.")
    assert len(closed.of(Ended)) == 1
