"""A role with networks of its own is used from those alone: on pages, at sign-in, by token and by socket."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
import websocket
from django.test import Client, RequestFactory

from desk import clock
from desk.models import AuditEvent, Person
from desk.people import tokens, totp
from desk.people.by_role import networks
from desk.rooms import Check, Health
from tests.desk.conftest import Browser, Open
from tests.desk.people.conftest import SECRET

INSIDE, OUTSIDE = "192.0.2.7", "203.0.113.9"
NOW = datetime(2026, 11, 20, 9, 0, 0, tzinfo=UTC)
TREASURY = {"treasury": [ip_network("192.0.2.0/24"), ip_network("2001:db8::/32")]}
Many = Callable[..., Any]


@pytest.fixture(autouse=True)
def restricted(settings: Any) -> None:
    settings.ROLE_NETWORKS = TREASURY


@pytest.fixture
def person(db: None, make_person: Many) -> Any:
    """Somebody who approves, and keeps people."""
    return make_person("treasury", "admin", username="both")


def refusals() -> list[tuple[str, str]]:
    """What the trail has of them: the way and the address, the newest first."""
    events = AuditEvent.objects.filter(action=networks.REFUSED).order_by("-seq")
    return [(event.after["way"], event.after["address"]) for event in events]


# The rule -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "address", "refusing"),
    [
        ({"treasury"}, INSIDE, []),
        ({"treasury"}, "2001:db8::1", []),
        ({"treasury"}, "::ffff:192.0.2.7", []),
        ({"treasury"}, OUTSIDE, ["treasury"]),
        ({"treasury"}, "2001:db9::1", ["treasury"]),
        ({"treasury"}, "", ["treasury"]),
        ({"treasury"}, "unknown", ["treasury"]),
        ({"operator", "auditor"}, OUTSIDE, []),
        (set(), OUTSIDE, []),
        ({"admin", "treasury"}, INSIDE, ["admin"]),
        ({"admin", "treasury"}, "198.51.100.1", ["treasury"]),
        ({"admin", "treasury"}, OUTSIDE, ["treasury", "admin"]),
    ],
)
def test_every_restricted_role_needs_the_address(settings: Any, names: Any, address: str, refusing: list[str]) -> None:
    settings.ROLE_NETWORKS = {**TREASURY, "admin": [ip_network("198.51.100.0/24")]}
    assert networks.refusing_roles(names, address) == refusing


def test_a_proxy_that_is_not_trusted_stands_for_anybody(settings: Any) -> None:
    headers = {"X-Forwarded-For": OUTSIDE}
    request = RequestFactory().get("/", REMOTE_ADDR=INSIDE, headers=headers)
    scope = {"client": (INSIDE, 1), "headers": [(b"x-forwarded-for", OUTSIDE.encode())]}
    assert networks.address_of(request) == networks.address_of_handshake(scope) == ""
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    assert networks.address_of(request) == networks.address_of_handshake(scope) == INSIDE


def test_a_role_for_some_time_counts_until_its_end(person: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)
    person.grants_until, person.grants_after = NOW + timedelta(hours=1), ["operator"]
    assert networks.refusal(person, address=OUTSIDE, way=networks.PAGE, now=NOW)
    monkeypatch.setattr(clock, "now", lambda: NOW + timedelta(hours=1))
    assert not networks.refusal(person, address=OUTSIDE, way=networks.PAGE, now=NOW)


def test_a_flood_does_not_fill_the_trail(person: Any) -> None:
    def refuse(address: str, way: str = networks.PAGE, at: datetime = NOW) -> None:
        assert networks.refusal(person, address=address, way=way, now=at)

    for _ in range(3):
        refuse(OUTSIDE)
    assert refusals() == [("session", OUTSIDE)]
    refuse(OUTSIDE, networks.TOKEN)
    refuse(OUTSIDE, at=NOW + timedelta(hours=1, seconds=1))
    assert refusals() == [("session", OUTSIDE), ("API token", OUTSIDE), ("session", OUTSIDE)]
    for number in range(30):
        refuse(f"198.51.100.{number}", at=NOW + timedelta(hours=3))
    assert len(refusals()) == 3 + networks.MOST_RECORDED


# Where it is asked ----------------------------------------------------------------------------------------------------


def test_a_session_reaches_sign_out_alone_from_elsewhere(client: Client, person: Person) -> None:
    client.force_login(person)
    assert client.get("/", REMOTE_ADDR=INSIDE).status_code == 200
    for path in ("/", "/account/second-factor/", "/withdrawals/"):
        assert client.get(path, REMOTE_ADDR=OUTSIDE).status_code == 403, path
    page = client.get("/", REMOTE_ADDR=OUTSIDE).content.decode()
    for part in ("No changes made", "Your treasury role can&#x27;t be used", OUTSIDE, "ask whoever runs", "/sign-out/"):
        assert part in page
    assert "/withdrawals/" not in page
    assert client.get("/api/v1/withdrawals/", REMOTE_ADDR=OUTSIDE).json()["status"] == 403
    assert client.get("/healthz", REMOTE_ADDR=OUTSIDE).status_code == 200
    event = AuditEvent.objects.get(action=networks.REFUSED)
    assert (event.actor, event.subject) == (None, f"person:{person.pk}")
    assert event.after == {"address": OUTSIDE, "roles": ["treasury"], "way": "session"}
    assert client.post("/sign-out/", REMOTE_ADDR=OUTSIDE)["Location"] == "/sign-in/"
    assert client.get("/", REMOTE_ADDR=OUTSIDE).status_code == 302


def test_the_checks_name_nothing_to_a_session_from_elsewhere(
    client: Client, person: Person, another_room: Many
) -> None:
    late = Health(ok=False, sentence="Main desk is behind")
    another_room(checks={"ledger": Check(lambda: late)}, scopes=lambda: [("1", "Main desk")])
    client.force_login(person)
    said = [client.get("/readyz", REMOTE_ADDR=peer).json()["checks"]["ledger"] for peer in (INSIDE, OUTSIDE)]
    assert [one["sentence"] for one in said] == [late.sentence, late.anonymous]


def test_the_right_factors_let_nobody_in_from_elsewhere(
    settings: Any, treasury: Person, operator: Person, password: str
) -> None:
    def sign_in(person: Person, address: str) -> tuple[int, bool, str]:
        visitor = Client(REMOTE_ADDR=address)
        answer = visitor.post("/sign-in/", {"login": person.username, "password": password})
        if settings.SIGN_IN_SECOND_FACTOR:
            code = totp.code_at(SECRET, totp.step_at(clock.now()))
            answer = visitor.post("/sign-in/second-factor/", {"code": code})
        return answer.status_code, "_auth_user_id" in visitor.session, answer.content.decode()

    assert sign_in(treasury, INSIDE)[:2] == (302, True)
    assert sign_in(operator, OUTSIDE)[:2] == (302, True)
    status, is_in, page = sign_in(treasury, OUTSIDE)
    assert (status, is_in) == (403, False)
    assert "Your treasury role can&#x27;t be used" in page
    assert "/sign-out/" not in page
    assert refusals() == [("sign-in", OUTSIDE)]
    settings.SIGN_IN_SECOND_FACTOR = True
    totp.enrol(treasury, SECRET)
    assert sign_in(treasury, OUTSIDE)[:2] == (403, False)


def test_a_token_is_refused_from_elsewhere_and_says_why(client: Client, treasury: Person) -> None:
    _, secret = tokens.create(person=treasury, name="reports", now=clock.now())
    header = {"Authorization": f"Bearer {secret.reveal()}"}
    assert client.get("/api/v1/withdrawals/", headers=header, REMOTE_ADDR=INSIDE).status_code == 200
    answer = client.get("/api/v1/withdrawals/", headers=header, REMOTE_ADDR=OUTSIDE)
    assert (answer.status_code, answer["Content-Type"]) == (403, "application/problem+json")
    assert answer.json()["detail"].startswith("No changes made. Your treasury role can't be used from this network.")
    assert refusals() == [("API token", OUTSIDE)]


@pytest.fixture
def behind_a_proxy(settings: Any) -> None:
    """The test is a proxy that the server trusts; ask for it before `live_desk`, which reads it at its start."""
    settings.TRUSTED_PROXIES = ["127.0.0.1"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("rooms")
def test_a_socket_does_not_open_from_elsewhere(
    behind_a_proxy: None, live_desk: Any, open_socket: Open, treasury: Person, operator: Person
) -> None:
    _, secret = tokens.create(person=treasury, name="feed", now=clock.now())
    bearer = f"Authorization: Bearer {secret.reveal()}"
    inside, outside = f"X-Forwarded-For: {INSIDE}", f"X-Forwarded-For: {OUTSIDE}"
    for opening in (
        lambda: open_socket(treasury, header=[outside]),
        lambda: Browser(live_desk, "", header=[outside, bearer], suppress_origin=True),
    ):
        with pytest.raises(websocket.WebSocketBadStatusException) as refused:
            opening()
        assert refused.value.status_code == 403
        assert f"The desk sees your address as {OUTSIDE}".encode() in (refused.value.resp_body or b"")
    assert refusals() == [("socket", OUTSIDE)]
    assert open_socket(operator, header=[outside]).say(follow=["open:1"])["followed"] == ["open:1"]
    assert open_socket(treasury, header=[inside]).say(follow=["vault"])["followed"] == ["vault"]
