"""What every test may ask for: rows on either database, people by role, the sandbox, a live desk, a real browser."""

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import hypothesis
import pytest

from tests import browsers, houses
from tests.bounds import stretched
from tests.prepared_database import PreparedDatabase, unsynced

_NO_BROWSER = "no Chromium was found ($CHROMIUM, PATH); `python3 manage.py verify` fetches one"
_PASSWORD = "a long demo sentence"

# How fast an example is made or holds is the machine's matter; what hangs is ended by pytest-timeout.
_AT_ANY_SPEED = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("usual", **_AT_ANY_SPEED)
hypothesis.settings.register_profile("thorough", max_examples=3_000, **_AT_ANY_SPEED)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


def pytest_configure(config: pytest.Config) -> None:
    """Cheap passwords, unhashed static files, nothing that waits for the disk: no test in one process is about them."""
    gc.disable()
    if not config.pluginmanager.hasplugin("django"):
        return
    # Pure tests run where Django can't be imported.
    from django.conf import settings as django_settings

    from tests import rows

    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    django_settings.STORAGES = {
        **django_settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    options = django_settings.DATABASES["default"].get("OPTIONS", {})
    if "init_command" in options:
        options["init_command"] = unsynced(options["init_command"])
    rows.allow_flush()


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: the browser's driver keeps an event loop in the thread of every test after it.

    With `--dist loadgroup` one worker has all tests of the shared house: a second house costs more than it saves.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    for item in items:
        if "house" in getattr(item, "fixturenames", ()) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group("house"))
        # A bound against what hangs, not on speed: a page is opened beside whatever else a machine of two cores does.
        if item.get_closest_marker("browser") is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(900))


def pytest_collection_finish() -> None:
    """What was collected stays to the end, so the collector of garbage needn't look through it again and again.

    By default it begins after every 700 objects, which took a seventh of the processor: a question to the database
    makes more than that, and nearly all of them go without it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Browser tests that did not run are said so in red, so that nobody takes their absence for success."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if _NO_BROWSER in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} BROWSER TESTS DID NOT RUN: {_NO_BROWSER}", red=True, bold=True)


# Rows -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def prepared_database(django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any) -> PreparedDatabase:
    """The one migrated database of the run, of which this worker has a copy if it isn't the first.

    SQLite in a file, as the embedded default has it: a shared in-memory database locks differently.
    """
    from django.conf import settings as django_settings
    from django.db import connection

    database = django_settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database.setdefault("TEST", {})["NAME"] = f"{django_settings.DATA_DIR}/test-desk.sqlite3"
    prepared = PreparedDatabase.of_this_run()
    with django_db_blocker.unblock():
        prepared.take(connection)
    return prepared


@pytest.fixture(scope="session")
def django_db_modify_db_settings(prepared_database: PreparedDatabase) -> None:
    """Which database it is must be known before it is set up."""


@pytest.fixture(scope="session")
def django_db_keepdb(prepared_database: PreparedDatabase) -> bool:
    """Whether the database is there already."""
    return prepared_database.is_copied


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, prepared_database: PreparedDatabase, django_db_blocker: Any) -> None:
    """The database of this process; the first that is made is there for the others to copy."""
    from django.db import connection

    with django_db_blocker.unblock():
        prepared_database.give(connection)


@pytest.fixture
def child_environment(transactional_db: None) -> dict[str, str]:
    """The environment for a child process that shall see this test's rows, broker and folder."""
    from django.db import connection

    database = connection.settings_dict
    if connection.vendor == "sqlite":
        address = f"sqlite:///{database['NAME']}"
    else:
        address = os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{database['NAME']}"
    return {**os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "project.settings"}


# Time -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def standing_clock(monkeypatch: pytest.MonkeyPatch) -> datetime:
    """The desk's clock stands at this moment: for ages told to the second, and for what is fresh for seconds only."""
    from desk import clock

    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    return moment


# People ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def make_person(db: None) -> Callable[..., Any]:
    """`make_person("treasury", username="treasury2")`: an active person with these roles and a known password."""
    from django.contrib.auth.models import Group
    from django.db import transaction

    from desk.models import Person

    def make(*roles: str, username: str | None = None, **changes: Any) -> Person:
        name = username or (roles[0] if roles else "nobody")
        with transaction.atomic():  # one entry of the chain of rows instead of one for each statement
            person = Person.objects.create_user(username=name, password=_PASSWORD, **changes)
            person.groups.add(*(Group.objects.get_or_create(name=role)[0] for role in roles))
        return person

    return make


@pytest.fixture
def password() -> str:
    """The password of everybody whom `make_person` makes."""
    return _PASSWORD


@pytest.fixture
def operator(make_person: Callable[..., Any]) -> Any:
    """Somebody who asks for payouts."""
    return make_person("operator")


@pytest.fixture
def treasury(make_person: Callable[..., Any]) -> Any:
    """Somebody who approves and rejects."""
    return make_person("treasury")


@pytest.fixture
def treasury2(make_person: Callable[..., Any]) -> Any:
    """A second approver."""
    return make_person("treasury", username="treasury2")


@pytest.fixture
def admin(make_person: Callable[..., Any]) -> Any:
    """Somebody who keeps people, keys and settings."""
    return make_person("admin")


@pytest.fixture
def auditor(make_person: Callable[..., Any]) -> Any:
    """Somebody who reads everything and changes nothing."""
    return make_person("auditor")


@pytest.fixture
def signed_in(db: None) -> Callable[..., Any]:
    """`signed_in(person)`: a client with that person's session; a browser without a browser."""
    from django.test import Client

    def sign_in(person: Any, **options: Any) -> Any:
        client = Client(**options)
        client.force_login(person)
        return client

    return sign_in


# The outside world ----------------------------------------------------------------------------------------------------


@pytest.fixture
def sandbox(settings: Any) -> Iterator[Any]:
    """A fresh sandbox in a thread of this process; the desk's addresses point at it for the length of the test."""
    from sandbox.serving import InProcessSandbox

    server = InProcessSandbox(seed=1)
    settings.EXCHANGE_URL = settings.CHAINDATA_URL = server.url
    settings.EXCHANGE_WS_URL = server.ws_url
    settings.EXCHANGE_CALLS_PER_SECOND = {"market": 100_000, "trading": 100_000, "other": 100_000}
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def house(request: pytest.FixtureRequest) -> Iterator[houses.RunningHouse]:
    """The whole house by the command of a user, on free ports and a prepared folder; one for this process."""
    running = houses.RunningHouse(folder=houses.prepared_folder(), **houses.QUICK)
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.stop()


# A desk and a browser -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LiveDesk:
    """A desk that answers pages and sockets over real connections, with the rows of the current test."""

    url: str
    ws_url: str


@pytest.fixture
def live_desk(transactional_db: None, settings: Any) -> Iterator[LiveDesk]:
    """The real ASGI application under uvicorn in a thread: pages, static files and sockets."""
    import uvicorn
    from django.core.management import call_command

    from project import serve

    if not settings.STATIC_ROOT.exists():
        call_command("collectstatic", interactive=False, verbosity=0)
    port = houses.free_port()
    settings.PORT = port
    settings.DESK_URL = settings.DESK_ORIGIN = f"http://localhost:{port}"
    server = uvicorn.Server(serve.config(port=port))
    thread = threading.Thread(target=server.run, name="live-desk", daemon=True)
    thread.start()
    deadline = time.monotonic() + stretched(30)
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            pytest.fail("the live desk did not start")
        time.sleep(0.01)
    yield LiveDesk(url=f"http://localhost:{port}", ws_url=f"ws://localhost:{port}/ws/")
    server.should_exit = True
    thread.join(10)
    assert not thread.is_alive(), "the live desk did not stop within ten seconds"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium. Where there is none the test is skipped, loudly; with CI=true it fails."""
    found = browsers.find()
    if found is None:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            pytest.fail(_NO_BROWSER)
        pytest.skip(_NO_BROWSER)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=stretched(60_000))
    with sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=found.program,
            env={**os.environ, **found.environment},
            args=["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
        )
        yield started
        started.close()


@pytest.fixture
def new_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """`new_page(width=360, dark=True)`: a page in a browser session of its own. Script errors fail the test."""
    contexts = []
    errors: list[str] = []

    def open_page(*, width: int = 1280, height: int = 900, dark: bool = False) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        context.set_default_timeout(stretched(60_000))
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not errors, f"scripts of a page failed: {errors}"
