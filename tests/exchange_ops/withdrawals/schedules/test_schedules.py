"""Setting a schedule up, its preview and pages, skipping and ending, and who may."""

from datetime import timedelta

import pytest

from desk import clock, rooms
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.schedules import book, requesting
from exchange_ops.withdrawals.schedules.models import PayoutOccurrence, PayoutSchedule
from tests.exchange_ops.withdrawals.schedules import plans

pytestmark = pytest.mark.django_db


def fields(**changes):
    first = (clock.now() + timedelta(days=1)).date()
    typed = {"repeats": "monthly:0", "first_on": first.isoformat(), "time_of_day": "09:30", "planned": "3"}
    return {**typed, "every": "", "last_on": "", "request_key": plans.KEY, **changes}


def test_a_form_is_previewed_and_then_sets_up_one_schedule(operator, payable, signed_in):
    template, client = plans.template(operator), signed_in(operator)
    address = f"/withdrawals/templates/{template.pk}/schedule/"
    assert f'href="{address}"' in client.get("/withdrawals/templates/").content.decode()
    assert client.get(address).status_code == 200
    preview = client.post(address, fields()).content.decode()
    assert "On the last day of each month at 09:30 UTC" in preview
    assert "needs its approvals by others" in preview
    assert not PayoutSchedule.objects.exists()
    edited = client.post(address, fields(step="edit"))
    assert 'value="09:30"' in edited.content.decode()
    for _ in range(2):
        answer = client.post(address, fields(step="confirm"))
    row = PayoutSchedule.objects.get()
    assert answer["Location"] == f"/withdrawals/schedules/{row.pk}/"
    assert (row.frequency, row.step, row.planned, row.person) == ("monthly", 0, 3, operator)
    assert Withdrawal.objects.filter(initiated_via="schedule").count() == 0
    other = client.post(address, fields(step="confirm", planned="4"))
    assert (other.status_code, f"differently, as {row.reference}" in other.content.decode()) == (422, True)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"repeats": ""}, "Choose how often the payout repeats."),
        ({"repeats": "days:"}, "Enter the number of days between payouts."),
        ({"every": "3"}, "Leave this empty unless"),
        ({"planned": ""}, "Enter a last day or a number of payouts."),
        ({"last_on": "2099-01-01"}, "Enter only one of last day and number of payouts."),
        ({"planned": "", "last_on": "2020-01-01"}, "No payout would be due by then"),
        ({"planned": "", "last_on": "2099-01-01"}, "at most 120 payouts"),
        ({"planned": "40"}, "at most 24 months after the first"),
        ({"planned": "121"}, "less than or equal to 120"),
        ({"first_on": "2020-01-31"}, "which has passed"),
        ({"first_on": "2090-01-31"}, "within 12 months"),
        ({"time_of_day": "25:00"}, "Enter a time such as 09:00."),
        ({"first_on": "tomorrow"}, "Enter a valid date."),
    ],
)
def test_dates_that_make_no_sense_are_named_and_nothing_is_set_up(operator, payable, signed_in, changes, sentence):
    template = plans.template(operator)
    for step in ("check", "confirm"):
        answer = signed_in(operator).post(
            f"/withdrawals/templates/{template.pk}/schedule/", fields(step=step, **changes)
        )
        assert answer.status_code == 422
        assert sentence in answer.content.decode()
    assert not PayoutSchedule.objects.exists()


def test_the_pages_name_what_became_of_each_payout(operator, auditor, payable, signed_in):
    row = plans.due(operator, first=timedelta(days=-7, hours=-1))
    requesting.sweep(now=clock.now())
    payout, client = Withdrawal.objects.get(initiated_via="schedule"), signed_in(auditor)
    page = client.get(f"/withdrawals/schedules/{row.pk}/").content.decode()
    assert f'href="/withdrawals/{payout.pk}/"' in page
    assert "Countersign did not request it within 24 hours" in page
    assert ("End schedule" in page, "Skip the payout" in page) == (False, False)
    assert f'href="/withdrawals/schedules/{row.pk}/"' in client.get("/withdrawals/schedules/").content.decode()
    detail = client.get(f"/withdrawals/{payout.pk}/").content.decode()
    assert f">{row.reference}</a>,\n      payout 2 of 3" in detail
    assert row.reference in client.get("/withdrawals/schedules/?state=active&text=ren").content.decode()
    assert "No schedules match" in client.get("/withdrawals/schedules/?state=ended").content.decode()


def test_a_template_that_is_removed_names_the_schedules_that_stop(operator, payable, signed_in):
    row, client = plans.due(operator), signed_in(operator)
    assert f'href="/withdrawals/schedules/{row.pk}/"' in client.get(f"/search/?q={row.reference}").content.decode()
    page = client.post(f"/withdrawals/templates/{row.template_id}/remove/", follow=True).content.decode()
    assert f"Nothing more is requested for {row.reference}." in page
    assert (
        "As things stand, the next payout will not be requested."
        in client.get(f"/withdrawals/schedules/{row.pk}/").content.decode()
    )


def test_the_next_payout_is_skipped_once_and_the_schedule_ended(operator, treasury, payable, signed_in):
    row = plans.due(operator)
    address = f"/withdrawals/schedules/{row.pk}/"
    client = signed_in(treasury)
    assert client.post(f"{address}skip/", {"number": "1"}).status_code == 302
    assert client.post(f"{address}skip/", {"number": "1"}).status_code == 409
    assert requesting.sweep(now=clock.now()) == 0
    assert PayoutOccurrence.objects.get().person == treasury
    assert client.post(f"{address}end/", {"end-reason": ""}).status_code == 422
    assert client.post(f"{address}end/", {"end-reason": "Moved"}).status_code == 302
    assert requesting.sweep(now=clock.now() + timedelta(days=8)) == 0
    again = client.post(f"{address}end/", {"end-reason": "Moved"})
    assert (again.status_code, "is ended already" in again.content.decode()) == (409, True)
    assert "Moved" in client.get(address).content.decode()


def test_others_change_no_schedule(operator, make_person, payable, signed_in):
    row = plans.due(operator)
    for person in (make_person("auditor", username="ada"), make_person("admin", username="adam")):
        for act in (
            lambda who: book.skip(row.pk, number=1, person=who, now=clock.now()),
            lambda who: book.end(row.pk, reason="No", person=who, now=clock.now()),
            lambda who: book.set_up(row.template, rhythm=row.rhythm, request_key="k", person=who, now=row.at),
        ):
            with pytest.raises(book.CannotSchedule, match="Only operators"):
                act(person)
    other = Account.objects.create(name="Another desk", quote_currency="USD")
    client = signed_in(make_person("operator", username="olga", limits=f"operator:{other.pk}"))
    assert row.reference not in client.get("/withdrawals/schedules/").content.decode()
    assert client.get(f"/withdrawals/schedules/{row.pk}/").status_code == 404
    for path in ("skip/", "end/"):
        assert client.post(f"/withdrawals/schedules/{row.pk}/{path}").status_code in {403, 404}
    assert client.get(f"/withdrawals/templates/{row.template_id}/schedule/").status_code == 404


def test_the_page_of_who_leaves_names_their_schedules(operator, payable):
    row = plans.due(operator)
    assert row.reference in [work.reference for work in rooms.open_work(operator)]
    book.end(row.pk, reason="Moved", person=operator, now=clock.now())
    assert not rooms.open_work(operator)
