"""The pages of watched addresses: empty and filled, what a form refuses, and who is offered what."""

import pytest

from chaindata.cache import service as ways
from chaindata.watching import reading, views
from chaindata.watching.models import ChainMovement, WatchedAddress
from desk import clock
from tests.chaindata.views import rows
from tests.chaindata.views.rows import NOW, OURS
from tests.chaindata.views.test_token_pages import text_of

pytestmark = pytest.mark.django_db
WORDS = {"address": OURS.legacy_address, "title": "Vault 2", "purpose": "reserve", "note": "In the safe"}


@pytest.fixture(autouse=True)
def _at_noon(monkeypatch):
    monkeypatch.setattr(views.clock, "now", lambda: NOW)


@pytest.fixture
def treasury(make_person, signed_in):
    return signed_in(make_person("treasury", username="keeper"))


@pytest.fixture
def watched(ledger, treasury):
    rows.tip(20, at=NOW)
    answer = treasury.post("/chain/watched/new/", WORDS)
    return answer["Location"]


def test_an_empty_list_says_what_would_stand_there(treasury, auditor, signed_in):
    assert "Add the first one" in text_of(treasury.get("/chain/watched/"))
    assert "Treasury and administrators manage" in text_of(signed_in(auditor).get("/chain/watched/"))


def test_an_address_of_a_link_is_filled_in_and_any_form_is_taken(treasury, watched):
    page = treasury.get(f"/chain/watched/new/?address={OURS.cash_address}").content.decode()
    assert f'value="{OURS.cash_address}"' in page
    row = WatchedAddress.objects.get()
    assert (watched, row.address) == (f"/chain/watched/{row.pk}/", OURS.cash_address)
    text = text_of(treasury.get("/chain/watched/"))
    assert "Vault 2" in text
    assert "Own reserve (cold storage)" in text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"address": "nonsense"}, "address"), ({"title": ""}, "required"), ({"purpose": "theirs"}, "valid choice")],
)
def test_a_form_that_is_wrong_says_so_and_watches_nothing(ledger, treasury, changes, sentence):
    rows.tip(20, at=NOW)
    answer = treasury.post("/chain/watched/new/", WORDS | changes)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert not WatchedAddress.objects.exists()


def test_the_same_address_again_is_refused_with_its_name(treasury, watched):
    answer = treasury.post("/chain/watched/new/", WORDS | {"title": "Again"})
    assert answer.status_code == 409
    assert "already watched as Vault 2" in text_of(answer)


def test_a_movement_is_read_reviewed_and_kept_with_its_reason(ledger, treasury, watched):
    assert "No movements since block 20" in text_of(treasury.get(watched))
    ledger.came(1, height=21, spends=True)
    reading.read(now=NOW, open_client=ways.open_client)
    text = text_of(treasury.get(watched))
    assert "outgoing" in text
    movement = ChainMovement.objects.get()
    assert treasury.post(f"{watched}review/", {"movement": movement.pk}).status_code == 422
    answer = treasury.post(f"{watched}review/", {"movement": movement.pk, "reason": "Rebalanced."})
    assert answer["Location"] == watched
    text = text_of(treasury.get(watched))
    assert "Rebalanced." in text
    assert "keeper" in text
    again = treasury.post(f"{watched}review/", {"movement": movement.pk, "reason": "Again."})
    assert (again.status_code, "Already reviewed" in text_of(again)) == (409, True)


def test_who_may_not_act_is_offered_nothing(ledger, watched, auditor, signed_in):
    ledger.came(1, height=21)
    reading.read(now=NOW, open_client=ways.open_client)
    page = signed_in(auditor).get(watched).content.decode()
    assert "To review" in page
    assert "<textarea" not in page


def test_a_part_of_a_page_comes_alone(treasury, watched):
    part = treasury.get(watched, headers={"HX-Request": "true", "HX-Target": "movements"}).content.decode()
    assert part.lstrip().startswith('<section class="panel c-top" id="movements"')
    assert clock.now() == NOW


def test_the_list_takes_as_many_queries_for_three_rows_as_for_one(treasury, watched, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as one:
        treasury.get("/chain/watched/")
    for number in (1, 2):
        first = WatchedAddress.objects.get(title="Vault 2")
        WatchedAddress.objects.create(
            address=f"x{number}",
            title=f"T{number}",
            purpose="other",
            added_by=first.added_by,
            from_height=1,
            settled_height=1,
            state="watched",
            created_at=NOW,
            updated_at=NOW,
        )
    with django_assert_num_queries(len(one)):
        treasury.get("/chain/watched/")
