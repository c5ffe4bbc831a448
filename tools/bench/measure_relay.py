"""What it costs to tell many browsers the same, against `websockets.broadcast`: `python -m tools.bench.measure_relay`.

Every server runs in a process of its own with 50, 200 and 1,000 browsers and is asked in turns. What counts is the
processor time of the server for each message that a browser has read, so a busy machine disturbs it little; rates and
latencies are disturbed, by everything else on it and by the browsers, which are one Python process. "behind Redis" is
the whole hub, which hears the notifications as a web process does.
"""

import gc
import resource
import statistics
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tools.bench.relay_browsers import CHARACTERS, Server, moments, redis_in, text

BROWSERS = (50, 200, 1_000)
ROUNDS = 5
BURST = 16
DELIVERIES_A_SECOND = 10_000
PACED_SECONDS = 0.7
PACED_ROUNDS = 9
COALESCED_SECONDS = 3.0
TICKS_A_SECOND = 1_000
SAMPLED = 50
HUBS = ("hub", "hub-redis")
PEER = "broadcast"

Servers = dict[str, Server]


@dataclass(frozen=True, slots=True)
class Bound:
    """What a ratio has to be: at least, or with `most` (ours to theirs, then) at most."""

    ratio: float
    most: bool = False


def report(what: str, unit: str, *, ours: float, peer: str, theirs: float, bound: Bound | None = None) -> None:
    """One line: both figures, the ratio, and whether the target holds."""
    most = bound is not None and bound.most
    ratio = ours / theirs if most else theirs / ours
    verdict = ""
    if bound is not None:
        holds = ratio <= bound.ratio if most else ratio >= bound.ratio
        verdict = f" (target {'at most ' if most else ''}{bound.ratio:g}x: {'holds' if holds else 'MISSED'})"
    print(f"{what}: {ours:,.2f} {unit}, {peer} {theirs:,.2f} {unit}: {ratio:.2f}x{verdict}", flush=True)


def each_us(servers: list[Server], *, notifications: int, together: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Microseconds of each server for one message read: medians over the rounds, the first not counted."""
    spent: dict[str, list[float]] = {server.kind: [] for server in servers}
    for _ in range(rounds + 1):
        for server in servers:
            began = server.spent_us()
            for _ in range(notifications // together):
                server.give(together)
                server.wait()
            spent[server.kind].append((server.spent_us() - began) / (notifications * len(server.browsers)))
    return {kind: statistics.median(times[1:] or times) for kind, times in spent.items()}


def single(servers: Servers, browsers: int) -> dict[str, float]:
    """One notification after the other."""
    kinds = [servers[kind] for kind in (*HUBS, PEER, "broadcast-uvloop")]
    spent = each_us(kinds, notifications=max(20, 10_000 // browsers), together=1)
    for kind, what in zip(HUBS, ("", ", behind Redis"), strict=True):
        for peer in (PEER, "broadcast-uvloop"):
            bound = Bound(1.0) if peer == PEER else None
            name = f"a message, {browsers} browsers{what}"
            report(name, "µs", ours=spent[kind], peer=peer, theirs=spent[peer], bound=bound)
    return spent


def bursts(servers: Servers, browsers: int, unbatched: float) -> None:
    """Sixteen notifications at a time."""
    kinds = [servers[kind] for kind in (*HUBS, "broadcast-batched")]
    spent = each_us(kinds, notifications=BURST * max(4, 8_000 // browsers), together=BURST)
    batched = spent["broadcast-batched"]
    for kind, what in zip(HUBS, ("", ", behind Redis"), strict=True):
        name = f"a message of a burst of {BURST}, {browsers} browsers{what}"
        eight = Bound(8.0) if browsers == 200 else None
        report(name, "µs", ours=spent[kind], peer="broadcast one by one", theirs=unbatched, bound=eight)
        report(name, "µs", ours=spent[kind], peer="broadcast of arrays", theirs=batched, bound=Bound(0.9))
    if browsers > 50:
        stock = each_us([servers["channels"]], notifications=3, together=1, rounds=1)["channels"]
        name = f"a message of a burst of {BURST}, {browsers} browsers"
        bound = Bound(60.0 if browsers == 200 else 300.0)
        report(name, "µs", ours=spent["hub"], peer="stock Channels in memory", theirs=stock, bound=bound)


def rate(server: Server) -> float:
    """Messages read in a second, bursts one after the other."""
    began, bursts = time.monotonic(), 0
    while time.monotonic() - began < 1.0:
        server.give(BURST)
        server.wait()
        bursts += 1
    return bursts * BURST * len(server.browsers) / (time.monotonic() - began)


def paced(server: Server) -> list[float]:
    """Milliseconds from each notification to each browser, at so many deliveries a second."""
    pause = len(server.browsers) / DELIVERIES_A_SECOND
    late: list[float] = []
    began = following = time.monotonic()
    while (now := time.monotonic()) < began + PACED_SECONDS:
        if now >= following:
            server.give(1)
            following += pause
        late += _lateness(server, max(0.0, min(following - time.monotonic(), 0.01)))
    while server.heard < server.sent * len(server.browsers):
        late += _lateness(server, 0.1)
    return late


def _lateness(server: Server, seconds: float) -> list[float]:
    delays: list[float] = []
    for _, read in server.pump(seconds):
        now = time.monotonic() * 1_000
        delays += [now - at / 1_000 for at in moments(read)]
    return delays


def latencies(servers: Servers, browsers: int) -> None:
    """The 99th percentile, at equal load: medians of many short turns, because a neighbour disturbs each of them."""
    late: dict[str, list[float]] = {kind: [] for kind in (*HUBS, PEER)}
    for _ in range(PACED_ROUNDS):
        for kind, percentiles in late.items():
            percentiles.append(statistics.quantiles(paced(servers[kind]), n=100)[98])
    worst = {kind: statistics.median(percentiles) for kind, percentiles in late.items()}
    for kind, what in zip(HUBS, ("", ", behind Redis"), strict=True):
        name = f"p99 at {DELIVERIES_A_SECOND:,} deliveries a second, {browsers} browsers{what}"
        report(name, "ms", ours=worst[kind], peer=PEER, theirs=worst[PEER], bound=Bound(1.1, most=True))


def coalesced(server: Server) -> None:
    """A thousand ticks a second over a hundred topics: each browser gets the latest, twenty times a second."""
    sampled = set(list(server.browsers)[:SAMPLED])
    late: list[float] = []
    began, spent, sent, drained = time.monotonic(), server.spent_us(), 0, server.drained
    while (elapsed := time.monotonic() - began) < COALESCED_SECONDS:
        due = int(elapsed * TICKS_A_SECOND) - sent
        if due > 0:
            topics = [f"t:{number % 100}" for number in range(sent, sent + due)]
            server.upstream.send([(topic, text(sent, topic=topic)) for topic in topics])
            sent += due
        for read in server.drain(0.002, sampled):
            now = time.monotonic() * 1_000
            late += [now - at / 1_000 for at in moments(read)]
    p50, p99 = statistics.median(late), statistics.quantiles(late, n=100)[98]
    share = (server.spent_us() - spent) / (COALESCED_SECONDS * 1_000_000)
    written = (server.drained - drained) / (sent * (CHARACTERS + 1) * len(server.browsers))
    verdict = "holds" if p99 <= 250 else "MISSED"
    what = f"{TICKS_A_SECOND:,} ticks a second over 100 topics, {len(server.browsers):,} browsers, {server.kind}"
    print(f"{what}: p50 {p50:.0f} ms, p99 {p99:.0f} ms (target at most 250 ms: {verdict}), {share:.0%} of a core")
    print(f"{what}: {written:.0%} written, the rest was replaced by something newer", flush=True)


def memory(servers: Servers, empty: dict[str, int], browsers: int) -> None:
    """Bytes that a browser costs, idle after what came before."""
    each = {kind: (servers[kind].memory_bytes() - empty[kind]) / browsers / 1_024 for kind in (*HUBS, PEER)}
    for kind in HUBS:
        report(f"memory of a browser of {browsers:,}, {kind}", "KiB", ours=each[kind], peer=PEER, theirs=each[PEER])


def measure(servers: Servers, browsers: int, empty: dict[str, int]) -> None:
    """Everything at this number of browsers."""
    for kind, server in servers.items():
        if kind != "channels" or browsers > 50:
            server.connect(browsers)
    if browsers == BROWSERS[-1]:
        memory(servers, empty, browsers)
    spent = single(servers, browsers)
    bursts(servers, browsers, spent[PEER])
    rates = {kind: rate(servers[kind]) for kind in ("hub", "broadcast-batched")}
    theirs = rates["broadcast-batched"]
    print(f"read in a second in bursts, {browsers} browsers: {rates['hub']:,.0f}, broadcast of arrays {theirs:,.0f}")
    latencies(servers, browsers)


def main() -> None:
    """Print a line for every row of the targets."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    gc.disable()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="relay-")))
        stack.enter_context(redis_in(folder))
        servers: Servers = {}
        for kind in (*HUBS, PEER, "broadcast-uvloop", "broadcast-batched", "channels"):
            servers[kind] = Server(kind, folder)
            stack.callback(servers[kind].stop)
        empty = {}
        for kind, server in servers.items():
            server.connect(1)
            empty[kind] = server.memory_bytes()
        for browsers in BROWSERS:
            measure(servers, browsers, empty)
        for kind in HUBS:
            coalesced(servers[kind])


if __name__ == "__main__":
    main()
