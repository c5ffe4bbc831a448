"""docs/running.md as a script: what it says exists, its numbers are those of Going live, and it can be typed."""

import re
import shlex
import socket
import subprocess
import sys
import time

import pytest
from django.core.management import get_commands, load_command_class

from desk import clock
from exchange_ops.going_live import items
from project.deployment import processes, units
from tests import servers
from tests.architecture import tree
from tests.bounds import stretched
from tests.houses import free_port
from tests.project.deployment.test_containers import sandbox_elsewhere
from tests.project.test_documents import OWN

PAGE = (tree.ROOT / "docs" / "running.md").read_text()
SCRIPTS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
MANAGE = ".venv/bin/python manage.py "


def commands(script):
    """The command lines of a script, without the texts that it writes into files."""
    return (
        re.sub(r"(<<'END'\n).*?^END$", r"\1", script, flags=re.MULTILINE | re.DOTALL).replace("\n\n", "\n").splitlines()
    )


LINES = [line for script in SCRIPTS for line in commands(script)]


def test_sections_have_the_numbers_titles_and_commands_of_the_page_going_live():
    sections = re.findall(r"^## (\d+)\. (.+)$", PAGE, re.MULTILINE)
    assert sections == [(str(number), step.title) for number, step in enumerate(items.STEPS, 1)]
    for step in items.STEPS:
        for line in step.command.splitlines():
            assert line in PAGE if line.startswith((".venv", "sudo")) else line.partition("=")[0] in PAGE, line


def test_every_command_names_its_python_and_takes_the_options_that_are_given_to_it():
    assert len([line for line in LINES if MANAGE in line]) > 15
    for line in LINES:
        in_containers = line.startswith(("docker compose", "python3 manage.py make_secrets"))
        assert in_containers or not re.search(r"(?<!bin/)\bpython3? (?!-m venv)|^(sudo )?(pip|celery) ", line), line
        if line.startswith(MANAGE):
            name, *arguments = shlex.split(line.removeprefix(MANAGE).partition(" > ")[0])
            if name in OWN:
                continue  # it needs no Django, and is typed below
            command = load_command_class(get_commands()[name], name)
            command.create_parser("manage.py", name).parse_args(arguments)  # ends the test where one is unknown


def test_every_setting_of_the_page_exists():
    rows = set(re.findall(r"^\| `([A-Z_]+)` \|", (tree.ROOT / "docs" / "settings.md").read_text(), re.MULTILINE))
    named = {name.removesuffix("_FILE") for name in re.findall(r"^([A-Z_]+)=", PAGE, re.MULTILINE)}
    assert {"EXCHANGE_URL", "SECRET_KEY", "KEY_RING", "EMAIL_URL", "DESK_URL"} <= named
    assert named - rows == {"SECRETS"}


# Typed literally ------------------------------------------------------------------------------------------------------

# What only the administrator of a machine can do, or what would change this one.
NOT_HERE = (
    "apt-get",
    "useradd",
    "chown",
    "-u ",
    "ln ",
    "certbot",
    "systemctl",
    "journalctl",
    "git ",
    "python3 -m venv",
)
NOT_HERE += (
    ".venv/bin/python -m pip",
    "install --directory /etc",
    "tee /etc/systemd",
    "tee /etc/cron.d",
    "tee /etc/nginx",
)


class Server:
    """A server in a folder: the paths of the page lead into it, and its addresses to servers of the test."""

    def __init__(self, folder, **settings):
        self.folder, self.settings = folder, settings
        self.places = {
            "/srv/countersign": tree.ROOT,
            "/etc/countersign": folder / "etc",
            "/var/lib/countersign": folder / "lib",
            "/var/backups/countersign": folder / "backups",
            "/etc/systemd/system": folder / "units",
            ".venv/bin/python": sys.executable,
        }
        for name in ("etc", "lib", "backups", "units"):
            (folder / name).mkdir(mode=0o700)
        self.running = []

    def here(self, text):
        for place, ours in self.places.items():
            text = text.replace(place, str(ours))
        for name, value in self.settings.items():
            text = re.sub(rf"^{name}=.*$", f"{name}={value}", text, flags=re.MULTILINE)
        return text

    def type(self, script, **settings):
        """Type a script of the page in the desk's shell; what it printed."""
        file = self.folder / "etc" / "env"
        loaded = f"set -a\n[ -e {file} ] && . {file}\nset +a\n" + "".join(
            f"export {k}={v}\n" for k, v in settings.items()
        )
        shell = ["sh", "-ec", loaded + self.here(script)]
        ended = subprocess.run(shell, cwd=tree.ROOT, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
        assert ended.returncode == 0, f"{script}\n{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def start(self, unit):
        """What systemd does with a unit: its environment and command, and a socket for READY=1."""
        text = (self.folder / "units" / unit).read_text()
        own = dict(line.split("=", 1) for line in re.findall(r"^Environment=(.*)$", text, re.MULTILINE))
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listening.bind(str(self.folder / f"{len(self.running)}.sock"))
        command = re.search("^ExecStart=(.*)$", text, re.MULTILINE)[1].replace("%%", "%")
        exports = "".join(f"export {name}={value}\n" for name, value in own.items())
        exports += f"export NOTIFY_SOCKET={listening.getsockname()}\n"
        file = re.search("^EnvironmentFile=(.*)$", text, re.MULTILINE)[1]
        shell = ["sh", "-c", f"set -a\n. {file}\nset +a\n{exports}exec {command}"]
        with (self.folder / f"{unit}.log").open("w") as log:
            process = subprocess.Popen(
                shell, cwd=tree.ROOT, env={"PATH": "/usr/bin:/bin"}, stdout=log, stderr=subprocess.STDOUT
            )
        self.running.append((process, listening))
        return listening

    def stop(self):
        for process, _ in self.running:
            process.terminate()
        for process, listening in self.running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            listening.close()


def without_root(script):
    """A script as somebody can type it who is no administrator: `sudo` left out, and what needs it."""
    lines, skips = [], False
    for line in script.splitlines():
        if skips:
            skips = line != "END"
        elif any(word in line for word in NOT_HERE) and line.startswith(("sudo", "printf")):
            skips = line.endswith("<<'END'")
        else:
            lines.append(line.removeprefix("sudo "))
    return "\n".join(lines)


def scripts(first, last):
    """Those from the heading `first` up to the heading `last`, as they can be typed here."""
    part = PAGE[PAGE.index(f"\n## {first}") : PAGE.index(f"\n## {last}")]
    return [without_root(each) for each in re.findall(r"^```sh\n(.*?)^```", part, re.MULTILINE | re.DOTALL)]


@pytest.mark.thorough("a desk from an empty folder by the commands of its page; cheap tests hold the page to the code")
@pytest.mark.timeout(580)
def test_the_page_typed_from_an_empty_folder_to_a_restored_backup(tmp_path):
    (tmp_path / "pg").mkdir()
    (tmp_path / "broker").mkdir()
    database, broker = servers.Postgres(tmp_path / "pg"), servers.Redis(tmp_path / "broker")
    with sandbox_elsewhere(str(tmp_path / "world")) as port:
        server = Server(
            tmp_path,
            EXCHANGE_URL=f"http://127.0.0.1:{port}",
            EXCHANGE_WS_URL=f"ws://127.0.0.1:{port}",
            CHAINDATA_URL=f"http://127.0.0.1:{port}",
            DATABASE_URL=database.url,
            REDIS_URL=broker.url,
            EMAIL_URL="smtp://127.0.0.1:1",
            DEMO=f"0\nPORT={free_port()}\nPRIVATE_HOSTS=127.0.0.1\nCHAIN_NETWORKS=regtest,test",
        )
        try:
            for script in scripts("1. ", "3. "):
                server.type(script)
            prepare, written = scripts("3. ", "4. ")[1:]
            assert "no issues" in server.type(prepare)
            folders = f"--code {tree.ROOT} --data {tmp_path}/lib --environment-file {tmp_path}/etc/env"
            assert units.TARGET in server.type(written.replace("manage.py units", f"manage.py units {folders}"))
            heard = {each.name: server.start(f"countersign-{each.name}.service") for each in processes.ALL}
            for each in processes.ALL:
                if each.gives_signs:
                    heard[each.name].settimeout(stretched(120))
                    assert heard[each.name].recv(100) == b"READY=1", each.name
            (make_admin,) = scripts("5. ", "6. ")
            assert "https://desk.example.com/account/begin/?code=" in server.type(make_admin.replace("NAME", "root"))
            (add_key,) = scripts("8. ", "9. ")
            add_key = add_key.strip().replace("--login KEY", "--login demo-read --secret-from-stdin")
            server.type(f"echo demo-read-secret | {add_key}")
            (reconcile,) = scripts("10. ", "11. ")
            _until(lambda: server.type(reconcile))
            (audit,) = scripts("14. ", "15. ")
            server.type(audit)
            back_up, restore = scripts("15. ", "Every day")
            server.type(back_up)
            assert "True" in server.type(_IS_ON_RECORD), "prepare expects backups, and this one was made"
        finally:
            server.stop()
        (tmp_path / "other").mkdir(mode=0o700)
        _new_database(database)
        other = {"DATA_DIR": tmp_path / "other", "DATABASE_URL": database.url.removesuffix("/desk") + "/restored"}
        assert "Nothing is sent until" in server.type(restore, **other)
        assert (tmp_path / "other" / "static.stamp").exists()  # without it no page of the restored desk opens
    broker.stop()
    database.stop()


_IS_ON_RECORD = f"""{MANAGE}shell -c '
from desk.restores.models import BackupRecord
print(BackupRecord.objects.exclude(since=None).exclude(made_at=None).exists())'"""


def _new_database(database):
    import psycopg

    with psycopg.connect(host=str(database.folder), user="desk", dbname="postgres", autocommit=True) as rows:
        rows.execute("CREATE DATABASE restored")


def _until(attempt):
    """Try again for two minutes: what a worker finds out is there a moment later."""
    deadline = clock.now().timestamp() + stretched(120)
    while True:
        try:
            return attempt()
        except AssertionError:
            if clock.now().timestamp() > deadline:
                raise
            time.sleep(3)
