"""The three addresses for machines: what they say, when they say it, and that they tell no secrets."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from desk import health
from desk.people import scopes
from desk.rooms import Check, Health

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_checks(one_room: Callable[..., None]) -> None:
    """Only the desk's own checks; what rooms declare is their own matter."""
    one_room(checks={"database": Check(health.database), "broker": Check(health.broker)})


def test_all_three_answer_without_a_sign_in(client: Client) -> None:
    assert client.get("/healthz").content == b"alive\n"
    assert client.get("/readyz").json() == {
        "ready": True,
        "checks": {
            "database": {"ok": True, "sentence": "The database is responding.", "age_s": None},
            "broker": {"ok": True, "sentence": "The broker is responding.", "age_s": None},
        },
    }
    assert client.get("/metrics")["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/metrics"])
def test_they_only_read(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405
    assert "no-store" in client.get(address)["Cache-Control"]


def test_a_dead_broker_is_said_so_and_the_process_is_still_alive(client: Client, settings: Any) -> None:
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["ready"] is False
    assert "The broker is not responding" in answer.json()["checks"]["broker"]["sentence"]
    assert client.get("/healthz").status_code == 200


def test_a_room_can_hold_readiness_back(client: Client, another_room: Callable[..., None]) -> None:
    late = Health(ok=False, sentence="A row of Main desk has waited 95 seconds.", age_s=95.0)
    another_room(checks={"oldest due row": Check(lambda: late)})
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["oldest due row"] == {
        "ok": False,
        "sentence": "Not healthy. Sign in for details.",
        "age_s": 95.0,
    }


def test_names_are_for_whom_may_see_them_and_counts_for_the_rest(
    client: Client, another_room: Callable[..., None], make_person: Callable[..., Any], signed_in: Callable[..., Client]
) -> None:
    late = Health(ok=False, sentence="Main desk is late.", public="OK for 1 of 2 accounts.")
    another_room(checks={"ledger": Check(lambda: late)}, scopes=lambda: [("1", "Main desk"), ("2", "Other")])

    def sentence(client: Client) -> str:
        return str(client.get("/readyz").json()["checks"]["ledger"]["sentence"])

    limited = make_person("treasury", username="limited")
    scopes.set_grants(limited, ["treasury:2"])
    assert sentence(client) == "OK for 1 of 2 accounts."
    assert sentence(signed_in(make_person(username="nobody"))) == "OK for 1 of 2 accounts."
    assert sentence(signed_in(limited)) == "OK for 1 of 2 accounts."
    assert sentence(signed_in(make_person("operator"))) == "Main desk is late."


def test_a_check_that_fails_is_unwell_and_leaks_nothing(client: Client, another_room: Callable[..., None]) -> None:
    def falls_over() -> Health:
        raise RuntimeError("password=hunter2")

    another_room(checks={"odd": Check(falls_over)})
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["odd"]["sentence"] == "The odd check itself failed (RuntimeError)."
    assert "hunter2" not in answer.content.decode() + client.get("/metrics").content.decode()


def test_figures_are_prometheus_text_with_every_check(client: Client, another_room: Callable[..., None]) -> None:
    another_room(checks={"follower": Check(lambda: Health(ok=True, sentence="It reads.", age_s=1.5))})
    client.get("/healthz")
    text = client.get("/metrics").content.decode()
    samples = {
        (sample.name, sample.labels.get("check")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["countersign_health_ok", "broker"] == 1.0
    assert samples["countersign_health_age_seconds", "follower"] == 1.5
    assert any(name == "countersign_request_seconds_count" for name, _ in samples)


def test_no_figures_repeat_secrets(client: Client) -> None:
    text = client.get("/metrics").content.decode() + client.get("/readyz").content.decode()
    for secret in (django_settings.SECRET_KEY, django_settings.REDIS_URL, django_settings.DATABASE_URL):
        assert secret not in text
