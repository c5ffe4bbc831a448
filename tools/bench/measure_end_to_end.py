"""From the exchange's socket to the browser's, against a bare reader: `python -m tools.bench.measure_end_to_end`.

A sandbox, a broker, a web process, a browser's socket and a bare loop of the websocket-client library have processes
of their own, and the desk's followers are in this one. Something is made to happen at the exchange, once a moment; all
clocks are the machine's one monotonic clock. What the bare loop hears is the least that anybody can take: the exchange
itself, and for an order book its beat of 100 ms. The desk's way is told in steps: heard by the follower, stored and
committed (or, for a tick, handed over), relayed and received. On SQLite and on PostgreSQL.
"""

import json
import os
import queue
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from tools.bench.rounds import line

ROUNDS, FIRST = 150, 10  # the first ones are not counted
PATIENCE_SECONDS = 10
SYMBOL, STEP = "ETHBTC", Decimal("0.0001")
LOGIN = {"algo": "BASIC", "pKey": "demo-full", "sKey": "demo-full-secret"}
Moment = int  # nanoseconds of the monotonic clock


# Who listens ---------------------------------------------------------------------------------------------------------


def listen(url: str, cookie: str, origin: str, *topics: str) -> None:
    """Say these frames on a socket and print each message with the moment it came, until the process is ended."""
    import websocket

    opened = websocket.create_connection(url, cookie=cookie or None, origin=origin or None, timeout=600)
    for frame in topics:
        opened.send(frame)
    while True:
        text = opened.recv()
        sys.stdout.write(f"{time.monotonic_ns()} {text}\n")
        sys.stdout.flush()


class Listener:
    """`listen` in a process of its own."""

    def __init__(self, stack: ExitStack, url: str, *topics: object, cookie: str = "", origin: str = "") -> None:
        words = [url, cookie, origin, *map(json.dumps, topics)]
        self._heard: queue.Queue[tuple[Moment, Any]] = queue.Queue()
        code = "import sys; from tools.bench.measure_end_to_end import listen; listen(*sys.argv[1:])"
        self._process = start(stack, "-c", code, *words, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for printed in self._process.stdout or ():
            at, _, text = printed.partition(" ")
            self._heard.put((int(at), json.loads(text)))

    def wait(self, since: Moment, matches: Callable[[Any], bool]) -> Moment:
        """When the first message after `since` that matches came. Raises queue.Empty when none does in time."""
        while True:
            at, frame = self._heard.get(timeout=PATIENCE_SECONDS)
            if at >= since and any(matches(one) for one in (frame if isinstance(frame, list) else [frame])):
                return at


@dataclass(slots=True)
class Stamps:
    """When a follower heard of something of a kind, and when it had done what follows from it, since the last look."""

    kind: str
    heard: Moment = 0
    done: Moment = 0

    def clear(self) -> None:
        """Begin anew."""
        self.heard = self.done = 0


def stamped(follower: type, stamps: Stamps, done: str) -> Any:
    """The follower with a look at the clock when an event of the kind is taken, and after the method `done`."""

    class Stamped(follower):  # type: ignore[misc]
        def _take(self, event: Any, talk: Any) -> None:
            if type(event).__name__ == stamps.kind and not stamps.heard:
                stamps.heard = time.monotonic_ns()
            super()._take(event, talk)
            self._stamp("_take")

        def _look_after(self, talk: Any, now_ms: int) -> None:
            super()._look_after(talk, now_ms)
            self._stamp("_look_after")

        def _stamp(self, after: str) -> None:
            if after == done and stamps.heard and not stamps.done and not self._holds():
                stamps.done = time.monotonic_ns()

        def _holds(self) -> bool:
            tally = getattr(self, "_tally", None)
            return bool(tally and tally.ticks.is_due)

    return Stamped


# What happens --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of happening: how it is made, and how it shows to the bare loop and to the browser."""

    name: str
    kind: str
    happen: Callable[[], Any]
    is_told: Callable[[Any, Any], bool]
    is_shown: Callable[[Any, Any], bool]
    target: float = 0.15  # the least that the loop's time may be of ours: what is stored takes its time


@dataclass(slots=True)
class Figures:
    """Milliseconds from the happening, one for each round."""

    bare: list[float] = field(default_factory=list)
    heard: list[float] = field(default_factory=list)
    done: list[float] = field(default_factory=list)
    drawn: list[float] = field(default_factory=list)


def run(case: Case, bare: Listener, browser: Listener, stamps: Stamps) -> Figures:
    """One happening after the other, each seen to its end before the next one."""
    figures = Figures()
    for number in range(FIRST + ROUNDS):
        time.sleep(random.uniform(0.005, 0.105))  # so that no beat of anybody is met again and again
        stamps.clear()
        began = time.monotonic_ns()
        key = case.happen()
        arrived = bare.wait(began, lambda frame, key=key: case.is_told(frame, key))
        drawn = browser.wait(began, lambda frame, key=key: case.is_shown(frame, key))
        if number >= FIRST and stamps.heard and stamps.done:
            places = (figures.bare, figures.heard, figures.done, figures.drawn)
            for place, moment in zip(places, (arrived, stamps.heard, stamps.done, drawn), strict=True):
                place.append((moment - began) / 1e6)
    return figures


def tell(engine: str, case: Case, figures: Figures) -> None:
    """The lines of one case."""
    added = [ours - bare for ours, bare in zip(figures.drawn, figures.bare, strict=True)]
    stored = [done - heard for done, heard in zip(figures.done, figures.heard, strict=True)]
    relayed = [drawn - done for drawn, done in zip(figures.drawn, figures.done, strict=True)]
    ours_ms, bare_ms = statistics.median(figures.drawn), statistics.median(figures.bare)
    what = f"{engine}: {case.name}, from the exchange to a browser, p50"
    peer = "bare websocket-client loop"
    print(line(what=what, ours_ms=ours_ms, peer=peer, peer_ms=bare_ms, target=case.target), flush=True)
    print(
        f"    p50/p99: {_pair(figures.drawn)}, the loop {_pair(figures.bare)}; the desk adds {_pair(added)}", flush=True
    )
    steps = {"heard by the follower": figures.heard, "then done": stored, "then relayed and received": relayed}
    figures_line = "; ".join(f"{name} {_pair(times)}" for name, times in steps.items())
    print(f"    {figures_line} ({len(added)} times)", flush=True)


def _pair(times: list[float]) -> str:
    ordered = sorted(times)
    return f"{statistics.median(ordered):.1f}/{ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]:.1f} ms"


# The house -----------------------------------------------------------------------------------------------------------


def start(stack: ExitStack, *words: str, **options: Any) -> "subprocess.Popen[Any]":
    """A process of this Python that ends with the stack."""
    started = subprocess.Popen([sys.executable, *words], **options)
    stack.callback(started.wait)
    stack.callback(started.kill)
    return started


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def measure(engine: str) -> None:
    """Print the lines of one engine; its database is empty and named by the environment."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    with ExitStack() as stack:
        ports = os.environ["PORT"], os.environ["SANDBOX_PORT"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        world = f"{os.environ['DATA_DIR']}/world"
        start(stack, "-m", "sandbox", "--port", ports[1], "--data-dir", world, "--still", **quiet)
        start(stack, "-m", "project.serve", **quiet)
        _wait_for(f"http://127.0.0.1:{ports[1]}/_sandbox/state")
        _wait_for(f"http://127.0.0.1:{ports[0]}/healthz")
        for case, figures in _cases(stack):
            tell(engine, case, figures)


def _cases(stack: ExitStack) -> Iterator[tuple[Case, Figures]]:
    """A transaction, an order, and a change of an order book, each with the follower that it is for."""
    from django.conf import settings

    from desk import clock
    from exchange_ops.client import ExchangeClient
    from exchange_ops.followers import AccountFollower, MarketFollower, TradingFollower
    from wire.credentials import Credentials
    from wire.transport import Transport
    from wire.values import Secret

    account, cookie = _rows()
    credentials = Credentials("demo-full", Secret("demo-full-secret"))
    client = ExchangeClient(Transport(base_url=settings.EXCHANGE_URL, credentials=credentials))
    asks = (("account", "subscribeTransactions"), ("trading", "subscribeReports"), ("public", "subscribeOrderbook"))
    topics = (f"ledger:{account.pk}", "orders", f"book:{SYMBOL}")
    ends = ("_take", "_take", "_look_after")
    for case, (path, method), topic, end in zip(_happenings(client), asks, topics, ends, strict=True):
        stamps = Stamps(case.kind)
        options: dict[str, Any] = {"base_url": settings.EXCHANGE_WS_URL, "now": clock.now}
        kinds = {"account": AccountFollower, "trading": TradingFollower, "public": MarketFollower}
        make_follower = stamped(kinds[path], stamps, end)
        follower = make_follower(**options) if path == "public" else make_follower(account, **options)
        with ExitStack() as own:
            frames = [{"method": "login", "params": LOGIN, "id": 1}] if path != "public" else []
            frames.append({"method": method, "params": {"symbol": SYMBOL} if path == "public" else {}, "id": 2})
            bare = Listener(own, f"{settings.EXCHANGE_WS_URL}/api/2/ws/{path}", *frames)
            desk = f"127.0.0.1:{settings.PORT}"
            browser = Listener(own, f"ws://{desk}/ws/", {"follow": [topic]}, cookie=cookie, origin=f"http://{desk}")
            bare.wait(0, lambda frame: frame.get("id") == 2)
            browser.wait(0, lambda frame, topic=topic: topic in frame.get("followed", ()))
            follower.start()
            own.callback(follower.join, 5)
            own.callback(follower.stop)
            _until_live(follower.name)
            yield case, run(case, bare, browser, stamps)


def _happenings(client: Any) -> Iterator[Case]:
    from exchange_ops.wire.new_orders import NewOrder

    ways = ("bankToExchange", "exchangeToBank")
    counts = {"transfers": 0, "orders": 0, "levels": 0}

    def transfer() -> str:
        counts["transfers"] += 1
        return str(client.transfer_funds(currency="BTC", amount=STEP, type=ways[counts["transfers"] % 2]))

    def order() -> str:
        counts["orders"] += 1
        name = f"far-{counts['orders']}"
        order = NewOrder(client_order_id=name, symbol=SYMBOL, side="buy", quantity=STEP, price=Decimal("0.000001"))
        client.create_order(order=order)
        return name

    book = client.get_orderbook(symbol=SYMBOL, depth=1)
    price = book.bid[0].price + Decimal("0.000001")
    if price >= book.ask[0].price:
        raise SystemExit("The sides of the book have nothing between them; nothing was measured.")

    def level() -> Decimal:
        counts["levels"] += 1
        name = f"level-{counts['levels']}"
        client.create_order(order=NewOrder(client_order_id=name, symbol=SYMBOL, side="buy", quantity=STEP, price=price))
        return STEP * counts["levels"]

    def tells_of(method: str, member: str) -> Callable[[Any, Any], bool]:
        return lambda frame, key: frame.get("method") == method and frame["params"][member] == key

    def is_level(levels: list[tuple[str, str]], size: Any) -> bool:
        return (price, size) in [(Decimal(one), Decimal(other)) for one, other in levels]

    yield Case(
        "a transaction", "Transactions", transfer,
        is_told=tells_of("updateTransaction", "id"), is_shown=lambda frame, key: "hint" in frame,
    )  # fmt: skip
    yield Case(
        "an order", "Reports", order,
        is_told=tells_of("report", "clientOrderId"), is_shown=lambda frame, key: "hint" in frame,
    )  # fmt: skip
    yield Case(
        "a change of an order book", "BookChanged", level,
        is_told=lambda frame, key: frame.get("method") == "updateOrderbook"
        and is_level([(one["price"], one["size"]) for one in frame["params"]["bid"]], key),
        is_shown=lambda frame, key: "tick" in frame and is_level([one[:2] for one in frame["tick"]["bid"]], key),
        target=0.6,
    )  # fmt: skip


def _rows() -> tuple[Any, str]:
    """An account with its key, a market that is looked at for the whole run, and the cookie of a signed-in person."""
    from datetime import timedelta

    from django.conf import settings
    from django.contrib.auth.models import Group
    from django.test import Client

    from desk import clock
    from desk.models import Person
    from exchange_ops.keys import store as keys
    from exchange_ops.market.models import MarketLook
    from exchange_ops.shared.models import Account
    from exchange_ops.wire.catalogue import Right
    from wire.values import Secret

    now = clock.now()
    account = Account.objects.create(name="Main desk", quote_currency="USD")
    secret, rights = Secret("demo-full-secret"), list(Right)
    keys.add(account=account, label="full", login="demo-full", secret=secret, rights=rights, actor=None, now=now)
    MarketLook.objects.create(symbol=SYMBOL, period="M30", asked_at=now + timedelta(hours=1))
    person = Person.objects.create_user(username="operator", password="only for this measurement")
    person.groups.set([Group.objects.get_or_create(name="operator")[0]])
    browser = Client()
    browser.force_login(person)
    return account, f"{settings.SESSION_COOKIE_NAME}={browser.cookies[settings.SESSION_COOKIE_NAME].value}"


def _until_live(thread_name: str) -> None:
    from exchange_ops.market.models import BookSnapshot
    from exchange_ops.shared.models import FollowerState

    title, deadline = thread_name.removeprefix("follow "), time.monotonic() + PATIENCE_SECONDS
    while not FollowerState.objects.filter(name=title, connected=True).exists() or (
        title == "market stream" and not BookSnapshot.objects.exists()
    ):
        if time.monotonic() > deadline:
            raise SystemExit(f"{title} is not followed; nothing was measured.")
        time.sleep(0.05)


def main() -> None:
    """Both engines, one after the other, each with a house and a folder of its own."""
    from tests import houses, servers

    folder = servers.make_folder()
    try:
        broker = servers.Redis(folder)
        try:
            ports = {"PORT": str(houses.free_port()), "SANDBOX_PORT": str(houses.free_port())}
            for engine in ("SQLite", "PostgreSQL"):
                own = folder / engine.lower()
                own.mkdir(mode=0o700)
                with ExitStack() as stack:
                    address = f"sqlite:///{own / 'desk.sqlite3'}" if engine == "SQLite" else _postgres(stack, own)
                    _measure_in_child(engine, {**ports, "DATABASE_URL": address, "REDIS_URL": broker.url}, own)
        finally:
            broker.stop()
    except servers.CannotServe as problem:
        print(f"Not everything was measured: {problem}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _postgres(stack: ExitStack, folder: Path) -> str:
    from tests import servers

    rows = folder / "rows"
    rows.mkdir(mode=0o700)
    server = servers.Postgres(rows)
    stack.callback(server.stop)
    return str(server.url)


def _measure_in_child(engine: str, changes: dict[str, str], folder: Path) -> None:
    outside = {
        "EXCHANGE_URL": "",
        "EXCHANGE_WS_URL": "",
        "EXCHANGE_PLACES": "",
        "CHAINDATA_URL": "",
    }  # the sandbox of this run
    usual = {"DATA_DIR": str(folder), "DEMO": "1", "LOG_LEVEL": "ERROR", "DJANGO_SETTINGS_MODULE": "project.settings"}
    code = f"from tools.bench.measure_end_to_end import measure; measure({engine!r})"
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **outside, **usual, **changes}, check=True)


if __name__ == "__main__":
    main()
