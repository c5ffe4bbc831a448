"""How fast the desk's pages feel in a browser with much on them: `python -m tools.bench.measure_vitals`.

A whole house of its own: 100,000 lines of ledger, a sandbox of 1,000 symbols whose market moves, and a chart that is
moved back until it has 2,000 candles. In Chromium, for each page: the largest contentful paint (LCP), the layout shift
(CLS) without what follows an input, and the longest interaction (INP; event timing, rounded to 8 ms by the browser)
over presses and keys on what the page offers. The peer of LCP is the very same page saved as a file, read by the same
browser from the standard library's `http.server`: what is left when nothing is reckoned.
"""

import functools
import http.server
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests import browsers, door
from tests.houses import ROOT, RunningHouse, free_port

Doing = Callable[[Page], None]

LINES, SYMBOLS, CANDLES, ROUNDS = 100_000, 1_000, 2_000, 5
MOST_LCP_MS, MOST_INP_MS, MOST_CLS = 1_000, 100, 0.001
WATCH = """(() => {
    window.vitals = {lcp: 0, cls: 0, inp: 0, slowest: "", moved: ""};
    new PerformanceObserver((list) => { for (const one of list.getEntries()) window.vitals.lcp = one.startTime; })
        .observe({type: "largest-contentful-paint", buffered: true});
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) {
            if (one.hadRecentInput) continue;
            window.vitals.cls += one.value;
            const moved = one.sources.filter((source) => source.node && source.node.tagName);
            window.vitals.moved = moved.map(({node, previousRect: was, currentRect: now}) =>
                `${node.tagName}#${node.id}.${node.className} ${was.x},${was.y} ${was.height} to ` +
                `${now.x},${now.y} ${now.height}`).join("; ");
        }
    }).observe({type: "layout-shift", buffered: true});
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) {
            if (!one.interactionId || one.duration <= window.vitals.inp) continue;
            window.vitals.inp = one.duration;
            window.vitals.slowest = one.name + " " + (one.target ? one.target.tagName : "");
        }
    }).observe({type: "event", durationThreshold: 16, buffered: true});
    window.older = 0;
    document.addEventListener("htmx:load", (event) => {
        const part = event.detail.elt;
        if (part.id === "older" && part.dataset.rows) window.older += JSON.parse(part.dataset.rows).length;
    });
})()"""
COUNTED = """() => window.older + JSON.parse(document.querySelector("[data-candles]").dataset.candles).length"""
# A hundred thousand transactions of the exchange, as the sync would have stored them: one in four a payout.
FILL = f"""
import django; django.setup()
from datetime import timedelta
from decimal import Decimal
from desk import clock
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account
now, account = clock.now(), Account.objects.order_by("pk").first()
TYPES, CODES = ("payin", "payout", "deposit", "withdraw"), ("BTC", "ETH", "BCH", "XRP")
def line(n):
    at = now - timedelta(minutes=n + 9_000)
    return LedgerEntry(
        account=account, exchange_id=f"filled-{{n}}", index=n + 1, type=TYPES[n % 4], status="success",
        currency=CODES[n % 4], amount=Decimal(n + 1) / 1000, fee=Decimal("0.0001"), address=f"1Address{{n:08d}}",
        hash=f"{{n:064x}}", created_at=at, updated_at=at, first_seen_at=now, seen_at=now,
    )
for start in range(0, {LINES}, 5_000):
    LedgerEntry.objects.bulk_create(map(line, range(start, start + 5_000)))
print(LedgerEntry.objects.count())
"""


def world_of(folder: Path, port: int) -> None:
    """A kept world with that many symbols, for the house to go on with."""
    where = ["--data-dir", str(folder / "sandbox"), "--port", str(port)]
    command = [sys.executable, "-m", "sandbox", *where, "--symbols", str(SYMBOLS), "--fresh"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.wait(60)


def presses(page: Page) -> None:
    """What somebody does on any page: the palette, a word in it, and away; the first buttons; keys along the rows."""
    page.keyboard.press("Control+k")
    page.keyboard.type("ledger", delay=40)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    for key in ("j", "j", "k"):
        page.keyboard.press(key)
    for one in page.locator("main summary:visible, main button[popovertarget]:visible").all()[:4]:
        one.click(delay=40)
        page.keyboard.press("Escape")


def chart(page: Page) -> None:
    """Back until the candles are there, then moved, zoomed and crossed by the pointer; a level of the book pressed."""
    back = page.locator("[data-chart=older]")
    deadline = time.monotonic() + 120
    while page.evaluate(COUNTED) < CANDLES:
        if time.monotonic() > deadline:
            raise SystemExit(f"The chart has {page.evaluate(COUNTED)} candles only; nothing was measured.")
        back.click(delay=20)
        page.wait_for_timeout(100)
    for name in ("out", "out", "in", "now"):
        page.locator(f"[data-chart={name}]").click(delay=40)
    box = page.locator("#chart").bounding_box()
    assert box is not None
    for step in range(30):
        page.mouse.move(box["x"] + 20 + step * 15, box["y"] + 80)
    presses(page)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: the lines are the bench's own."""


class Saved:
    """Pages saved beside the desk's static files, served by the standard library."""

    def __init__(self, stack: ExitStack, folder: Path, static: Path) -> None:
        self._folder = folder
        folder.mkdir()
        (folder / "static").symlink_to(static)
        handler = functools.partial(_Quiet, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a browser that goes on to the next page
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        self._url = f"http://127.0.0.1:{server.server_address[1]}"

    def of(self, page: Page) -> str:
        """The address at which the page that is open can be had as it was sent."""
        (self._folder / "page.html").write_text(page.request.get(page.url).text())
        return f"{self._url}/page.html"


def opened(page: Page, address: str) -> float:
    """Milliseconds to the largest paint of one opening."""
    page.goto(address, wait_until="load")
    page.wait_for_timeout(600)
    return float(page.evaluate("window.vitals.lcp"))


def measure(page: Page, address: str, doing: Doing, saved: Saved) -> str:
    """One line: the medians of the paints, then the shift and the longest interaction of one visit."""
    opened(page, address)  # warm, as on a desk that is open all day
    ours, theirs, copy = [], [], saved.of(page)
    opened(page, copy)
    for _ in range(ROUNDS):
        theirs.append(opened(page, copy))
        ours.append(opened(page, address))
    page.wait_for_timeout(3_000)  # what moves by itself moves meanwhile
    doing(page)
    page.wait_for_timeout(400)
    vitals: dict[str, Any] = page.evaluate("window.vitals")
    lcp, bare = statistics.median(ours), statistics.median(theirs)
    holds = lcp < MOST_LCP_MS and vitals["inp"] < MOST_INP_MS and vitals["cls"] < MOST_CLS
    return (
        f"LCP {lcp:4.0f} ms, saved page {bare:4.0f} ms: {lcp / bare:4.1f}x   INP {vitals['inp']:3.0f} ms"
        f" {vitals['slowest']:<18} CLS {vitals['cls']:.4f} {vitals['moved'][:80]}"
        f"   {'holds' if holds else 'MISSED'}"
    )


def chromium(stack: ExitStack) -> Page:
    """A page in the Chromium of the tests that keeps its vitals from the start."""
    local_browser = browsers.find()
    if local_browser is None:
        raise SystemExit("No Chromium was found; `python3 manage.py verify` fetches one.")
    driver = stack.enter_context(sync_playwright())
    browser = driver.chromium.launch(
        executable_path=local_browser.program,
        env={**os.environ, **local_browser.environment},
        args=["--no-sandbox", "--disable-dev-shm-usage"],
    )
    stack.callback(browser.close)
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.add_init_script(WATCH)
    page.set_default_timeout(120_000)
    return page


PAGES: dict[str, Doing] = {
    "/": presses,
    "/ledger/": presses,
    "/ledger/?type=payout&range=30d": presses,
    "/markets/": presses,
    "/markets/ETHBTC/?period=M1": chart,
    "/withdrawals/": presses,
    "/orders/": presses,
    "/funds/": presses,
    "/action/": presses,
    "/chain/": presses,
}


def main() -> None:
    """The house, its rows, and every page in turn."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="countersign-vitals-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        ports = free_port(), free_port()
        world_of(folder / "house", ports[1])
        house = RunningHouse(folder=folder / "house", ports=ports)
        stack.callback(house.stop, seconds=60)
        house.wait_until_ready(300)
        print(f"{house.python('-c', FILL, seconds=600).strip()} lines of ledger, {SYMBOLS} symbols", flush=True)
        page = chromium(stack)
        door.sign_in(page, house.url, "operator", "countersign-demo")
        saved = Saved(stack, folder / "saved", house.folder / "static")
        for path, doing in PAGES.items():
            if sys.argv[1:] and path not in sys.argv[1:]:
                continue
            print(f"{path:<32} {measure(page, house.url + path, doing, saved)}", flush=True)


if __name__ == "__main__":
    main()
