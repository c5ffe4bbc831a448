"""While the database is held by somebody else, or is gone: one sentence, with the money first, and never a 500."""

import os
import sqlite3
from contextlib import contextmanager

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client, RequestFactory

from desk.web import errors

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("what the engine says when it is away")]


@contextmanager
def held_database():
    """Another writer has the database, and we wait for it for a moment instead of the twenty seconds of the house."""
    name = connection.settings_dict["NAME"]
    on_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as ours:
        ours.execute("PRAGMA busy_timeout = 50" if on_sqlite else "SET lock_timeout = '50ms'")
    if on_sqlite:
        other = sqlite3.connect(name, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
    else:
        other = psycopg.connect(
            os.environ["DATABASE_URL"].rsplit("/", 1)[0].replace("postgres:", "postgresql:", 1) + f"/{name}"
        )
        other.execute("LOCK TABLE exchange_ops_freeze IN ACCESS EXCLUSIVE MODE")
    try:
        yield
    finally:
        other.rollback()
        other.close()
        with connection.cursor() as ours:
            ours.execute("PRAGMA busy_timeout = 20000" if on_sqlite else "SET lock_timeout = 0")


@pytest.fixture
def client(treasury):
    signed_in = Client(raise_request_exception=False)
    signed_in.force_login(treasury)
    return signed_in


def test_a_decision_that_could_not_be_recorded_says_where_to_look_before_it_is_repeated(client, account):
    with held_database():
        response = client.post("/policy/freeze/", {"reason": "something is odd"})
    page = response.content.decode()
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert "Nothing was sent by this request itself" in page
    assert "before you submit it again" in page
    assert response["X-Request-ID"] in page
    again = client.post("/policy/freeze/", {"reason": "something is odd"})
    assert again.status_code == 302


def test_a_program_gets_the_same_in_its_own_shape():
    error = answer_to(locked(), method="get", path="/api/v1/withdrawals/")
    assert error.status_code == 503
    assert b"No money moved" in error.content
    assert error["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (sqlite3.SQLITE_BUSY, 503),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, 503),
        (sqlite3.SQLITE_FULL, 503),
        (sqlite3.SQLITE_IOERR_FSYNC, 503),
        (sqlite3.SQLITE_ERROR, 500),
    ],
)
def test_what_sqlite_says_of_itself_decides(code, status):
    assert answer_to(locked(code), method="post", path="/withdrawals/").status_code == status


def test_a_database_that_can_not_be_reached_is_away():
    assert answer_to(OperationalError("connection refused"), method="get", path="/").status_code == 503


def test_another_mistake_stays_a_mistake():
    assert answer_to(RuntimeError("database is locked"), method="get", path="/").status_code == 500


def locked(code=sqlite3.SQLITE_BUSY):
    cause = sqlite3.OperationalError("database is locked")
    cause.sqlite_errorcode = code
    problem = OperationalError("database is locked")
    problem.__cause__ = cause
    return problem


def answer_to(problem, *, method, path):
    try:
        raise problem
    except type(problem):
        return errors.server_error(getattr(RequestFactory(), method)(path))
