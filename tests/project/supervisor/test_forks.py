"""Processes from a fork server: as if each had been started by itself, and gone with the server and its supervisor."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from project.supervisor import forks
from project.supervisor.child import Child, Plan
from project.supervisor.forks import Forks
from tests.project.supervisor.test_children import Notes, alive, until

pytestmark = pytest.mark.skipif(not forks.ARE_POSSIBLE, reason="only Linux ties a process to the one that forked it")


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    monkeypatch.setattr(forks, "_SERVER", "tests.project.supervisor.bare_server")


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "job.py"
        path.write_text(textwrap.dedent(text))
        return str(path)

    return write


@asynccontextmanager
async def server(**environment):
    running = Forks(environment=environment)
    try:
        yield running
    finally:
        await running.close()


async def run(running, arguments, **environment):
    """(exit code, output) of a process that is forked for this."""
    read_end, write_end = os.pipe()
    forked = await running.start(arguments, environment, output=write_end, errors=write_end)
    os.close(write_end)
    code = await forked.wait()
    with os.fdopen(read_end) as output:
        return code, output.read()


def test_a_process_is_what_it_would_be_if_it_had_been_started_by_itself(script):
    path = script("""
        import atexit, os, signal, sys
        from pathlib import Path
        atexit.register(print, "at its end")
        command = Path("/proc/self/cmdline").read_bytes().rstrip(b"\\0").decode()
        print(__name__, sys.argv[1:], os.environ["OF_ALL"], os.environ["OF_ONE"], command, file=sys.stderr)
        print(os.getpid() == os.getsid(0) == os.getpgrp(), signal.getsignal(signal.SIGTERM), sys.stdin.read() == "")
        print(sorted(int(name) for name in os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")) <= 4)
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, Path.cwd())
        sys.exit(7)
    """)

    async def main():
        async with server(OF_ALL="server") as running:
            return await run(running, [path, "--flag", "1"], OF_ONE="job")

    code, output = asyncio.run(main())
    assert code == 7
    assert output.splitlines() == [
        f"__main__ ['--flag', '1'] server job {sys.executable} {path} --flag 1",
        "True 0 True",
        "[0, 1, 2] True",
        # Where Ctrl-C is ignored, as in the background of a shell, it is ignored here and there.
        f"{signal.getsignal(signal.SIGINT) is signal.default_int_handler} {forks.ROOT}",
        "at its end",
    ]


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("", 0, ""),
        ("raise SystemExit('No database.')", 1, "No database.\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, ""),
        ("import os; os._exit(255)", 255, ""),
    ],
)
def test_it_ends_with_its_code(script, text, code, says):
    async def main():
        async with server() as running:
            return await run(running, [script(text)])

    assert asyncio.run(main()) == (code, says)


def test_an_error_is_printed_and_a_module_is_run_by_its_name(script):
    async def main():
        async with server() as running:
            failed = await run(running, [script("1 / 0")])
            return failed, await run(running, ["-m", "json.tool", "--help"])

    failed, module = asyncio.run(main())
    assert failed[0] == 1
    assert "ZeroDivisionError" in failed[1]
    assert module[0] == 0
    assert "--sort-keys" in module[1]


def test_processes_end_with_a_killed_server_and_the_next_one_starts_them_again(script):
    """A child is taken for one that ended, and the server is started for the first that asks."""
    plan = Plan("child", [sys.executable, script("import time; time.sleep(60)")], 1, settles_s=0.1, is_desk=True)

    async def main():
        async with server() as running:
            notes = Notes()
            children = [Child(plan, notes, forks=running) for _ in range(3)]
            for child in children:
                child.start()
            await until(lambda: all(child.is_ready.is_set() for child in children))
            before = [child.pid for child in children]
            os.kill(running.pid, signal.SIGKILL)
            await until(lambda: all(child.endings == 1 for child in children))
            await until(lambda: not any(map(alive, before)))
            await until(lambda: all(child.pid and child.is_ready.is_set() for child in children))
            after = [child.pid for child in children]
            await asyncio.gather(*(child.stop(3) for child in children))
            return before, after, notes.said

    before, after, said = asyncio.run(main())
    assert not set(before) & set(after)
    assert said == ["child ended (signal SIGTERM); restarting in 0.5 s."] * 3
    assert not any(map(alive, after))


def test_a_process_that_nobody_waits_for_any_more_is_ended(script):
    """As when the house is asked to end while a process is being started: nobody knows its number."""
    job = script("import time; print('began', flush=True); time.sleep(60)")

    async def main():
        async with server() as running:
            await running.load()
            os.kill(running.pid, signal.SIGSTOP)
            starting = asyncio.create_task(run(running, [job]))
            await asyncio.sleep(0.1)
            starting.cancel()
            server_pid = running.pid
            os.kill(server_pid, signal.SIGCONT)
            code, output = await run(running, [script("print('next')")])
            children = Path(f"/proc/{server_pid}/task/{server_pid}/children")
            await until(lambda: not [pid for pid in children.read_text().split() if alive(pid)])
            return code, output

    assert asyncio.run(main()) == (0, "next\n")


def test_a_server_that_does_not_answer_is_ended(script, monkeypatch):
    monkeypatch.setattr(forks, "_START_WITHIN_S", 0.3)

    async def main():
        async with server() as running:
            await running.load()
            stopped = running.pid
            os.kill(stopped, signal.SIGSTOP)
            with pytest.raises(OSError, match="does not answer"):
                await run(running, [script("")])
            await until(lambda: not alive(stopped))
            monkeypatch.setattr(forks, "_START_WITHIN_S", 60)
            return await run(running, [script("")])

    assert asyncio.run(main())[0] == 0


SUPERVISOR = """
import asyncio, sys
from project.supervisor import forks
forks._SERVER = "tests.project.supervisor.bare_server"

async def main():
    running = forks.Forks(environment={})
    forked = await running.start([sys.argv[1]], {}, output=1, errors=2)
    print(running.pid, forked.pid, flush=True)
    await forked.wait()

asyncio.run(main())
"""


def test_nothing_outlives_a_killed_supervisor(script):
    job = script("import time; time.sleep(60)")
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, job], cwd=forks.ROOT, stdout=subprocess.PIPE, text=True
    ) as supervisor:
        pids = supervisor.stdout.readline().split()
        assert all(map(alive, pids))
        supervisor.kill()
        supervisor.wait()
        asyncio.run(until(lambda: not any(map(alive, pids))))
