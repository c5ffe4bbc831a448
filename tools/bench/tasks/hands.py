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
_IS_TYPING = "document.activeElement.matches('input, textarea, select')"
_IS_BEFORE = """(one) => document.activeElement !== document.body
    && Boolean(document.activeElement.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING)"""
_ROW_HAS_FOCUS = "(one) => one.closest('tr').contains(document.activeElement)"
# The key that the page publishes for the thing or for the part that it stands in, unless the focus is there already.
_SHORTCUT = """(one) => {
    const place = one.closest("[data-shortcut]"), key = place?.dataset.shortcut;
    if (one.closest("#ticket") && !document.activeElement.closest("#ticket")) return "b";
    return key && !place.contains(document.activeElement) ? key : null;
}"""
# Whether Enter in the field that is typed into presses this button, as in any form.
_IS_DEFAULT = """(one) => one.form && document.activeElement.form === one.form
    && document.activeElement.matches("input:not([type=checkbox], [type=radio])")
    && Array.from(one.form.elements).find((other) => other.matches("button:not([type=button])")) === one"""
_BY_CTRL_ENTER = """(one) => one.form && document.activeElement.form === one.form
    && (one.id === "place" || one.form.matches("[data-words]"))"""


class CannotReach(Exception):
    """Something on the page can't be reached by keys; the text says what and where."""


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
        self._reach(functools.reduce(lambda locator, other: locator.or_(other), others, first).first)
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
            self._type_key("k" if row.first.evaluate(_IS_BEFORE) else "j")  # rows may have moved meanwhile
        self._loads(lambda: self._type_key("Enter"))

    def downloads(self, name: str) -> None:
        """What a list shows as a file: its link stands in a menu, and has a key of its own."""
        if not self.by_keys:
            self.press("View", role="summary")
        self._think()
        one = self.page.get_by_role("link", name=name, exact=True, include_hidden=True).first
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

    def amount(self, figure: str) -> str:
        """An amount that the other pair of hands does not take, of as many digits."""
        return f"{figure}{2 if self.by_keys else 1}"

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
        one.wait_for(state="attached", timeout=15_000)
        self._start_near(one)
        for _ in range(MOST_TABS):
            if one.evaluate(_REACHED):
                return
            self._type_key("Shift+Tab" if one.evaluate(_IS_BEFORE) else "Tab")
        raise CannotReach(f"{one} can't be reached by keys at {self.page.url}")

    def _start_near(self, one: Locator) -> None:
        """By a key of the page to the part, by its keys for rows to the row, or over the navigation to the page."""
        if not self.page.evaluate(_IS_TYPING):
            if key := one.evaluate(_SHORTCUT):
                self._type_key(key)
                return
            if one.evaluate("(one) => one.matches('main tbody tr *')"):
                self._through_rows(one)
                return
        if self.page.evaluate("document.activeElement === document.body"):
            self._type_key("Tab")  # the link over the navigation
            self._type_key("Enter")

    def _through_rows(self, one: Locator) -> None:
        for key, condition in (("j", _ROW_HAS_FOCUS), ("ArrowRight", _REACHED)):
            for _ in range(MOST_TABS):
                if one.evaluate(condition):
                    break
                before = self.page.evaluate_handle("document.activeElement")
                self._type_key(key)
                if self.page.evaluate("(one) => document.activeElement === one", before):
                    break  # the last one: on by the tabulator

    def _enter(self, one: Locator) -> None:
        one.wait_for(state="attached", timeout=15_000)
        is_typing = self.page.evaluate(_IS_TYPING)
        if one.evaluate(_BY_CTRL_ENTER):
            self._type_key("Control+Enter", keys=2)
            return
        if is_typing and one.evaluate(_IS_DEFAULT):
            self._type_key("Enter")
            return
        if not is_typing and one.evaluate("(one) => one.matches('a, summary') && one.dataset.shortcut"):
            self._type_key(str(one.get_attribute("data-shortcut")))  # goes there, or unfolds it
            return
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

    def _type_key(self, key: str, *, keys: int = 1) -> None:
        keys += key.startswith("Shift+")
        self._count(keys * KEY, keys)
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
