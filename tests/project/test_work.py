"""One declaration for each task: what workers run, beat wakes and the following process does, and on which queue."""

import re

import pytest

from desk import rooms, work
from exchange_ops.keys import rounds
from project import celery_settings
from project.celery import app
from tests.architecture import tree


def declared():
    return {task.name: task for room in rooms.work() for task in room.tasks}


def test_workers_know_the_declared_tasks_and_no_others_of_ours():
    assert {name for name in app.tasks if name.startswith(("exchange_ops.", "chaindata."))} == set(declared())


def test_whoever_is_woken_by_name_is_declared():
    """A wake-up call for a task that nobody knows would be dropped, and the row wait for a sweep."""
    constants = re.compile(r"^[A-Z_]*TASK\b.*$", re.MULTILINE)
    woken = {
        name
        for room in ("exchange_ops", "chaindata")
        for path in (tree.ROOT / room).rglob("*.py")
        for line in constants.findall(path.read_text())
        for name in re.findall(r'"((?:exchange_ops|chaindata)\.\w+)"', line)
    }
    assert len(woken) > 12
    assert woken <= set(declared())


def test_messages_go_to_the_queue_of_their_declaration():
    for name, task in declared().items():
        assert app.amqp.router.route({}, name)["queue"].name == task.queue, name
    assert {task.queue for name, task in declared().items() if name.startswith("chaindata.")} == {work.CHAIN}


def test_what_beat_wakes_expires_before_the_next_is_due():
    entries = celery_settings.beat_schedule.values()
    assert {entry["task"] for entry in entries} == {name for name, task in declared().items() if task.every_s}
    assert all(0 < entry["options"]["expires"] < entry["schedule"] for entry in entries)


def test_every_sweep_that_beat_wakes_for_money_is_done_by_the_following_process_too():
    """The worker or the broker may be dead: what has a deadline depends on neither."""
    followed = {sweep.__name__ for thread in rounds.THREADS for sweep in rounds.sweeps(thread)}
    swept = {name.partition(".")[2] for name, task in declared().items() if task.every_s and task.queue == "money"}
    by_both = {name for name in swept if name.startswith(("sweep_", "read_orders", "sync_ledger", "probe_", "review_"))}
    assert followed == by_both | {"_releases", "_payouts", "sweep_addresses"}
    assert all(rounds.sweeps(thread) for thread in rounds.THREADS)


def test_a_task_is_declared_once():
    room = work.Work(queue="money")
    room.task("room.thing")
    with pytest.raises(ValueError, match=r"room\.thing already"):
        room.task("room.thing", every_s=5)
