"""A desk in front of a sandbox, and a nursery of workers that see both."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.exchange_ops.conftest import account, demo_keys, ready, walk
from tests.money.aftermath import Aftermath
from tests.money.workers import Nursery

__all__ = ["account", "after", "demo_keys", "nursery", "ready", "walk", "workers_of_the_run"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test in one piece begins before others that commit, so that no run waits for it alone at its end."""
    longest = [item for item in items if item.path.name == "test_stream_chaos.py"]
    for item in longest:
        items.remove(item)
    place = next((place for place, item in enumerate(items) if _commits(item)), len(items))
    items[place:place] = longest


def _commits(item: pytest.Item) -> bool:
    marked = item.get_closest_marker("django_db")
    return marked is not None and bool(marked.kwargs.get("transaction"))


@pytest.fixture(scope="session")
def workers_of_the_run(django_db_setup: None) -> Iterator[Nursery]:
    """One nursery for the whole run, on the database of the tests."""
    from django.db import connection

    database = connection.settings_dict
    if connection.vendor == "sqlite":
        address = f"sqlite:///{database['NAME']}"
    else:
        address = os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{database['NAME']}"
    nursery = Nursery({**os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "project.settings"})
    yield nursery
    nursery.close()


@pytest.fixture
def nursery(workers_of_the_run: Nursery, walk: Any) -> Nursery:
    """Workers that see the rows and the sandbox of this test."""
    workers_of_the_run.exchange_url = walk.sandbox.url
    return workers_of_the_run


@pytest.fixture
def after(walk: Any, nursery: Nursery) -> Aftermath:
    """What is left after workers died, and fresh ones that look after it."""
    return Aftermath(walk, nursery)
