"""Hands that do a task in a browser and count: with a pointer, or with the keyboard alone.

The same script goes through both. A step is one thing that a person decides to do: go somewhere, type one field, choose
one thing, press one button. Seconds are those of a practised person by the keystroke-level model (Card, Moran and
Newell, 1980): 0.28 s for a key, 1.1 s to point, 0.2 s to click, 0.4 s between mouse and keyboard, 1.35 s to think of a
step. What the desk takes to answer comes on top, as measured.
"""

import functools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import Locator, Page, expect

KEY, POINT, CLICK, HOME, THINK = 0.28, 1.1, 0.2, 0.4, 1.35
HOLD_MS = 40
MOST_TABS = 150
_REACHED = "(one) => document.activeElement === one"


@dataclass
class Hands:
    """One person at one page. `code` gives the next one-time code of theirs."""

    page: Page
    desk: str
    code: Callable[[], str]
    by_keys: bool = False
    steps: int = 0
    acts: int = 0  # keys and clicks
    person_s: float = 0.0
    desk_s: float = 0.0
    _at_mouse: bool = field(default=True, repr=False)

    # The verbs of a task ----------------------------------------------------------------------------------------------

    def go(self, name: str) -> None:
        """To a page of the navigation: by its link, or by its keys, else by the palette."""
        self._think()
        if not self.by_keys:
            link = self.page.locator("#side").get_by_role("link", name=name).first
            self._loads(lambda: self._click(link))
            return
        key = self.page.locator(f"#shortcuts a[data-go]:text-is('{name}')")
        if key.count():
            letter = str(key.get_attribute("data-go"))
            self._loads(lambda: self._type(f"g{letter}"))
            return
        self._palette(name, name)

    def find(self, text: str, result: str) -> None:
        """By the search box: what is typed, and what is opened of what it finds."""
        self._think()
        self._palette(text, result)

    def fill(self, label: str, text: str) -> None:
        """Type into the field of this label, over what stands there."""
        self._think()
        words = re.compile(f"^{re.escape(label)}")
        kinds: tuple[Literal["textbox", "searchbox", "spinbutton"], ...] = ("textbox", "searchbox", "spinbutton")
        first, *others = (self.page.locator("main").get_by_role(kind, name=words) for kind in kinds)
        self._reach(functools.reduce(lambda found, other: found.or_(other), others, first).first)
        self.page.keyboard.press("Control+a")
        self._type(text)

    def choose(self, label: str, option: str) -> None:
        """One of a list of choices: by keys its first letters."""
        self._think()
        box = self.page.get_by_label(label).first
        if self.by_keys:
            self._reach(box)
            self._count(len(option[:6]) * KEY, len(option[:6]))
        else:
            self._pointed(2)
        box.select_option(label=option) if not option.isupper() else box.select_option(option)

    def tick(self, label: str) -> None:
        """A box or a round button."""
        self._think()
        box = self.page.get_by_label(label).first
        if self.by_keys:
            self._reach(box)
            self._type(" ")
        else:
            self._click(box)

    def press(self, name: str, *, loads: bool = False, role: Literal["button", "link", "summary"] = "button") -> None:
        """A button, a link or something that unfolds, by the words on it."""
        self._think()
        words = re.compile(f"^{re.escape(name)}")
        main = self.page.locator("main")
        one = main.locator("summary", has_text=words) if role == "summary" else main.get_by_role(role, name=words)

        def act() -> None:
            (self._enter if self.by_keys else self._click)(one.first)

        if loads:
            self._loads(act)
        else:
            act()

    def open(self, text: str) -> None:
        """The row of a list that says so."""
        self._think()
        row = self.page.locator("main a[data-row-link]", has_text=text).or_(
            self.page.locator("main tr, main li, main .entry", has_text=text).locator("a[data-row-link]")
        )
        if not self.by_keys:
            self._loads(lambda: self._click(row.first))
            return
        row.first.wait_for(state="visible", timeout=15_000)
        for _ in range(MOST_TABS):
            if row.first.evaluate(_REACHED):
                break
            self._type_key("j")
        self._loads(lambda: self._type_key("Enter"))

    def downloads(self, name: str) -> None:
        """A link that gives a file."""
        self._think()
        one = self.page.get_by_role("link", name=name, exact=True).first
        began = time.monotonic()
        with self.page.expect_download(timeout=60_000):
            if self.by_keys:
                self._enter(one)
            else:
                self._click(one)
        self.desk_s += time.monotonic() - began

    def enter(self) -> None:
        """Send what was typed with the key for it."""
        self._type_key("Enter")
        self.page.wait_for_load_state("networkidle")

    def name(self, word: str) -> str:
        """A name that the other pair of hands does not take."""
        return f"{word}-{'keys' if self.by_keys else 'pointer'}"

    def confirm(self, name: str, *, label: str = "Code of your authenticator app") -> None:
        """A one-time code, and the button that it confirms."""
        self.fill(label, self.code())
        self.press(name)

    def sees(self, text: str) -> None:
        """Wait until the page says so: what the desk takes for it is counted apart."""
        began = time.monotonic()
        expect(self.page.locator("main")).to_contain_text(re.compile(text), timeout=30_000)
        self.desk_s += time.monotonic() - began

    # Fingers ----------------------------------------------------------------------------------------------------------

    def _palette(self, text: str, result: str) -> None:
        if self.by_keys:
            self.page.keyboard.press("Control+k")
            self._count(2 * KEY, 1)
        else:
            self._click(self.page.locator("#find"))
        self._type(text)
        began = time.monotonic()
        hit = self.page.locator("#palette a[data-hit]", has_text=result).first
        expect(hit).to_be_visible(timeout=15_000)
        self.desk_s += time.monotonic() - began
        if not self.by_keys:
            self._loads(lambda: self._click(hit))
            return
        for _ in range(30):
            if hit.evaluate("(one) => one === document.activeElement || one.matches('[aria-selected=true], .chosen')"):
                break
            self._type_key("ArrowDown")
        self._loads(lambda: self._type_key("Enter"))

    def _reach(self, one: Locator) -> None:
        """With the pointer by a click; with keys by as many tabulators as it takes, either way round."""
        if not self.by_keys:
            self._click(one)
            return
        one.wait_for(state="visible", timeout=15_000)
        if self.page.evaluate("document.activeElement === document.body"):
            self._type_key("Tab")  # the link over the navigation
            self._type_key("Enter")
        for _ in range(MOST_TABS):
            if one.evaluate(_REACHED):
                return
            self._type_key("Tab")
        raise SystemExit(f"{one} can't be reached by keys at {self.page.url}")

    def _enter(self, one: Locator) -> None:
        self._reach(one)
        self._type_key("Enter")

    def _click(self, one: Locator) -> None:
        self._pointed(1)
        one.click(delay=HOLD_MS)

    def _pointed(self, clicks: int) -> None:
        self._count((0 if self._at_mouse else HOME) + clicks * (POINT + CLICK), clicks)
        self._at_mouse = True

    def _type(self, text: str) -> None:
        self._count((HOME if self._at_mouse and not self.by_keys else 0) + len(text) * KEY, len(text))
        self._at_mouse = False
        self.page.keyboard.type(text, delay=5)

    def _type_key(self, key: str) -> None:
        self._count(KEY, 1)
        self.page.keyboard.press(key)

    def _think(self) -> None:
        self.steps += 1
        self.person_s += THINK

    def _count(self, seconds: float, acts: int) -> None:
        self.person_s += seconds
        self.acts += acts

    def _loads(self, act: Callable[[], None]) -> None:
        began = time.monotonic()
        with self.page.expect_navigation(wait_until="load", timeout=15_000):
            act()
        self.desk_s += time.monotonic() - began
