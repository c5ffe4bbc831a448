"""What is written about the house, against the house: settings, tables, commands, containers."""

import re
import shlex

import pytest
import yaml
from django.core.management import CommandError, call_command, get_commands

from bench.tasks import everyday, published
from project.management.commands import house_tables
from project.verification import locks
from tests.architecture import tree

HOUSE = (tree.ROOT / "docs" / "house.md").read_text()
README = (tree.ROOT / "README.md").read_text()
TASKS = (tree.ROOT / "docs" / "tasks.md").read_text()
RECIPES = (tree.ROOT / "docs" / "recipes.md").read_text()
# Commands that the house runs without Django.
OWN = {"up", "verify", "bench", "lock", "sandbox"}


def test_every_setting_has_its_row():
    settings = (tree.ROOT / "project" / "settings.py").read_text()
    read = set(re.findall(r'(?:environment\.\w+|_kept_secret|os\.environ\.get)\(\s*"([A-Z_]+)"', settings))
    assert {"PORT", "DATABASE_URL", "KEY_RING", "EXCHANGE_WS_URL", "SECRET_KEY"} <= read
    rows = set(re.findall(r"^\| `([A-Z_]+)` \|", HOUSE, re.MULTILINE))
    assert read == rows


def test_every_task_was_measured_and_stands_beside_what_others_publish():
    assert len(everyday.ALL) == 40
    assert [task.name for task in everyday.ALL if f"| {task.name} | " not in TASKS] == []
    assert "not done" not in TASKS
    assert set(published.FLOWS) <= {task.name for task in everyday.ALL}
    flows = [flow for flows in published.FLOWS.values() for flow in flows]
    assert [flow.address for flow in flows if f"[{flow.title}]({flow.address})" not in TASKS] == []


def test_the_recipes_name_files_and_commands_that_there_are():
    spoken = re.findall(r"`([^`]+)`", RECIPES)
    files = {name for name in spoken if re.fullmatch(r"[a-z_]+(/[a-z_]+)*/([a-z_]+\.(py|md|js))?", name)}
    assert len(files) > 25
    assert [name for name in sorted(files) if not (tree.ROOT / name).exists()] == []
    commands = {name.split()[1] for name in spoken if name.startswith("manage.py ")}
    assert {"make_guards", "house_tables", "coverage_page", "makemigrations"} <= commands <= set(get_commands()) | OWN


def test_the_state_tables_are_what_the_code_says(capsys):
    call_command("house_tables")


def test_a_table_that_fell_behind_is_noticed(tmp_path, monkeypatch):
    page = tmp_path / "house.md"
    page.write_text(HOUSE.replace("| `held` |", "| `kept` |"))
    monkeypatch.setattr(house_tables, "PAGE", page)
    with pytest.raises(CommandError, match="not what the code says"):
        call_command("house_tables")
    call_command("house_tables", write=True)
    assert page.read_text() == HOUSE


def test_a_page_without_the_place_for_a_table_is_refused(tmp_path, monkeypatch):
    page = tmp_path / "house.md"
    page.write_text("# The house\n")
    monkeypatch.setattr(house_tables, "PAGE", page)
    with pytest.raises(CommandError, match="has no place for"):
        call_command("house_tables", write=True)
    assert page.read_text() == "# The house\n"


def test_the_pythons_that_are_promised_are_those_that_the_locks_are_tried_on():
    oldest, newest, for_tests = re.search(
        r"^Python (3\.\d+) to (3\.\d+) on Linux.* measurements run on 3\.\d+ to (3\.\d+)\.", README, re.MULTILINE
    ).groups()
    assert locks.PYTHONS["requirements.txt"] == between(oldest, newest)
    assert (
        locks.PYTHONS["tests/requirements.txt"] == locks.PYTHONS["bench/requirements.txt"] == between(oldest, for_tests)
    )


def between(oldest, newest):
    first, last = (int(version.removeprefix("3.")) for version in (oldest, newest))
    return tuple(f"3.{minor}" for minor in range(first, last + 1))


@pytest.mark.parametrize("page", ["README.md", "docs/house.md", "CHANGELOG.md"])
def test_commands_and_files_that_are_named_exist(page):
    text = (tree.ROOT / page).read_text()
    named = set(re.findall(r"manage\.py ([a-z_]+)", text)) - OWN
    assert named <= set(get_commands()), "a command is described that does not exist"
    targets = set(re.findall(r"`?make ([a-z]+)`", text))
    assert targets <= set(re.findall(r"^([a-z]+):", (tree.ROOT / "Makefile").read_text(), re.MULTILINE))
    for link in re.findall(r"\]\((?!http|#)([^)#]+)\)", text):
        assert (tree.ROOT / page).parent.joinpath(link).exists(), f"{page} links to {link}"


# Containers ----------------------------------------------------------------------------------------------------

COMPOSE = yaml.safe_load((tree.ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]


def test_every_process_of_the_house_has_its_container():
    desk = {"prepare", "web", "worker", "release-worker", "chain-worker", "beat", "follower"}
    assert set(SERVICES) == {"postgres", "valkey", "sandbox"} | desk


@pytest.mark.parametrize(
    "name", ["sandbox", "prepare", "web", "worker", "release-worker", "chain-worker", "beat", "follower"]
)
def test_containers_run_what_exists_and_without_rights(name):
    service = SERVICES[name]
    command = service["command"]
    if command[:2] == ["python", "manage.py"]:
        assert command[2] in set(get_commands()) | OWN
    elif command[:2] == ["python", "-m"]:
        assert (tree.ROOT / (command[2].replace(".", "/") + ".py")).exists()
    else:
        assert command[0] == "celery"
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]


def test_no_secret_is_written_into_the_file():
    for service in SERVICES.values():
        for key, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|RING", key):
                assert value.startswith("${"), f"{key} has a value of its own"


def test_only_this_machine_reaches_what_is_published():
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_long_lived_containers_say_whether_they_are_well():
    silent = {name for name, service in SERVICES.items() if "healthcheck" not in service}
    assert silent == {"prepare", "beat"}, "one ends by itself; the other only wakes, which /readyz sees by what is due"


def test_the_image_takes_every_app_and_nothing_that_is_not_run():
    kept = {line[1:] for line in (tree.ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(tree.APPS) <= kept
    assert not kept & {"tests", "bench", ".git", "var", ".venv", "docs"}
    lines = (tree.ROOT / "Dockerfile").read_text().splitlines()
    install = next(line for line in lines if "pip install" in line)
    assert {"--require-hashes", "--no-deps"} <= set(shlex.split(install))
    assert lines.index("USER desk") < next(place for place, line in enumerate(lines) if line.startswith("CMD"))
