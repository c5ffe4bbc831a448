"""Supervised processes: started again when they end, read line by line, and gone with everything they started."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from desk.processes import stops
from project.rehearsal import obeying
from project.supervisor import child as children
from project.supervisor import guard, probes, run_queue
from project.supervisor.child import Child, Plan
from tests.bounds import stretched


class Notes:
    """Keeps what a console would print."""

    def __init__(self):
        self.said = []
        self.lines = []

    def say(self, sentence):
        self.said.append(sentence)

    def pass_on(self, name, line):
        self.lines.append(f"{name}: {line}")


def python(text, **changes):
    plan = {"name": "child", "command": [sys.executable, "-c", textwrap.dedent(text)], "stage": 1, "settles_s": 0.1}
    return Plan(**plan | changes)


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # gone before, or between opening the file and reading it
        return False
    return state != "Z"


async def until(condition, seconds=8):
    deadline = time.monotonic() + stretched(seconds)
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.02)


@pytest.fixture(autouse=True)
def quick_pauses(monkeypatch):
    monkeypatch.setattr(children, "_FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(children, "_LONGEST_PAUSE_S", 0.2)


def test_every_line_is_passed_on_with_its_name_and_a_last_one_without_an_end():
    async def scene():
        notes = Notes()
        running = Child(
            python("import sys; print('one'); print('two', file=sys.stderr); sys.stdout.write('rest')"), notes
        )
        running.start()
        await until(lambda: len(notes.lines) >= 3)
        await running.stop(1)
        assert set(notes.lines[:3]) == {"child: one", "child: two", "child: rest"}

    asyncio.run(scene())


def test_a_line_without_end_does_not_fill_the_memory():
    async def scene():
        notes = Notes()
        running = Child(
            python("import sys,time; sys.stdout.write('x' * 1_000_000); sys.stdout.flush(); time.sleep(30)"), notes
        )
        running.start()
        await until(lambda: sum(len(line) for line in notes.lines) > 800_000)
        await running.stop(1)

    asyncio.run(scene())


def test_what_is_no_text_is_shown_all_the_same():
    async def scene():
        notes = Notes()
        running = Child(
            python(r"import sys,time; sys.stdout.buffer.write(b'\xff\xfe odd\n'); sys.stdout.flush(); time.sleep(30)"),
            notes,
        )
        running.start()
        await until(lambda: notes.lines)
        await running.stop(1)
        assert "odd" in notes.lines[0]

    asyncio.run(scene())


def test_a_child_that_ends_is_started_again_and_the_reason_is_said():
    async def scene():
        notes = Notes()
        running = Child(python("import sys,time; time.sleep(.2); sys.exit(3)"), notes)
        running.start()
        await until(lambda: running.endings >= 2)
        await running.stop(1)
        assert notes.said[0] == "child ended (exit 3); restarting in 0.05 s."

    asyncio.run(scene())


def test_a_child_that_a_drill_stops_stays_so_until_the_drill_is_over(tmp_path):
    async def scene():
        notes = Notes()
        running, other = (Child(python("import time; time.sleep(60)", name=name), notes) for name in ("redis", "web"))
        for child in (running, other):
            child.start()
        obeying_drills = asyncio.create_task(obeying.obey([running, other], tmp_path))
        await until(lambda: running.pid and other.pid)
        first, beside = running.pid, other.pid
        stops.stop(tmp_path, "redis", seconds=60)
        await until(lambda: running.endings == 1 and not alive(first))
        await asyncio.sleep(0.7)
        assert (running.pid, other.pid) == (None, beside)
        stops.go_on(tmp_path)
        await until(lambda: running.pid)
        stops.stop(tmp_path, "redis", seconds=0.6)
        await until(lambda: running.endings == 2)
        await until(lambda: running.pid)
        obeying_drills.cancel()
        for child in (running, other):
            await child.stop(1)
        assert notes.said[0] == "redis ended (signal SIGKILL); a drill keeps it stopped."

    asyncio.run(scene())


def test_pauses_grow_while_it_keeps_ending_and_start_over_after_a_life_that_counts(monkeypatch):
    async def scene():
        notes = Notes()
        running = Child(python("pass"), notes)
        running.start()
        await until(lambda: running.endings >= 4)
        monkeypatch.setattr(children, "_LIFE_THAT_COUNTS_S", 0)
        seen = running.endings
        await until(lambda: running.endings >= seen + 2)
        await running.stop(1)
        pauses = [sentence.rsplit(" in ")[-1] for sentence in notes.said]
        assert pauses[:4] == ["0.05 s.", "0.1 s.", "0.2 s.", "0.2 s."]
        assert pauses[-1] == "0.05 s."

    asyncio.run(scene())


def test_a_program_that_is_not_there_is_tried_again_and_said():
    async def scene():
        notes = Notes()
        running = Child(Plan("ghost", ["/nowhere/at/all"], 1), notes)
        running.start()
        await until(lambda: running.endings >= 2)
        await running.stop(1)
        assert "ghost can't be started" in notes.said[0]

    asyncio.run(scene())


def test_a_killed_child_takes_what_it_started_with_it():
    async def scene():
        notes = Notes()
        text = """
            import subprocess, sys, time
            grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            print(grandchild.pid, flush=True)
            time.sleep(60)
        """
        running = Child(python(text), notes)
        running.start()
        await until(lambda: notes.lines)
        grandchild = int(notes.lines[0].split()[-1])
        first = running.pid
        os.kill(first, signal.SIGKILL)
        await until(lambda: running.endings == 1 and not alive(grandchild))
        await until(lambda: running.pid not in {None, first})
        await running.stop(1)

    asyncio.run(scene())


def test_one_that_does_not_listen_is_ended_by_force():
    async def scene():
        notes = Notes()
        text = """
            import signal, time
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            print("deaf", flush=True)
            time.sleep(60)
        """
        running = Child(python(text), notes)
        running.start()
        await until(lambda: notes.lines)
        pid, began = running.pid, time.monotonic()
        await running.stop(0.3)
        assert time.monotonic() - began < stretched(20)
        assert not alive(pid)

    asyncio.run(scene())


@pytest.fixture
def quick_looks(monkeypatch):
    monkeypatch.setattr(children, "_LOOK_S", 0.1)


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGUSR1], ids=["stopped", "hung"])
def test_one_that_gives_no_sign_of_life_any_more_is_ended_and_started_again(quick_looks, number):
    async def scene():
        notes = Notes()
        text = """
            import signal, time
            signal.signal(signal.SIGUSR1, lambda *_: time.sleep(600))
            while True:
                print("is at work", flush=True)
                time.sleep(0.05)
        """
        running = Child(python(text, says="is at work"), notes)
        running.start()
        await asyncio.wait_for(running.is_ready.wait(), 20)
        # As long as it gives signs it is left alone, however long that is.
        await asyncio.sleep(0.1 * (children._MOST_LOOKS_WITHOUT_A_SIGN + 3))
        assert running.endings == 0
        first = running.pid
        os.kill(first, number)
        await until(lambda: running.endings == 1 and not alive(first), seconds=20)
        await asyncio.wait_for(running.is_ready.wait(), 20)
        assert running.pid not in {None, first}
        await running.stop(1)
        assert notes.said[0].startswith("child sent no heartbeat for ")

    asyncio.run(scene())


def test_one_whose_probe_hears_nothing_any_more_is_started_again_and_one_that_only_refuses_is_not(quick_looks):
    async def scene():
        notes, answers = Notes(), {"ready": True, "alive": True}

        async def ready():
            return answers["ready"]

        async def lives():
            return answers["alive"]

        running = Child(python("import time; time.sleep(600)", probe=ready, alive=lives), notes)
        running.start()
        await asyncio.wait_for(running.is_ready.wait(), 20)
        answers["ready"] = False
        await asyncio.sleep(0.1 * (children._MOST_LOOKS_WITHOUT_A_SIGN + 3))
        assert running.endings == 0
        answers["alive"] = False
        await until(lambda: running.endings == 1, seconds=20)
        await running.stop(1)
        assert notes.said[0].startswith("child sent no heartbeat for ")

    asyncio.run(scene())


def test_one_that_gets_no_processor_is_slow_and_does_not_hang(quick_looks):
    """The figures of the kernel are given: in each look one thread waits for a processor, until none does any more."""

    async def scene():
        notes, queue = Notes(), {"seconds": 0.0, "is starved": True}
        is_silent = asyncio.Event()

        def waits(pid):
            queue["seconds"] += 3600 if queue["is starved"] else 0
            return {pid: 0.0, pid + 1: queue["seconds"]}

        async def answers():
            return not is_silent.is_set()

        running = Child(python("import time; time.sleep(600)", probe=answers), notes, waits=waits)
        running.start()
        await asyncio.wait_for(running.is_ready.wait(), 20)
        is_silent.set()
        await asyncio.sleep(0.1 * children._MOST_LOOKS_WITHOUT_A_SIGN * 2)
        assert running.endings == 0
        queue["is starved"] = False
        await until(lambda: running.endings == 1, seconds=20)
        await running.stop(1)
        assert notes.said[0].startswith("child sent no heartbeat for ")

    asyncio.run(scene())


PIPED = {"stdout": subprocess.PIPE}
WAITING = "import time; time.sleep(600)"
RUNNING = "while True: pass"


def test_the_kernel_says_who_waits_for_a_processor():
    """On one core: of several that run in circles each waits most of the time, one that sleeps or is stopped never."""
    one = {min(os.sched_getaffinity(0))}
    started = [
        subprocess.Popen([sys.executable, "-c", f"import os; os.sched_setaffinity(0, {one})\nprint()\n{text}"], **PIPED)
        for text in (WAITING, RUNNING, RUNNING, RUNNING)
    ]
    try:
        for each in started:
            each.stdout.readline()
        os.kill(started[1].pid, signal.SIGSTOP)
        before = [run_queue.waits(each.pid) for each in started]
        assert all(before)
        time.sleep(1)
        asleep, stopped, *busy = (
            run_queue.longest(then, run_queue.waits(each.pid)) for then, each in zip(before, started, strict=True)
        )
    finally:
        for each in started:
            each.kill()
            each.communicate()
    assert asleep < 0.1
    assert stopped < 0.1
    assert min(busy) > 0.2
    assert run_queue.waits(started[0].pid) == {}, "one that is gone waits for nothing"


def test_a_stopped_child_hears_that_it_is_to_end():
    async def scene():
        notes = Notes()
        running = Child(python("print('here', flush=True)\nimport time; time.sleep(600)"), notes)
        running.start()
        await until(lambda: notes.lines)
        pid = running.pid
        os.kill(pid, signal.SIGSTOP)
        await asyncio.wait_for(running.stop(60), 20)
        assert not alive(pid)

    asyncio.run(scene())


def test_stopping_during_a_pause_starts_nothing_more():
    async def scene():
        notes = Notes()
        running = Child(python("print('ran')"), notes)
        running.start()
        await until(lambda: running.endings == 1)
        await running.stop(1)
        count = len(notes.lines)
        await asyncio.sleep(0.4)
        assert len(notes.lines) == count

    asyncio.run(scene())


def test_ready_by_what_it_says_and_the_sign_itself_is_not_shown():
    async def scene():
        notes = Notes()
        running = Child(
            python("import time; time.sleep(.2); print('is at work'); time.sleep(60)", says="is at work"), notes
        )
        running.start()
        assert not running.is_ready.is_set()
        await asyncio.wait_for(running.is_ready.wait(), 5)
        await running.stop(1)
        assert notes.lines == []

    asyncio.run(scene())


def test_ready_by_a_probe_and_no_longer_ready_once_it_died():
    async def scene():
        notes = Notes()
        answers = iter([False, False, True])

        async def probe():
            return next(answers, True)

        running = Child(python("import time; time.sleep(60)", probe=probe), notes)
        running.start()
        await asyncio.wait_for(running.is_ready.wait(), 5)
        os.kill(running.pid, signal.SIGKILL)
        await until(lambda: not running.is_ready.is_set())
        await asyncio.wait_for(running.is_ready.wait(), 5)
        await running.stop(1)

    asyncio.run(scene())


DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
FAMILY = f"""
import subprocess, sys, time
grandchild = subprocess.Popen([sys.executable, "-c", {DEAF + "; print('deaf', flush=True); time.sleep(600)"!r}])
print("grandchild", grandchild.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [None, signal.SIGSTOP], ids=["at work", "stopped"])
def test_children_and_theirs_die_with_a_supervisor_that_is_killed(number):
    text = f"""
        import asyncio, sys
        from project.supervisor.child import Child, Plan
        from project.supervisor.console import Console
        from project.supervisor.guard import Guard

        async def main():
            child = Child(Plan("child", [sys.executable, "-c", {FAMILY!r}], 1), Console(), Guard())
            child.start()
            while child.pid is None:
                await asyncio.sleep(0.01)
            print("child", child.pid, flush=True)
            await asyncio.sleep(60)

        asyncio.run(main())
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, text=True)
    lines = [parent.stdout.readline() for _ in range(3)]
    family = [int(line.split()[-1]) for line in lines if "child" in line and "deaf" not in line]
    assert len(family) == 2, lines
    assert all(alive(pid) for pid in family)
    if number:
        os.kill(family[0], number)
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + stretched(30)
    while any(alive(pid) for pid in family):
        assert time.monotonic() < deadline, "a child outlived its killed supervisor"
        time.sleep(0.02)
    parent.stdout.close()


def test_a_guard_ends_only_what_was_added_and_not_removed_in_whole_lines():
    assert guard.groups_left([b"+1\n", b"+22\n", b"-1\n", b"?\n", b"+x\n", b"\n", b"+333"]) == {22}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", True),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n200", False),
        (b"", False),
        (b"200", False),
        (b"\xff" * 2_000, False),
    ],
)
def test_only_a_status_of_200_is_a_yes_and_any_status_a_sign_of_life(answer, expected):
    async def scene():
        async def reply(reader, writer):
            await reader.readline()
            writer.write(answer)
            writer.close()

        server = await asyncio.start_server(reply, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        assert await probes.answers_http(port, "/healthz")() is expected
        assert await probes.answers_http(port, "/healthz", whatever=True)() is answer.startswith(b"HTTP")
        server.close()
        await server.wait_closed()
        assert not await probes.answers_http(port, "/healthz")()

    asyncio.run(scene())
