"""docker-compose.yml is a real desk, docker-compose.demo.yml the demo over it; started here without an engine."""

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from project import settings_page
from project.deployment import make_secrets, processes
from tests import servers
from tests.architecture import tree
from tests.bounds import stretched
from tests.houses import free_port

DESK = ("prepare", *(each.name for each in processes.ALL))
REQUIRED = ("EXCHANGE_URL", "EXCHANGE_WS_URL", "CHAINDATA_URL", "ALLOWED_HOSTS", "DESK_URL", "SECRETS")
NAMED = {
    "EXCHANGE_URL": "https://exchange.example",
    "EXCHANGE_WS_URL": "wss://exchange.example",
    "CHAINDATA_URL": "https://chain.example",
    "ALLOWED_HOSTS": "desk.example",
    "DESK_URL": "https://desk.example",
    "SECRETS": "./secrets",
}
# What the image, the network or the demo decide.
NOT_PASSED_ON = {"DATA_DIR", "PORT", "SANDBOX_PORT", "LISTEN", "DEMO_ANYBODY_MAY_SIGN_IN"}


class _Loader(yaml.SafeLoader):
    """YAML as compose reads it: `!reset` takes a value away."""


_Loader.add_constructor("!reset", lambda *_: None)


class NotSet(Exception):
    """A variable without which compose refuses the file."""


def interpolated(value, variables):
    """A value with its variables put in, as compose does it."""
    if isinstance(value, dict):
        return {name: interpolated(each, variables) for name, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, variables) for each in value]
    if not isinstance(value, str):
        return value

    def of(match):
        name, sign, rest = match[1], match[2], match[3]
        if variables.get(name):
            return variables[name]
        if sign == ":?":
            raise NotSet(name)
        return rest or ""

    return re.sub(r"(?<!\$)\$\{([A-Z_]+)(:[-?])?([^}]*)\}", of, value).replace("$$", "$")


def merged(base, over):
    """Two services as compose lays one over the other."""
    both = {**base, **over}
    for name in ("environment", "depends_on"):
        both[name] = {**base.get(name, {}), **over.get(name, {})}
    return {name: value for name, value in both.items() if value is not None}


def read(*files, **variables):
    services = {}
    for file in files:
        content = interpolated(yaml.load((tree.ROOT / file).read_text(), _Loader), variables)
        for name, service in content["services"].items():
            services[name] = merged(services.get(name, {}), service)
    return services


def real():
    return read("docker-compose.yml", **NAMED)


def demo():
    lines = (tree.ROOT / "docker-compose.demo.env").read_text().splitlines()
    named = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return read("docker-compose.yml", "docker-compose.demo.yml", **named)


@pytest.mark.parametrize("missing", REQUIRED)
def test_a_real_desk_is_refused_without(missing):
    with pytest.raises(NotSet, match=missing):
        read("docker-compose.yml", **NAMED | {missing: ""})


def test_the_file_is_a_real_desk_of_the_processes_of_the_house():
    services = real()
    assert set(services) == {"postgres", "valkey", *DESK}
    assert all(services[name]["environment"]["DEMO"] == "0" for name in DESK)
    for each in processes.ALL:
        service = services[each.name]
        assert service["command"] == ["python", *each.arguments]
        assert each.environment.items() <= service["environment"].items()
        assert each.gives_signs == ("SIGNS_OF_LIFE" in service["environment"])
    assert set(demo()) == {*services, "sandbox"}
    assert all(demo()[name]["environment"]["DEMO"] == "1" for name in DESK)
    assert not any("ports" in demo()[name] for name in DESK), "the sandbox's network is theirs"


def test_every_setting_reaches_the_processes():
    named = set(re.findall(r"^\| `([A-Z_]+)` \|", settings_page.page(tree.ROOT, tree.APPS), re.MULTILINE))
    elsewhere = {"SIGNS_OF_LIFE", "NOTIFY_SOCKET", "NO_COLOR", "REAPING_GRACE", "NON_JS_FRAMEWORK"}
    secrets = {"SECRET_KEY", "KEY_RING", "DATABASE_URL", "REDIS_URL", "EMAIL_URL", "OIDC_CLIENT_SECRET"}
    assert secrets < named
    passed = set(real()["web"]["environment"])
    assert passed == named - NOT_PASSED_ON - elsewhere - secrets | {f"{name}_FILE" for name in secrets}


def test_every_image_can_be_pinned_by_a_variable_of_the_page():
    page = (tree.ROOT / "docs" / "running.md").read_text()
    preset = dict(re.findall(r"^\| `([A-Z]+_IMAGE)` \| `([^`]+)`", page, re.MULTILINE))
    pinned = {name: f"{image.partition(':')[0]}@sha256:{'1' * 64}" for name, image in preset.items()}
    for files in (("docker-compose.yml",), ("docker-compose.yml", "docker-compose.demo.yml")):
        for variables, images in (({}, preset), (pinned, pinned)):
            services = read(*files, **NAMED, **variables)
            builds = [service["build"]["args"] for service in services.values() if "build" in service]
            pulled = {service["image"] for service in services.values() if "build" not in service}
            assert pulled | {args["BASE_IMAGE"] for args in builds} == set(images.values())
    dockerfile = (tree.ROOT / "Dockerfile").read_text()
    assert re.findall("^FROM (.+)$", dockerfile, re.MULTILINE) == ["${BASE_IMAGE}"]
    assert f"ARG BASE_IMAGE={preset['BASE_IMAGE']}\n" in dockerfile
    (client,) = re.findall("^ARG POSTGRES_CLIENT=([0-9]+)$", dockerfile, re.MULTILINE)
    assert preset["POSTGRES_IMAGE"].startswith(f"postgres:{client}-"), "an older pg_dump refuses a newer server"


def test_secrets_are_in_files_of_their_own():
    text = "".join((tree.ROOT / f"docker-compose{part}").read_text() for part in (".yml", ".demo.yml", ".demo.env"))
    assert not re.search(r"(PASSWORD|SECRET_KEY|KEY_RING)\b ?[:=]", text)
    content = yaml.safe_load((tree.ROOT / "docker-compose.yml").read_text())
    assert set(content["secrets"]) == set(make_secrets.new_secrets(containers=True))
    used = {secret for service in content["services"].values() for secret in service.get("secrets", [])}
    assert used == set(content["secrets"])


def test_containers_have_no_rights_and_only_this_machine_reaches_them():
    for services in (real(), demo()):
        for name in set(services) - {"postgres", "valkey"}:
            assert services[name]["cap_drop"] == ["ALL"]
            assert "no-new-privileges:true" in services[name]["security_opt"]
        published = [port for service in services.values() for port in service.get("ports", [])]
        assert published
        assert all(port.startswith("127.0.0.1:") for port in published)


def test_long_lived_containers_say_whether_they_are_well():
    for services in (real(), demo()):
        silent = {name for name, service in services.items() if "test" not in service.get("healthcheck", {})}
        assert silent == {"prepare"}, "it ends by itself"


def test_secrets_are_made_once_and_kept_from_others(tmp_path, capsys):
    folder = tmp_path / "secrets"
    assert make_secrets.main([str(folder)]) == 0
    first = (folder / "key-ring").read_text()
    assert {path.name for path in folder.iterdir()} == {"secret-key", "key-ring"}
    assert folder.stat().st_mode & 0o077 == 0
    assert make_secrets.main([str(folder), "--containers"]) == 1
    assert "already contains secret-key, key-ring" in capsys.readouterr().err
    assert (folder / "key-ring").read_text() == first


# The rehearsal --------------------------------------------------------------------------------------------------------


class Rehearsal:
    """The services of a file, started here by their own commands and environment; paths and ports alone differ.

    `/run/secrets`, `/var/lib/countersign` and each container's `/tmp` are folders of the test; database and broker are
    the test's own, behind the addresses in the files of secrets.
    """

    def __init__(self, folder, services, **changes):
        self.folder, self.services, self.changes, self.running = folder, services, changes, {}
        (folder / "data").mkdir()
        make_secrets.main([str(folder / "secrets"), "--containers"])
        self.database, self.broker = servers.Postgres(_made(folder / "pg")), servers.Redis(_made(folder / "broker"))
        for name, text in (("database-url", self.database.url), ("redis-url", self.broker.url)):
            (folder / "secrets" / name).chmod(0o600)
            (folder / "secrets" / name).write_text(text)

    def environment(self, name):
        own = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        image = {"DATA_DIR": "/var/lib/countersign", "LISTEN": "127.0.0.1"}
        named = {key: self._placed(str(value), name) for key, value in self.services[name]["environment"].items()}
        return own | {key: self._placed(value, name) for key, value in image.items()} | named | self.changes

    def command(self, name, words):
        words = [word for word in words if word != "CMD"]
        return [sys.executable if word == "python" else self._placed(word, name) for word in words]

    def _placed(self, text, name):
        places = {"/run/secrets": "secrets", "/var/lib/countersign": "data", "/tmp": f"tmp-{name}"}
        for place, ours in places.items():
            if text.startswith(f"{place}/") or text == place:
                return str(self.folder / ours) + text.removeprefix(place)
        return text

    def run(self, name, words):
        (self.folder / f"tmp-{name}").mkdir(exist_ok=True)
        command = self.command(name, words)
        return subprocess.run(command, cwd=tree.ROOT, env=self.environment(name), capture_output=True, text=True)

    def start(self, name):
        (self.folder / f"tmp-{name}").mkdir(exist_ok=True)
        command = self.command(name, self.services[name]["command"])
        with (self.folder / f"{name}.log").open("w") as log:
            self.running[name] = subprocess.Popen(
                command, cwd=tree.ROOT, env=self.environment(name), stdout=log, stderr=subprocess.STDOUT
            )

    def is_healthy(self, name):
        return self.run(name, self.services[name]["healthcheck"]["test"]).returncode == 0

    def stop(self):
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.broker.stop()
        self.database.stop()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@contextlib.contextmanager
def sandbox_elsewhere(folder):
    """A sealed exchange on another port: what a tunnel to a real one looks like."""
    port = free_port()
    command = [sys.executable, "manage.py", "sandbox", "--sealed", "--still", "--port", str(port), "--data-dir", folder]
    with subprocess.Popen(command, cwd=tree.ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield port
        finally:
            process.terminate()


@pytest.mark.thorough("every process of a desk for a minute; that they are those of the house is shown by their table")
@pytest.mark.timeout(580)
def test_every_health_check_of_a_real_desk_comes_to_hold(tmp_path):
    with sandbox_elsewhere(str(tmp_path / "world")) as port:
        named = NAMED | {
            "EXCHANGE_URL": f"http://127.0.0.1:{port}",
            "EXCHANGE_WS_URL": f"ws://127.0.0.1:{port}",
            "CHAINDATA_URL": f"http://127.0.0.1:{port}",
            "PRIVATE_HOSTS": "127.0.0.1",
            "CHAIN_NETWORKS": "regtest,test",
        }
        rehearsal = Rehearsal(tmp_path, read("docker-compose.yml", **named), PORT=str(free_port()))
        try:
            prepared = rehearsal.run("prepare", rehearsal.services["prepare"]["command"])
            assert prepared.returncode == 0, prepared.stderr
            waiting = {each.name for each in processes.ALL}
            assert not any(rehearsal.is_healthy(name) for name in waiting), "nothing runs yet"
            for name in sorted(waiting):
                rehearsal.start(name)
            deadline = time.monotonic() + stretched(180)
            while waiting and time.monotonic() < deadline:
                waiting = {name for name in waiting if not rehearsal.is_healthy(name)}
                time.sleep(1)
            logs = {name: (tmp_path / f"{name}.log").read_text()[-800:] for name in waiting}
            assert not waiting, f"never healthy: {logs}"
        finally:
            rehearsal.stop()
