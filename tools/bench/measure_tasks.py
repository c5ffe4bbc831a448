"""Ten everyday tasks of each role in a browser, in steps and seconds:
`python -m tools.bench.measure_tasks [role] [--write]`.

Each is done twice, with a pointer and with keys alone, by the same script (`tools/bench/tasks`). The pointer is the
peer of the keys: a desk that only pointers can work fast is not one for operators. `--write` puts all of them into
docs/tasks.md, beside what other consoles publish of theirs. Ends with 1 when a task could not be done.
"""

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import django
from playwright.sync_api import sync_playwright

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
django.setup()

from desk.people import demo  # noqa: E402
from tests import browsers, door  # noqa: E402
from tests.e2e.conftest import prepare  # noqa: E402
from tests.e2e.visitors import Codes, Visitor  # noqa: E402
from tests.houses import QUICK, RunningHouse, prepared_folder  # noqa: E402
from tools.bench.tasks import page as tasks_page  # noqa: E402
from tools.bench.tasks.everyday import ALL, Needs, Task  # noqa: E402
from tools.bench.tasks.hands import Hands  # noqa: E402

ROLES = ("operator", "treasury", "admin", "auditor")


@dataclass
class Person:
    """Somebody who does all tasks of a role with the same pair of hands."""

    name: str
    codes: Codes = field(default_factory=Codes)


def done(task: Task, needs: Needs, browser: Any, person: Person, *, by_keys: bool) -> Hands:
    """The task from its first page to its end, in a session of its own."""
    desk = needs.operator.house.url
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(15_000)
    try:
        door.sign_in(page, desk, person.name, demo.DEMO_PASSWORD)
        page.goto(desk, wait_until="networkidle")
        hands = Hands(page, desk, person.codes.fresh, by_keys=by_keys)
        task.script(hands, needs)
        return hands
    except BaseException:
        page.screenshot(path=f"{os.environ.get('SHOTS', '/tmp')}/failed-task.png")
        raise
    finally:
        context.close()


def main() -> int:
    """The house, its people, and every task both ways; 1 when one could not be done."""
    roles = [word for word in sys.argv[1:] if word in ROLES]
    chosen = [task for task in ALL if not roles or task.role in roles]
    measured: tasks_page.Measured = {}
    with ExitStack() as stack:
        house = RunningHouse(folder=prepared_folder(), **QUICK)
        stack.callback(house.stop, seconds=60)
        house.wait_until_ready(300)
        crew = prepare(house)
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
        visitors = [
            Visitor(house, crew.next(role), browser.new_context(viewport={"width": 1280, "height": 900}).new_page())
            for role in ("operator", "treasury")
        ]
        needs = Needs(*(visitor.sign_in() for visitor in visitors))
        people = {(role, by_keys): Person(crew.next(role)) for role in ROLES for by_keys in (False, True)}
        print(f"{'':<44} {'pointer':>27}   {'keys':>27}   keys/pointer")
        for task in chosen:
            hand = {by_keys: people[task.role, by_keys] for by_keys in (False, True)}
            both = [_tried(task, needs, browser, person, by_keys=by_keys) for by_keys, person in hand.items()]
            measured[task] = (both[0][0], both[1][0])
            seconds = [hands.person_s + hands.desk_s for hands, _ in both if hands]
            ratio = f"{seconds[1] / seconds[0]:.2f}x" if len(seconds) == 2 else ""
            print(f"{task.role:<9} {task.name:<34} {both[0][1]:>27}   {both[1][1]:>27}   {ratio}", flush=True)
    if "--write" in sys.argv[1:] and not roles:
        tasks_page.write(measured)
    return int(any(None in both for both in measured.values()))


def _tried(task: Task, needs: Needs, browser: Any, person: Person, *, by_keys: bool) -> tuple[Hands | None, str]:
    """The hands that have done it, and how that is printed; without them, what stood in the way."""
    try:
        hands = done(task, needs, browser, person, by_keys=by_keys)
    except Exception as problem:
        return None, "NOT DONE: " + str(problem).strip().splitlines()[0][:60]
    return hands, f"{hands.steps:2d} steps {hands.acts:3d} acts {hands.person_s + hands.desk_s:5.1f} s"


if __name__ == "__main__":
    sys.exit(main())
