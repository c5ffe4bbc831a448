"""Ten everyday tasks of each role in a browser, in steps and seconds: `python -m bench.measure_tasks [role]`.

Each is done twice, with a pointer and with keys alone, by the same script (`bench/tasks`). The pointer is the peer of
the keys: a desk that only pointers can work fast is not one for operators.
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

from bench.tasks.everyday import ALL, Needs, Task  # noqa: E402
from bench.tasks.hands import Hands  # noqa: E402
from desk.people import demo  # noqa: E402
from tests import browsers, door  # noqa: E402
from tests.e2e.conftest import prepare  # noqa: E402
from tests.e2e.visitors import Codes, Visitor  # noqa: E402
from tests.houses import QUICK, RunningHouse, prepared_folder  # noqa: E402

CREW = {"operator": 6, "treasury": 8, "admin": 6, "auditor": 4}


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


def main() -> None:
    """The house, its people, and every task both ways."""
    with ExitStack() as stack:
        house = RunningHouse(folder=prepared_folder(), **QUICK)
        stack.callback(house.stop, seconds=60)
        house.wait_until_ready(300)
        crew = prepare(house, crew=CREW)
        found = browsers.find()
        if found is None:
            raise SystemExit("No Chromium was found; `python3 manage.py verify` fetches one.")
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(
            executable_path=found.program,
            env={**os.environ, **found.environment},
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        stack.callback(browser.close)
        visitors = [
            Visitor(house, crew.next(role), browser.new_context(viewport={"width": 1280, "height": 900}).new_page())
            for role in ("operator", "treasury")
        ]
        needs = Needs(*(visitor.sign_in() for visitor in visitors))
        people: dict[str, Person] = {}
        print(f"{'':<44} {'pointer':>27}   {'keys':>27}   keys/pointer")
        for task in ALL:
            if sys.argv[1:] and task.role not in sys.argv[1:]:
                continue
            cells, ratio = [], []
            for by_keys in (False, True):
                hand = f"{task.role} {by_keys}"
                if hand not in people:
                    people[hand] = Person(crew.next(task.role))
                try:
                    hands = done(task, needs, browser, people[hand], by_keys=by_keys)
                except Exception as problem:
                    cells.append("NOT DONE: " + str(problem).strip().splitlines()[0][:60])
                    continue
                cells.append(f"{hands.steps:2d} steps {hands.acts:3d} acts {hands.person_s + hands.desk_s:5.1f} s")
                ratio.append(hands.person_s + hands.desk_s)
            text = f"{ratio[1] / ratio[0]:.2f}x" if len(ratio) == 2 else ""
            print(f"{task.role:<9} {task.name:<34} {cells[0]:>27}   {cells[1]:>27}   {text}", flush=True)


if __name__ == "__main__":
    main()
