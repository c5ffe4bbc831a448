"""A Firefox for the tests, spoken to by WebDriver BiDi alone: pages are opened, read, pressed and typed into.

Playwright drives a Firefox of its own making only; this is the one that people have. Real pointer and key events, and a
session of its own for each person. Source: W3C, WebDriver BiDi.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import websocket

from tests.bounds import stretched

NAMES = ("firefox-esr", "firefox")
_LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_START_S, _CALL_S = 60, 60
# No first page, no updates, nothing asked of anybody outside.
_PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
}
_MIDDLE = """(() => {
    const one = %s;
    if (!one) return "null";
    one.scrollIntoView({block: "center", inline: "nearest"});
    const box = one.getClientRects()[0];
    return box ? JSON.stringify([box.left + box.width / 2, box.top + box.height / 2].map(Math.round)) : "null";
})()"""


class Complaint(AssertionError):
    """What Firefox says went wrong."""


def find() -> str | None:
    """The program named by $FIREFOX, or one on the PATH; None when there is none."""
    named = os.environ.get("FIREFOX", "").strip()
    if named:
        return named if os.access(named, os.X_OK) else None
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Firefox:
    """One running Firefox without a window. What its pages' scripts complain of is in `complaints`."""

    def __init__(self, program: str) -> None:
        self._profile = Path(tempfile.mkdtemp(prefix="countersign-firefox-"))
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in _PREFERENCES.items()]
        (self._profile / "user.js").write_text("\n".join(lines))
        where = ["--profile", str(self._profile), "--remote-debugging-port", "0"]
        self._process = subprocess.Popen(
            [program, "--headless", "--no-remote", *where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(self._profile), "MOZ_HEADLESS_WIDTH": "1280", "MOZ_HEADLESS_HEIGHT": "900"},
        )
        self.complaints: list[str] = []
        self._numbers = count(1)
        self._socket = websocket.create_connection(f"{self._address()}/session", timeout=_CALL_S, suppress_origin=True)
        self.call("session.new", {"capabilities": {}})
        self.call("session.subscribe", {"events": ["log.entryAdded"]})

    def person(self) -> "Tab":
        """A tab in a session of its own: nothing of another tab's cookies is there."""
        context = self.call("browser.createUserContext", {})["userContext"]
        made = self.call("browsingContext.create", {"type": "tab", "userContext": context})
        return Tab(self, made["context"])

    def call(self, method: str, parameters: Mapping[str, Any]) -> Any:
        """One command and its result. Raises Complaint."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            heard = json.loads(self._socket.recv())
            if heard.get("type") == "event":
                self._note(heard["params"])
            elif heard.get("id") == number:
                if heard["type"] == "error":
                    raise Complaint(f"{method}: {heard['error']}: {heard['message']}")
                return heard["result"]

    def stop(self) -> None:
        """End it, and remove what it kept."""
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)
        self._reader.join(20)
        if self._process.stderr is not None:
            self._process.stderr.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _address(self) -> str:
        lines: Queue[str] = Queue()

        def read() -> None:
            assert self._process.stderr is not None
            for line in self._process.stderr:
                lines.put(line)

        self._reader = threading.Thread(target=read, name="firefox", daemon=True)
        self._reader.start()
        deadline = time.monotonic() + stretched(_START_S)
        while time.monotonic() < deadline:
            try:
                found = _LISTENS.search(lines.get(timeout=1))
            except Empty:
                continue
            if found:
                return found[1]
        self._process.kill()
        raise Complaint(f"Firefox did not listen within {_START_S} s.")

    def _note(self, entry: Mapping[str, Any]) -> None:
        if entry.get("level") == "error":
            self.complaints.append(str(entry.get("text")))


@dataclass(frozen=True)
class Tab:
    """One page of one person."""

    firefox: Firefox
    context: str

    def open(self, address: str) -> None:
        """Go there, and wait until it is loaded."""
        self.firefox.call("browsingContext.navigate", {"context": self.context, "url": address, "wait": "complete"})

    def read(self, expression: str) -> Any:
        """What an expression of JavaScript gives, if JSON can carry it; a promise is waited for."""
        words = {"expression": f"Promise.resolve({expression}).then(JSON.stringify)", "awaitPromise": True}
        answer = self.firefox.call("script.evaluate", {**words, "target": {"context": self.context}})
        if answer["type"] == "exception":
            raise Complaint(f"{expression}: {answer['exceptionDetails']['text']}")
        text = answer["result"].get("value")
        return None if text is None else json.loads(text)

    def waits_for(self, expression: str, seconds: float = 60) -> None:
        """Until the expression is true; its page may be loaded anew meanwhile."""
        deadline = time.monotonic() + stretched(seconds)
        while time.monotonic() < deadline:
            try:
                if self.read(expression):
                    return
            except Complaint:
                pass  # the page is on its way from one document to the next
            time.sleep(0.1)
        raise Complaint(f"{expression} was not true within {seconds} s at {self.read('location.href')}")

    def sees(self, text: str) -> None:
        """Until the page says so."""
        self.waits_for(f"document.body.innerText.includes({json.dumps(text)})")

    def press(self, words: str, kind: str = "button, a, summary") -> None:
        """A real press on what begins with these words and can be seen."""
        one = (
            f"Array.from(document.querySelectorAll({json.dumps(kind)})).find((each) => each.checkVisibility() && "
            f"!each.disabled && each.textContent.trim().startsWith({json.dumps(words)}))"
        )
        self._press_on(one)

    def fill(self, selector: str, text: str) -> None:
        """Press on a field and type into it, over what stands there."""
        self._press_on(f"document.querySelector({json.dumps(selector)})")
        self.read(f"(document.querySelector({json.dumps(selector)}).select?.(), true)")
        keys = [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": keys})

    def choose(self, selector: str, value: str) -> None:
        """One of a list of choices: its own list is drawn by the system, so it is set and said to have changed."""
        one = f"document.querySelector({json.dumps(selector)})"
        said = "dispatchEvent(new Event('change', {bubbles: true}))"
        self.read(f"({one}.value = {json.dumps(value)}, {one}.{said})")

    def picture(self) -> str:
        """The visible part of the page as a PNG in base64."""
        return str(self.firefox.call("browsingContext.captureScreenshot", {"context": self.context})["data"])

    def sized(self, width: int, height: int = 900) -> None:
        """A window of this size, in CSS pixels."""
        self.firefox.call(
            "browsingContext.setViewport", {"context": self.context, "viewport": {"width": width, "height": height}}
        )

    def _press_on(self, one: str) -> None:
        self.waits_for(f"{_MIDDLE % one} !== 'null'")
        x, y = json.loads(self.read(_MIDDLE % one))
        moves: list[dict[str, Any]] = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pause", "duration": 40},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": moves})

    def _act(self, *sources: Mapping[str, Any]) -> None:
        self.firefox.call("input.performActions", {"context": self.context, "actions": list(sources)})
