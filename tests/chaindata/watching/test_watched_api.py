"""Watched addresses for programs: the same rules as the pages, and the same sentences."""

import json
import uuid

import pytest

from chaindata.watching import states
from chaindata.watching.machine import MOVEMENTS
from chaindata.watching.models import ChainMovement, WatchedAddress
from desk import clock
from desk.models import AuditEvent
from desk.people import tokens
from tests.chaindata.views import rows
from tests.chaindata.views.rows import OURS, THEIRS

pytestmark = pytest.mark.django_db
PATH = "/api/v1/chain/watched/"
VAULT = {"address": OURS.legacy_address, "title": "Vault", "purpose": "reserve", "note": "Floor 2"}


@pytest.fixture(autouse=True)
def _chain(settings):
    settings.CHAIN_NETWORKS = ("test", "regtest")
    rows.tip(20, at=clock.now())


@pytest.fixture
def program(make_person, client):
    """`program("treasury")`: a client with a token of somebody of this role."""

    def of(role, **options):
        person = make_person(role, username=f"{role}-{uuid.uuid4().hex[:6]}")
        _, secret = tokens.create(person=person, name="watch", now=clock.now(), **options)
        return type(client)(HTTP_AUTHORIZATION=f"Bearer {secret.reveal()}")

    return of


def send(program, path, content, key=None):
    headers = {"HTTP_IDEMPOTENCY_KEY": key or str(uuid.uuid4())}
    return program.post(path, json.dumps(content), content_type="application/json", **headers)


def moved(row, number, change_sat):
    found = ChainMovement(
        watched=row, txid=rows.h(number, "e"), change_sat=change_sat, spends=change_sat < 0, height=21
    )
    return MOVEMENTS.create(found, event="seen", now=clock.now())


def test_an_address_is_added_in_any_form_and_read_by_everybody(program):
    added = send(program("treasury"), PATH, VAULT)
    assert added.status_code == 201
    body = added.json()
    assert (body["address"], body["state"], body["from_height"], body["waiting"]) == (
        OURS.cash_address,
        "watched",
        20,
        0,
    )
    for role in ("auditor", "operator", "admin"):
        reader = program(role, scope="read")
        assert [one["id"] for one in reader.get(PATH).json()["items"]] == [body["id"]]
        assert reader.get(f"{PATH}{body['id']}/").json() == body
    assert AuditEvent.objects.filter(subject=f"watched-address:{body['id']}").exists()


@pytest.mark.parametrize("role", ["operator", "auditor"])
def test_who_may_not_add_or_end_on_the_pages_may_not_here(program, role):
    refused = send(program(role), PATH, VAULT)
    assert refused.status_code == 403
    assert refused.json()["detail"].startswith("No changes made. Only treasury and administrators")
    row = WatchedAddress.objects.get(pk=send(program("admin"), PATH, VAULT).json()["id"])
    assert send(program(role), f"{PATH}{row.pk}/stop/", {"reason": "Sold"}).status_code == 403
    row.refresh_from_db()
    assert row.state == states.WATCHED


def test_a_token_that_reads_adds_nothing(program):
    assert send(program("treasury", scope="read"), PATH, VAULT).status_code == 403
    assert not WatchedAddress.objects.exists()


def test_the_same_key_adds_once_and_refusals_name_what_is_wrong(program):
    keeper = program("treasury")
    first, again = (send(keeper, PATH, VAULT, key="vault-2041").json() for _ in range(2))
    assert first == again
    twice = send(keeper, PATH, VAULT)
    assert (twice.status_code, twice.json()["detail"]) == (
        422,
        "No changes made. This address is already watched as Vault.",
    )
    odd = send(keeper, PATH, VAULT | {"address": "nowhere"})
    assert (odd.status_code, set(odd.json()["errors"])) == (422, {"address"})
    assert WatchedAddress.objects.count() == 1


def test_without_a_current_tip_nothing_is_added(program):
    rows.tip(20, at=clock.now().replace(year=2020))
    refused = send(program("treasury"), PATH, VAULT)
    assert refused.status_code == 422
    assert "No chain data at the moment" in refused.json()["detail"]


def test_watching_ends_with_a_reason_once(program):
    keeper = program("treasury")
    path = f"{PATH}{send(keeper, PATH, VAULT).json()['id']}/stop/"
    assert send(keeper, path, {}).status_code == 400
    ended = send(keeper, path, {"reason": "Sold"}).json()
    assert (ended["state"], ended["reason"]) == ("stopped", "Sold")
    assert (
        send(keeper, path, {"reason": "Sold"}).json()["detail"] == "No changes made. This address is no longer watched."
    )


def test_movements_are_listed_and_reviewed(program):
    pk = send(program("treasury"), PATH, VAULT).json()["id"]
    row = WatchedAddress.objects.get(pk=pk)
    came, went = moved(row, 1, 100), moved(row, 2, -40)
    moved(row, 3, 7)
    worker, path = program("operator"), f"{PATH}{pk}/review/"
    listed = worker.get(f"{PATH}{pk}/movements/").json()
    assert [one["change_sat"] for one in listed["items"]] == [7, -40, 100]
    assert {one["reviewer"] for one in listed["items"]} == {None}
    assert send(program("auditor"), path, {"reason": "Ours"}).status_code == 403
    assert send(worker, path, {"movement": went.pk, "reason": "Paid a bill"}).json() == {"reviewed": 1, "waiting": 2}
    assert send(worker, path, {"reason": "Mining"}).json() == {"reviewed": 2, "waiting": 0}
    assert send(worker, path, {"movement": came.pk, "reason": "Again"}).status_code == 422
    first = worker.get(f"{PATH}{pk}/movements/").json()["items"][-1]
    assert (first["state"], first["reason"], first["reviewer"][:8]) == ("reviewed", "Mining", "operator")


def test_a_movement_of_another_address_is_not_reviewed_here(program):
    keeper = program("treasury")
    mine, other = (send(keeper, PATH, VAULT | {"address": each.cash_address}).json()["id"] for each in (OURS, THEIRS))
    elsewhere = moved(WatchedAddress.objects.get(pk=other), 1, -5)
    assert send(keeper, f"{PATH}{mine}/review/", {"movement": elsewhere.pk, "reason": "x"}).status_code == 422
    elsewhere.refresh_from_db()
    assert elsewhere.state == states.TO_REVIEW


def test_what_there_is_not_is_a_404(program):
    keeper = program("treasury")
    for path in ("99/", "99/movements/"):
        assert keeper.get(PATH + path).status_code == 404
    for path in ("99/stop/", "99/review/"):
        assert send(keeper, PATH + path, {"reason": "x"}).status_code == 404
