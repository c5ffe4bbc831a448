"""Every request has an id that is safe to repeat, and one line without its query."""

import re
from typing import Any

import pytest
import structlog
from django.test import Client
from structlog.testing import capture_logs

from desk.processes import request_ids

pytestmark = pytest.mark.django_db


def test_a_given_id_goes_through_and_an_odd_one_is_replaced(client: Client) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": "abc-123-def"})["X-Request-ID"] == "abc-123-def"
    for odd in ("", "short", "x" * 65, "with space in it", "a\tb-and-more", "<script>alert(1)</script>", "é" * 10):
        answered = client.get("/healthz", headers={"X-Request-ID": odd})["X-Request-ID"]
        assert re.fullmatch("[0-9a-f]{32}", answered), odd


def test_ids_differ_and_end_with_the_request(client: Client) -> None:
    ids = {client.get("/healthz")["X-Request-ID"] for _ in range(20)}
    assert len(ids) == 20
    assert request_ids.current_id() == ""


def test_a_request_leaves_one_line_without_its_query(client: Client) -> None:
    with capture_logs() as lines:
        client.get("/sign-in/?token=hunter2&next=/keys/")
    rows = [line for line in lines if line["event"] == "request"]
    assert [(line["method"], line["path"], line["status"]) for line in rows] == [("GET", "/sign-in/", 200)]
    assert "hunter2" not in str(lines)


def test_the_line_names_the_person(client: Client, operator: Any) -> None:
    client.force_login(operator)
    with capture_logs() as lines:
        client.get("/account/second-factor/")
    assert [line["person"] for line in lines if line["event"] == "request"] == [operator.pk]


def test_checks_of_liveness_leave_no_line(client: Client) -> None:
    structlog.get_logger("test")
    with capture_logs() as lines:
        client.get("/healthz")
    assert lines == []
