"""docs/tasks.md: what was measured of our tasks, and beside it what others publish of theirs."""

from pathlib import Path
from typing import Final

from tools.bench.tasks.everyday import Task
from tools.bench.tasks.hands import Hands
from tools.bench.tasks.published import FLOWS, Flow

PAGE: Final = Path(__file__).resolve().parent.parent.parent.parent / "docs" / "tasks.md"
START, END = "<!-- measured: python -m tools.bench.measure_tasks --write -->", "<!-- end of what was measured -->"
_HEAD = "| task | pointer | keys | steps as published elsewhere |\n|---|---|---|---|"

Measured = dict[Task, tuple[Hands | None, Hands | None]]  # pointer and keys; none: could not be done


class CannotWrite(Exception):
    """The page has no place for the tables."""


def write(measured: Measured) -> None:
    """Put the tables into their place on the page. Raises `CannotWrite`."""
    text = PAGE.read_text()
    if START not in text or END not in text:
        raise CannotWrite(f"{PAGE.name} has no place for what was measured.")
    before, rest = text.split(START)
    parts = [tables(measured), "### The published ways", "", sources()]
    PAGE.write_text("\n".join([before + START, "", *parts, "", END + rest.split(END)[1]]))


def tables(measured: Measured) -> str:
    """One table for each role, then where others take fewer steps."""
    parts = []
    for role in dict.fromkeys(task.role for task in measured):
        mine = {task: both for task, both in measured.items() if task.role == role}
        rows = [
            f"| {task.name} | {_cell(both[0])} | {_cell(both[1])} | {_elsewhere(task)} |" for task, both in mine.items()
        ]
        parts.append("\n".join([f"### {role.capitalize()}", "", _HEAD, *rows, ""]))
    return "\n".join([*parts, "### Where others take fewer steps", "", *_longer(measured), ""])


def _cell(hands: Hands | None) -> str:
    if hands is None:
        return "not done"
    counts = f"{_counted(hands.steps, 'step')}, {_counted(hands.acts, 'act')}"
    return f"{counts}, {hands.person_s:.1f} s + {hands.desk_s:.1f} s"


def _counted(number: int, of: str) -> str:
    return f"{number} {of}" if number == 1 else f"{number} {of}s"


def _elsewhere(task: Task) -> str:
    return "; ".join(f"{flow.console} {len(flow.steps)}" for flow in FLOWS.get(task.name, ())) or "none found"


def _longer(measured: Measured) -> list[str]:
    lines = []
    for task, both in measured.items():
        ours = min((hands.steps for hands in both if hands), default=None)
        shorter = [flow for flow in FLOWS.get(task.name, ()) if ours is not None and len(flow.steps) < ours]
        lines += [
            f"- {task.name}: {ours} here, {len(flow.steps)} at {flow.console}{_because(flow)}." for flow in shorter
        ]
    return lines or ["Nowhere."]


def _because(flow: Flow) -> str:
    return f" ({flow.differs})" if flow.differs else ""


def sources() -> str:
    """Every published way with its steps and the page that describes it."""
    rows = [
        f"| {name} | {flow.console} | {', '.join(flow.steps)} | [{flow.title}]({flow.address}) | {flow.differs} |"
        for name, flows in FLOWS.items()
        for flow in flows
    ]
    return "\n".join(["| task | console | steps | described in | not alike |", "|---|---|---|---|---|", *rows])
