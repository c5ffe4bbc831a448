"""The account follower against the sandbox's socket: whatever happens to it, every transaction arrives once."""

import contextlib
import socket
import threading
import time
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.followers import AccountFollower, CannotFollow, Rhythm, stream_url
from exchange_ops.keys import store as keys
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger import walks
from exchange_ops.ledger.models import Balance, LedgerAside, LedgerEntry, LedgerVersion
from exchange_ops.shared import leases
from exchange_ops.shared.models import FollowerState
from exchange_ops.streams import follower as stream_follower
from exchange_ops.wire.session import AccountSession, Pace, Phase
from sandbox import in_process
from sandbox.exchange.terms import Caller
from sandbox.in_process import InProcessSandbox
from sandbox.server.uvicorn_server import listen
from sandbox.settings.keys import DESK_ACCOUNT
from tests.bounds import stretched
from tests.cases import crossed

CALLER = Caller("demo-read", DESK_ACCOUNT, frozenset())
ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
QUICK = Rhythm(
    pace=Pace(answer_ms=1_000, silence_ms=1_500, recheck_ms=700),
    ping_ms=300,
    look_ms=50,
    first_pause_ms=50,
    longest_pause_ms=200,
    turned_down_pause_ms=300,
)
pytestmark = [pytest.mark.django_db(transaction=True)]


def until(holds, *, seconds=10):
    deadline = time.monotonic() + stretched(seconds)
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.02)
    return holds()


@pytest.fixture
def state(account):
    return lambda: FollowerState.objects.filter(name=f"stream:{account.pk}").first()


@pytest.fixture
def follow(account, demo_keys, sandbox, settings, state):
    """A running follower of the demo account that is already live."""
    started = []

    def start(*, wait=True):
        follower = AccountFollower(account, base_url=sandbox.ws_url, now=clock.now, rhythm=QUICK)
        follower.start()
        started.append(follower)
        if wait:
            assert until(lambda: state() is not None and state().connected)
        return follower

    yield start
    for follower in started:
        follower.stop()
        follower.join(3)
        assert not follower.is_alive()


@pytest.fixture
def exchange(client_as):
    """Somebody else's hands on the same account."""
    return client_as("demo-withdraw")


def hold(exchange, amount="0.1"):
    return exchange.create_withdrawal(currency="BTC", amount=Decimal(amount), address=ADDRESS)


def complete(account, exchange):
    """Whether our copy holds the newest version of every transaction of the exchange, once."""
    theirs = {
        record.id: record.index for record in exchange.call("get_transactions", sort="ASC", by="index", limit=1000)
    }
    ours = dict(LedgerEntry.objects.filter(account=account).values_list("exchange_id", "index"))
    return theirs == ours


def test_the_backlog_is_taken_and_changes_arrive_as_they_happen(account, follow, exchange, state):
    before = hold(exchange)
    follow()
    assert complete(account, exchange)
    assert LedgerEntry.objects.get(exchange_id=before).status == "created"
    after = hold(exchange)
    assert until(lambda: LedgerEntry.objects.filter(exchange_id=after).exists(), seconds=0.6)
    exchange.rollback_withdrawal(exchange_id=after)
    assert until(lambda: LedgerEntry.objects.get(exchange_id=after).status == "failed")
    assert LedgerVersion.objects.filter(entry__exchange_id=after, source="stream").count() == 2
    assert until(lambda: Balance.objects.get(wallet="bank", currency="BTC").reserved == Decimal("0.1005"))
    assert state().problem == ""


@pytest.mark.parametrize(
    "fault",
    [
        {"operation": "updateTransaction", "kind": "drop"},
        {"operation": "updateTransaction", "kind": "drop", "how": "reset"},
        {"operation": "updateTransaction", "kind": "gap"},
        {"operation": "updateTransaction", "kind": "duplicate"},
        {"operation": "updateTransaction", "kind": "reorder"},
        {"operation": "updateTransaction", "kind": "silence"},
        {"operation": "updateTransaction", "kind": "silence", "pings": True},
        {"operation": "updateTransaction", "kind": "slow", "ms": 800},
        {"operation": "balance", "kind": "drop"},
        {"operation": "balance", "kind": "silence", "pings": True},
        {"operation": "updateTransaction", "kind": "echo_differs", "field": "amount", "value": "NaN"},
        {"operation": "updateTransaction", "kind": "echo_differs", "field": "index", "absent": True},
        {"operation": "balance", "kind": "echo_differs", "field": "available", "value": "NaN"},
    ],
    ids=lambda fault: "-".join(str(value) for value in fault.values()),
)
def test_whatever_happens_to_a_message_every_transaction_arrives_once(account, sandbox, follow, exchange, fault):
    follow()
    sandbox.control("faults", {"times": 1, **fault})
    made = [hold(exchange, f"0.1{number}") for number in range(4)]
    exchange.rollback_withdrawal(exchange_id=made[0])
    assert until(lambda: complete(account, exchange))
    assert LedgerEntry.objects.filter(exchange_id__in=made).count() == 4
    indexes = list(LedgerVersion.objects.values_list("index", flat=True))
    assert len(indexes) == len(set(indexes))


@crossed(
    {
        "method": ("login", "loadTransactions", "subscribeTransactions", "subscribeBalance"),
        "kind": ("drop", "silence", "gap", "duplicate"),
    },
    together=1,
)
def test_a_fault_in_any_step_is_overcome(*, account, sandbox, follow, exchange, state, method, kind):
    hold(exchange)
    sandbox.control("faults", {"operation": method, "kind": kind, "times": 1})
    follow()
    hold(exchange)
    assert until(lambda: complete(account, exchange))
    assert state().reconnects == (0 if kind == "duplicate" else 1)


def test_what_happens_while_the_follower_is_away_is_caught_up(account, follow, exchange, state):
    follower = follow()
    follower.stop()
    follower.join(3)
    assert not state().connected
    missed = [hold(exchange) for _ in range(3)]
    exchange.commit_withdrawal(exchange_id=missed[0])
    follow()
    assert until(lambda: complete(account, exchange))


def test_a_lost_notification_is_counted_as_a_closed_gap(account, sandbox, follow, exchange, state):
    follow()
    sandbox.control("faults", {"operation": "updateTransaction", "kind": "gap", "times": 1})
    lost = hold(exchange)
    assert until(lambda: LedgerEntry.objects.filter(exchange_id=lost).exists(), seconds=3)
    assert until(lambda: state().gaps_closed == 1)
    assert state().reconnects == 0


def test_the_row_says_when_a_message_came_and_how_long_it_was_on_its_way(account, sandbox, follow, exchange, state):
    follow()
    assert until(lambda: state().message_at is not None)  # the balances, which carry no time
    assert state().lag_ms is None
    before = clock.now()
    sandbox.control("faults", {"operation": "updateTransaction", "kind": "slow", "ms": 600, "times": 1})
    hold(exchange)
    assert until(lambda: state().lag_ms is not None and state().lag_ms >= 600)
    assert state().message_at > before


def test_many_drops_in_a_row_lose_nothing(account, sandbox, follow, exchange, state):
    follow()
    sandbox.control("faults", {"operation": "updateTransaction", "kind": "drop", "times": 5})
    made = []
    for number in range(8):
        made.append(hold(exchange, f"0.2{number}"))
        time.sleep(0.15)
    assert until(lambda: complete(account, exchange), seconds=20)
    assert state().reconnects >= 1


def test_an_exchange_that_comes_back_is_followed_again(account, sandbox, follow, state):
    follow()
    sandbox.stop()
    assert until(lambda: not state().connected and state().reconnects >= 2)
    assert state().problem.startswith("The connection was lost")


def test_an_exchange_that_began_again_is_caught_up_with_and_the_pauses_with_it(
    *, account, demo_keys, settings, state, tmp_path, monkeypatch
):
    first = InProcessSandbox(data_dir=tmp_path, still=True)
    monkeypatch.setattr(in_process, "listen", lambda host, port: listen(host, first.port))
    follower = AccountFollower(account, base_url=first.ws_url, now=clock.now, rhythm=QUICK)
    follower.start()
    try:
        assert until(lambda: state() is not None and state().connected)
        first.control("deposit", {"currency": "BTC", "amount": "1"})
        first.stop()
        assert until(lambda: state().reconnects >= 4)
        assert not state().connected
        with InProcessSandbox(data_dir=tmp_path, still=True) as second:
            made = second.control("deposit", {"currency": "BTC", "amount": "2"})["id"]
            assert until(lambda: LedgerEntry.objects.filter(exchange_id=made).exists())
            assert until(lambda: state().connected)
            theirs = second.inside(lambda: second.world.perform("find_transactions", CALLER, {"limit": 1000}))
            assert {one["id"] for one in theirs} == set(LedgerEntry.objects.values_list("exchange_id", flat=True))
            assert follower._failures == 0
    finally:
        follower.stop()
        follower.join(3)
        first.stop()


def test_a_word_that_nobody_knows_is_stored_and_shown(*, account, sandbox, follow, exchange, admin, client):
    follow()
    for field, value in (("status", "haunted"), ("type", "teleport")):
        fault = {"operation": "updateTransaction", "kind": "echo_differs", "field": field, "value": value, "times": 1}
        sandbox.control("faults", fault)
    made = hold(exchange)
    entries = LedgerEntry.objects.filter(exchange_id=made)
    assert until(lambda: entries.filter(status="haunted", type="teleport").exists())
    client.force_login(admin)
    page = client.get("/ledger/").content.decode()
    assert "haunted" in page
    assert "teleport" in page


def test_a_key_that_is_turned_down_is_said_and_tried_rarely(account, demo_keys, sandbox, follow, state):
    ApiKey.objects.filter(login="demo-read").update(active=False)
    ApiKey.objects.filter(login="demo-withdraw").update(active=False)
    keys.add(
        account=account,
        label="wrong",
        login="demo-full",
        secret=keys.Secret("not the secret"),
        rights=list(keys.Right),
        actor=None,
        now=clock.now(),
    )
    follow(wait=False)
    assert until(lambda: state() is not None and "rejected login: 1002" in state().problem)
    first = state().reconnects
    time.sleep(0.2)
    assert state().reconnects - first <= 1


def logins(sandbox):
    """The keys that streams logged in with, in their order."""
    return [call["form"]["pKey"] for call in sandbox.control("calls?operation=login")["calls"]]


def test_a_stream_whose_key_is_disabled_logs_in_with_another(*, account, demo_keys, sandbox, follow, state, exchange):
    follow()
    first = demo_keys[logins(sandbox)[0]]
    keys.disable(key=first, actor=None, now=clock.now())
    assert until(lambda: len(logins(sandbox)) == 2 and state().connected, seconds=5)
    assert logins(sandbox)[1] not in {first.login, "demo-trade"}
    made = hold(exchange)
    # Nothing but the stream reads here: who has it was told by the stream.
    assert until(lambda: LedgerEntry.objects.filter(exchange_id=made).exists())


def test_a_stream_whose_last_key_is_disabled_says_so(account, demo_keys, sandbox, follow, state):
    ApiKey.objects.filter(login="demo-withdraw").update(active=False)
    follow()
    keys.disable(key=demo_keys["demo-read"], actor=None, now=clock.now())
    assert until(lambda: not state().connected and "no active key" in state().problem)
    assert logins(sandbox) == ["demo-read"]


def test_a_stream_follows_a_rotation_to_the_new_key(*, account, demo_keys, sandbox, follow, state, exchange):
    follow()
    old = demo_keys[logins(sandbox)[0]]
    new = keys.add(
        account=account,
        label="new",
        login=old.login.replace("demo", "next"),
        secret=keys.Secret(old.login.replace("demo", "next") + "-secret"),
        rights=[keys.Right(right) for right in old.rights],
        actor=None,
        now=clock.now(),
        replaces=old,
    )
    time.sleep(1.3)
    assert logins(sandbox) == [old.login]  # a successor that waits changes nothing
    ApiKey.objects.filter(login__startswith="demo").update(active=False, kept_at=clock.now())
    ApiKey.objects.filter(pk=new.pk).update(active=True)
    assert until(lambda: logins(sandbox)[-1] == new.login and state().connected, seconds=5)
    made = hold(exchange)
    # Nothing but the stream reads here: who has it was told by the stream.
    assert until(lambda: LedgerEntry.objects.filter(exchange_id=made).exists())
    time.sleep(1.3)
    assert len(logins(sandbox)) == 2  # and it stays


def test_a_stream_whose_new_key_is_refused_goes_on_with_the_one_that_is_kept(
    account, demo_keys, sandbox, follow, state
):
    ApiKey.objects.filter(login="demo-withdraw").update(active=False)
    old = demo_keys["demo-read"]
    bad = keys.add(
        account=account,
        label="bad",
        login="next-read",
        secret=keys.Secret("not its secret at all"),
        rights=[keys.Right.PAYMENTS],
        actor=None,
        now=clock.now(),
        replaces=old,
    )
    ApiKey.objects.filter(pk=old.pk).update(active=False, kept_at=clock.now())
    ApiKey.objects.filter(pk=bad.pk).update(active=True)
    follow()
    assert logins(sandbox) == ["next-read", "demo-read"]
    bad.refresh_from_db()
    assert "1002" in bad.last_problem
    time.sleep(1.3)
    assert len(logins(sandbox)) == 2  # no going to and fro


def test_without_a_key_the_follower_says_so_and_waits(account, sandbox, follow, state):
    ApiKey.objects.update(active=False)
    follow(wait=False)
    assert until(lambda: state() is not None and "no active key" in state().problem)


@pytest.mark.parametrize(
    "answer",
    [
        "HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:9/elsewhere\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 503 Service Unavailable\r\n\r\n",
        "nonsense\r\n\r\n",
        "",
    ],
)
def test_a_server_that_is_no_socket_hears_no_login(*, account, demo_keys, state, answer, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    heard = []
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(10)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                peer, _ = server.accept()
                with peer:
                    peer.settimeout(0.3)
                    heard.append(peer.recv(4096))
                    peer.sendall(answer.encode())
                    with contextlib.suppress(OSError):
                        heard.append(peer.recv(4096))

    threading.Thread(target=serve, daemon=True).start()
    url = f"ws://127.0.0.1:{server.getsockname()[1]}"
    follower = AccountFollower(account, base_url=url, now=clock.now, rhythm=QUICK)
    follower.start()
    try:
        assert until(lambda: state() is not None and state().reconnects >= 2)
    finally:
        follower.stop()
        follower.join(3)
        server.close()
    assert all(said == b"" or said.startswith(b"GET /api/2/ws/account HTTP/1.1") for said in heard)


@pytest.mark.parametrize("inside", ["127.0.0.1", "169.254.169.254"])
def test_a_stream_whose_name_is_bound_anew_is_never_reached_inside(
    *, account, demo_keys, run, state, inside, monkeypatch
):
    """The name leads to a public address when it is asked for the first time, and inside from the second time on."""
    resolved, connected, resolve, connect = [], [], socket.getaddrinfo, socket.socket.connect

    def answer(host, port, *arguments, **options):
        if host != "streams.test" or options.get("flags") == socket.AI_NUMERICHOST:
            return resolve(host, port, *arguments, **options)
        resolved.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (inside if resolved[1:] else "93.184.216.34", port))]

    def noted(plain, address):
        if address[1] != 443:
            return connect(plain, address)
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    monkeypatch.setattr(socket.socket, "connect", noted)
    run(AccountFollower(account, base_url="wss://streams.test", now=clock.now, rhythm=QUICK))
    assert until(lambda: len(resolved) >= 3 and "AddressRefused" in state().problem)
    assert connected == [("93.184.216.34", 443)]


def test_a_slow_database_is_not_taken_for_a_silent_exchange(account, monkeypatch):
    passed = [1_000]
    monkeypatch.setattr(stream_follower, "now_ms", lambda: passed[0])
    follower = AccountFollower(account, base_url="ws://127.0.0.1:9", now=clock.now, rhythm=QUICK)
    talk = AccountSession(login={}, watermark=0, pace=QUICK.pace)
    talk.opened(follower._clock())
    with follower._not_listening():
        passed[0] += 60_000
    talk.tick(follower._clock())
    assert talk.phase is Phase.LOGGING_IN
    passed[0] += QUICK.pace.answer_ms + 1
    talk.tick(follower._clock())
    assert talk.phase is Phase.ENDED


def test_a_stream_is_live_beside_a_walk_and_loads_the_ledger_after_it(account, sandbox, follow, exchange):
    before = hold(exchange)
    assert walks.hold(account=account, holder="another", now=clock.now())
    follow()
    facts = hold(exchange)
    assert until(lambda: LedgerEntry.objects.filter(exchange_id=facts).exists())
    assert not LedgerEntry.objects.filter(exchange_id=before).exists(), "the history is the walk's"
    assert FollowerState.objects.get(name=f"stream:{account.pk}").reconnects == 0
    walks.release(account=account, holder="another")
    assert until(lambda: complete(account, exchange))


def test_what_is_said_badly_is_kept_aside_with_its_reason(account, sandbox, follow, exchange):
    follow()
    sandbox.control(
        "faults",
        {"operation": "updateTransaction", "kind": "echo_differs", "field": "amount", "value": "NaN", "times": 1},
    )
    hold(exchange)
    assert until(lambda: LedgerAside.objects.filter(source="stream").exists())


def test_stopping_waits_for_nothing_in_the_middle_of_anything(account, follow):
    follower = follow()
    follower.stop()
    follower.join(5)
    assert not follower.is_alive()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "ws://exchange.example", "wss://", "ftp://x", ""])
def test_an_address_that_is_no_safe_socket_is_refused(address):
    with pytest.raises(CannotFollow):
        stream_url(address)


def test_one_holder_at_a_time_and_the_next_when_the_lease_is_over():
    now = clock.now()
    assert leases.hold(name="follow", holder="a", now=now)
    assert leases.hold(name="follow", holder="a", now=now + leases.LASTS / 2)
    assert not leases.hold(name="follow", holder="b", now=now + leases.LASTS)
    assert leases.hold(name="follow", holder="b", now=now + leases.LASTS * 1.6)
    assert not leases.hold(name="follow", holder="a", now=now + leases.LASTS * 1.7)
    leases.release(name="follow", holder="a")
    assert not leases.hold(name="follow", holder="a", now=now + leases.LASTS * 1.8)
    leases.release(name="follow", holder="b")
    assert leases.hold(name="follow", holder="a", now=now)


def test_many_processes_asking_at_once_get_one_holder():
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    now = clock.now()

    def ask(number):
        try:
            return leases.hold(name="follow", holder=f"p{number}", now=now)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 1


def test_the_watermark_of_the_walk_is_where_the_stream_begins(account, follow, exchange, sandbox, client_as):
    ledger.sync(account=account, client=client_as("demo-read"), now=clock.now())
    follow()
    loads = sandbox.control("calls?operation=loadTransactions")["calls"]
    assert loads[0]["form"]["from"] == str(ledger.watermark(account=account))
