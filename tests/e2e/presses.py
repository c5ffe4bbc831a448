"""Real mouse presses on the buttons of live pages, with the re-reading of the page due while the button is down."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.bounds import stretched
from tests.e2e.visitors import Visitor, until
from tests.houses import ROOT, RunningHouse

# How long a button is held down, in milliseconds: a quick tap of a touch pad up to a slow hand.
HOLDS_MS = (5, 20, 45, 80, 110, 150)
_SEEN = """
window.reached = [];
window.answers = 0;
window.pending = 0;
window.wordsOf = (one) => (one.textContent.trim() || one.getAttribute("aria-label") || one.tagName)
    .replace(/\\s+/g, " ").replace(/\\d+(:\\d\\d| s\\b| min\\b| h\\b| d\\b)/g, "-").slice(0, 60);
// Answers are kept back here for as long as a press takes, on a slow machine for longer than a page waits for one.
document.addEventListener("htmx:configRequest", (event) => { event.detail.timeout = 0; });
// What is pressed is what stands under the pointer at the moment of the press.
window.addEventListener("pointerdown", (event) => {
    window.wanted = event.target.closest("a[href], button, summary, input[type=checkbox]");
    window.begun = window.wanted ? window.wordsOf(window.wanted) : "";
}, true);
window.addEventListener("click", (event) => {
    if (window.wanted && event.composedPath().includes(window.wanted)) window.reached.push(event.type);
}, true);
const send = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function (...given) {
    window.pending += 1;
    this.addEventListener("loadend", () => { window.pending -= 1; });
    this.addEventListener("load", () => { window.answers += 1; });
    return send.apply(this, given);
};
"""
# The buttons and links that a mouse can reach now; one is chosen and brought to the middle of the window. Those that
# a reading of the page replaces come first.
_CHOOSE = """(number) => {
    const seen = (one) => one.checkVisibility() && !one.disabled && !one.closest("dialog, [data-press-not]");
    const every = Array.from(document.querySelectorAll("a[href], button, summary, input[type=checkbox]")).filter(seen);
    const isLive = (one) => one.closest("main [data-follow]:is([hx-get], [data-frame])") !== null;
    const all = [...every.filter(isLive), ...every.filter((one) => !isLive(one))];
    for (let turn = 0; turn < all.length; turn += 1) {
        const one = all[(number + turn) % all.length];
        one.scrollIntoView({block: "center", inline: "nearest"});
        const box = one.getClientRects()[0];
        if (!box) continue;
        const at = {x: box.left + box.width / 2, y: box.top + box.height / 2};
        const found = document.elementFromPoint(at.x, at.y);
        if (!found || !one.contains(found)) continue;
        window.reached = [];
        const part = one.closest("main [data-follow]:is([hx-get], [data-frame])");
        return {...at, words: window.wordsOf(one), part: part ? part.id : "", all: all.length};
    }
    return null;
}"""
_TOPICS = """() => Array.from(document.querySelectorAll("main [data-follow]:is([hx-get], [data-frame])"))
    .flatMap((part) => part.dataset.follow.split(" ").filter(Boolean))"""
# What makes an address one of many of its kind: a number, a chain address, a hash, a currency or a market.
_NAMED = re.compile(r"\d+(?=/)|[a-z]+:[a-z0-9]{20,}|[0-9a-f]{20,}|(?<=/)[A-Z0-9]{2,}(?=/)")
# What a press has opened or begun is taken back, so that the next one finds the page as it was.
_TIDY = """() => {
    document.querySelectorAll("dialog[open]").forEach((one) => one.close());
    document.querySelectorAll("[popover]:popover-open").forEach((one) => one.hidePopover());
    document.querySelectorAll("main details[open]").forEach((one) => { one.open = false; });
    document.querySelectorAll("main input[type=checkbox]").forEach((one) => { one.checked = one.defaultChecked; });
    document.activeElement.blur();
    document.querySelectorAll("form[data-sent]").forEach((form) => {
        delete form.dataset.sent;
        form.removeAttribute("aria-busy");
    });
}"""


class Announcer:
    """Hints for the pages of a running house, sent by a process of its own through `desk.live.announcements`."""

    def __init__(self, house: RunningHouse) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.announcer"],
            cwd=ROOT,
            env={"DJANGO_SETTINGS_MODULE": "project.settings"} | house.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, topics: list[str]) -> None:
        """Hint at these topics; returns when the hints are on their way."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(" ".join(topics) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.strip() == "announced":
                return
        raise AssertionError("the announcer has ended")

    def stop(self) -> None:
        """End it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(stretched(20))


@dataclass
class Presser:
    """Presses on one open page. What a press would lead to is noted in `sent`.

    It is answered with "stay here", unless presses are `is_leading`.
    """

    page: Any
    announcer: Announcer
    sent: list[tuple[str, str, str]] = field(default_factory=list)
    is_leading: bool = False
    _held: list[Any] = field(default_factory=list)
    _is_holding: bool = False
    _is_opening: bool = False

    def begin(self) -> "Presser":
        """Before the page is opened."""
        self.page.add_init_script(_SEEN)
        self.page.route("**/*", self._meet)
        return self

    def open(self, visitor: Visitor, address: str) -> None:
        """Go there; from then on nothing leads away."""
        self._is_opening = True
        visitor.open(address)
        self._is_opening = False

    def _meet(self, route: Any) -> None:
        request = route.request
        if request.is_navigation_request() and not self._is_opening and not self.is_leading:
            self.sent.append((request.method, request.url, request.post_data or ""))
            route.fulfill(status=204)
        elif "/step-up/" in request.url:
            route.fulfill(status=409, json={"problem": "No passkey was asked for."})
        elif self._is_holding and request.headers.get("hx-request"):
            self._held.append(route)
        else:
            route.continue_()

    def press(self, number: int, *, hold_ms: int) -> tuple[bool, str] | None:
        """Press a button while what changed comes in: whether its click reached it, and which it was.

        The page is told that everything on it changed, and what it asks for is kept until the button is down.
        """
        # What the last press itself asked for, as a ticked role asks for its review, may move what stands below it:
        # nobody's hand is at the next button within that moment.
        until(lambda: self.page.evaluate("window.pending") == 0, every_s=0.01)
        found = self.page.evaluate(_CHOOSE, number)
        if found is None:
            return None
        self.page.mouse.move(found["x"], found["y"])
        self.keep_answers()
        self.tell(found["part"])
        self.answer_while(self.page.mouse.down, self.page.mouse.up, hold_ms=hold_ms)
        begun, reached = self.page.evaluate("[window.begun, window.reached.length]")
        self.page.evaluate(_TIDY)
        where = re.sub(r"^https?://[^/]+", "", self.page.url)
        is_other = "" if begun == found["words"] else f", where {begun!r} stood when it was pressed"
        return reached == 1 and not is_other, f"{where} {found['part'] or '-'}: {found['words']}{is_other}"

    def tell(self, part: str = "") -> None:
        """Hint that everything on the page changed, and wait until it, or this part of it, is being read again."""
        self.announcer.tell(sorted(set(self.page.evaluate(_TOPICS))))
        self.wait_for_questions(part)
        self.page.wait_for_timeout(40)  # the other parts of the same page

    def keep_answers(self) -> None:
        """From now on nothing that the page asks for is answered, until a button is down."""
        self._is_holding = True

    def wait_for_answers(self) -> None:
        """Until nothing is on its way but what is kept."""
        until(lambda: self.page.evaluate("window.pending") <= len(self._held), every_s=0.01)

    def wait_for_questions(self, part: str = "") -> None:
        """Until the page has asked for something, or for this part."""

        def is_asked() -> bool:
            self.page.wait_for_timeout(20)
            return any(part == "" or part in parts_read_by(route.request) for route in self._held)

        until(is_asked, every_s=0)

    def answer_while(self, down: Callable[[], Any], up: Callable[[], Any], *, hold_ms: int) -> None:
        """Down; then the answers to everything that is being read; a moment more; and up."""
        before = self.page.evaluate("window.answers")
        down()
        self.wait_for_questions()
        coming, self._held = self._held, []
        for route in coming:
            route.continue_()
        # One that the page itself has given up meanwhile, for a newer question that is kept, is never answered.
        until(
            lambda: (
                self.page.evaluate("window.answers") >= before + len(coming)
                or self.page.evaluate("window.pending") <= len(self._held)
            ),
            every_s=0.01,
        )
        self.page.wait_for_timeout(hold_ms)
        up()
        self.page.wait_for_timeout(30)
        self._is_holding = False
        for route in self._held:
            route.continue_()
        self._held = []


def parts_read_by(request: Any) -> set[str]:
    """The ids of the parts that a request of a page reads: the one that it replaces, or those that it names."""
    names = parse_qs(urlsplit(request.url).query).get("parts", [""])[0].split()
    return {request.headers.get("hx-target", ""), *names}


class _Links(HTMLParser):
    """The links of a page that lead further, and the ids of the parts that follow something."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.parts: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "a" and attributes.get("href", "").startswith("/"):
            self.links.append(attributes["href"])
        is_live = "data-follow" in attributes and ("hx-get" in attributes or "data-frame" in attributes)
        if is_live and not attributes.get("id", "").startswith("count-"):
            self.parts.add(attributes.get("id", ""))


def live_pages(visitor: Visitor, *also: str) -> dict[str, set[str]]:
    """Each kind of page that follows something, as this person gets to it by links, with the ids of its live parts."""
    todo, kinds, found = ["/", *also], set(), {}
    while todo:
        address = todo.pop(0)
        kind = _NAMED.sub("N", address.partition("?")[0])
        if kind in kinds or "/api/" in kind or "sign-out" in kind:
            continue
        kinds.add(kind)
        answer = visitor.page.request.get(visitor.house.url + address)
        if answer.status != 200 or "html" not in answer.headers["content-type"]:
            continue
        read = _Links()
        read.feed(answer.text())
        if read.parts:
            found[address] = read.parts
        todo += read.links
    return found


def turns(pages: list[str], presses: int) -> Iterator[tuple[str, list[int]]]:
    """Each page with the numbers of its presses, so many in all; fewer presses than pages are spread over them."""
    if presses < len(pages):
        pages = [pages[number * len(pages) // presses] for number in range(presses)]
    for place, address in enumerate(pages):
        share = presses // len(pages) + (1 if place < presses % len(pages) else 0)
        yield address, list(range(share))
