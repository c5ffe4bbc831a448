"""The page of one's own settings, and that every page, and nothing else, is drawn by them."""

import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.models import Person
from desk.people import demo, tokens
from desk.personal.models import PersonalSettings
from exchange_ops.ledger.models import Balance
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db

PAGE = "/account/settings/"
USUAL = {
    "zone": "UTC",
    "grouping": "comma",
    "density": "comfortable",
    "theme": "",
    "quote_currency": "",
    "start_page": "",
}
TOKYO = USUAL | {
    "zone": "Asia/Tokyo",
    "grouping": "space",
    "density": "compact",
    "theme": "dark",
    "start_page": "ledger",
}
AT = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)


def head_of(page):
    return re.sub(r"\s*\n\s*", " ", page.split("<head")[0])


def test_the_page_keeps_what_was_chosen_for_its_person_alone(signed_in, operator, treasury):
    client = signed_in(operator)
    client.cookies["theme"] = "light"
    kept = client.post(PAGE, TOKYO, follow=True)
    page = kept.content.decode()
    assert "Settings saved." in page
    assert 'data-theme="dark" data-density="compact"' in head_of(page), "the button's choice ends with the saved one"
    assert 'data-zone="Asia/Tokyo" data-mark="\u202f"' in head_of(page)
    assert "UTC+9" in page
    assert "Tokyo time" in page
    row = PersonalSettings.objects.get()
    assert {name: getattr(row, name) for name in TOKYO} == TOKYO
    assert "data-zone" not in signed_in(treasury).get(PAGE).content.decode()
    client.cookies["theme"] = "light"
    assert 'data-theme="light"' in head_of(client.get("/").content.decode()), "this device alone"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"zone": "../../etc/passwd"}, "zone"),
        ({"grouping": "1.234,5"}, "grouping"),
        ({"density": '"><script>'}, "density"),
        ({"theme": "pink"}, "theme"),
        ({"quote_currency": "DOUBLOON"}, "quote_currency"),
        ({"start_page": "keys"}, "start_page"),  # a page that an operator can't open
        ({"start_page": "account_logout"}, "start_page"),
        ({"start_page": "https://evil.example/"}, "start_page"),
    ],
)
def test_odd_settings_change_nothing(signed_in, operator, change, named):
    answer = signed_in(operator).post(PAGE, USUAL | change)
    assert answer.status_code == 422
    assert f'id="id_{named}-wrong"' in answer.content.decode()
    assert not PersonalSettings.objects.exists()


def test_hours_and_figures_are_drawn_for_the_person_and_amounts_for_programs_stay_exact(signed_in, operator, payable):
    row = rows.held(operator, now=AT, amount=Decimal("1234.5"))
    PersonalSettings.objects.create(person=operator, zone="Asia/Tokyo", grouping="apostrophe")
    client = signed_in(operator)
    listed = client.get("/withdrawals/").content.decode()
    assert "2026-11-21 08:30" in listed
    assert re.search(r"Requested \(Tokyo time\)", listed)
    assert "1\u2019234.5" in listed
    assert 'datetime="2026-11-20T23:30:00.000Z"' in listed
    part = client.get("/withdrawals/", headers={"HX-Request": "true", "HX-Target": "rows"}).content.decode()
    assert "2026-11-21 08:30" in part, "what a page reads again by itself too"
    exported = b"".join(client.get("/withdrawals/export.csv")).decode("utf-8-sig")
    assert "2026-11-21T08:30:00+09:00" in exported, "as the list shows it, with its offset"
    assert "1234.5" in exported
    found = client.get(f"/api/v1/withdrawals/{row.pk}/").json()
    assert found["created_at"].startswith("2026-11-20T23:30:00")
    assert Decimal(found["amount"]) == Decimal("1234.5")


def test_a_program_and_a_stranger_read_as_everybody_does(operator, payable):
    PersonalSettings.objects.create(person=operator, zone="Asia/Tokyo", theme="dark")
    rows.held(operator, now=AT)
    _, secret = tokens.create(person=operator, name="script", now=clock.now())
    answer = Client().get("/api/v1/withdrawals/", headers={"Authorization": f"Bearer {secret.reveal()}"})
    assert answer.status_code == 200
    assert "2026-11-20T23:30:00" in answer.content.decode()
    assert "data-zone" not in Client().get("/sign-in/").content.decode()


def test_a_page_costs_no_query_more_for_them(signed_in, operator, payable):
    client = signed_in(operator)
    client.get("/withdrawals/")

    def queries():
        with CaptureQueriesContext(connection) as found:
            client.get("/withdrawals/")
        return len(found)

    before = queries()
    PersonalSettings.objects.create(person=operator, zone="Asia/Tokyo", grouping="space", density="compact")
    assert queries() == before


def test_totals_are_valued_in_the_chosen_currency_and_rules_stay_in_the_accounts(signed_in, operator, payable):
    now = clock.now()
    Balance.objects.all().delete()
    rows.price("ETH", now=now, last="10")
    Balance.objects.create(
        account=Account.objects.get(), wallet="bank", currency="ETH", available=3, reserved=0, read_at=now
    )
    client = signed_in(operator)
    assert "30.00 USD" in client.get("/funds/").content.decode()
    assert client.post(PAGE, USUAL | {"quote_currency": "USD"}).status_code == 302
    PersonalSettings.objects.update(quote_currency="ETH")
    for path, head in {"/": "Total, ETH", "/funds/": "Value, ETH"}.items():
        page = client.get(path).content.decode()
        assert "3.00 ETH" in page
        assert head in page
    assert "USD" in client.get("/policy/").content.decode()
    assert client.get("/api/v1/funds/").json()["quote_currency"] == "USD"


def test_who_signs_in_begins_where_they_chose_as_long_as_they_may(make_person):
    person = make_person("operator", username="beginner")
    person.set_password(demo.DEMO_PASSWORD)
    person.save()

    def lands(path="/sign-in/"):
        answer = Client().post(path, {"login": "beginner", "password": demo.DEMO_PASSWORD})
        assert answer.status_code == 302
        return answer["Location"]

    assert lands() == "/"
    PersonalSettings.objects.create(person=person, start_page="ledger")
    assert lands() == "/ledger/"
    assert lands("/sign-in/?next=/orders/") == "/orders/", "what led to the door goes before it"
    PersonalSettings.objects.update(start_page="keys")
    assert lands() == "/", "a page of a role that was lost"
    PersonalSettings.objects.update(start_page="no-such-page")
    assert lands() == "/"


def test_somebody_erased_takes_their_settings_along(make_person):
    person = make_person("operator", username="leaver")
    PersonalSettings.objects.create(person=person)
    Person.objects.filter(pk=person.pk).delete()
    assert not PersonalSettings.objects.exists()
