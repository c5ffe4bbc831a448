"""Payout templates: saved from a payout, filled into the form of the next one, and nothing requested by them."""

from decimal import Decimal

import pytest
from django.db import DatabaseError, transaction

from desk import audit_check, clock
from desk.audit import words
from desk.models import AuditEvent
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.templates import book
from exchange_ops.withdrawals.templates.models import PayoutTemplate, PayoutTemplateEnd
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(operator, payable):
    return rows.held(operator, now=clock.now())


def saved(row, person, name="Rent"):
    return book.save(row, name=name, person=person, now=clock.now())


def test_a_payout_saved_as_a_template_fills_the_form_and_requests_nothing(row, operator, signed_in):
    client = signed_in(operator)
    assert f"/withdrawals/{row.pk}/template/" in client.get(f"/withdrawals/{row.pk}/").content.decode()
    assert client.get(f"/withdrawals/{row.pk}/template/").status_code == 200
    empty = client.post(f"/withdrawals/{row.pk}/template/", {"name": " "})
    assert (empty.status_code, "Enter a name." in empty.content.decode()) == (422, True)
    answer = client.post(f"/withdrawals/{row.pk}/template/", {"name": " Rent "})
    assert answer["Location"] == "/withdrawals/templates/"
    template = PayoutTemplate.objects.get()
    assert template.name == "Rent"
    page = client.get("/withdrawals/templates/").content.decode()
    assert f'href="/withdrawals/templates/{template.pk}/"' in page
    form = client.get(f"/withdrawals/templates/{template.pk}/", follow=True)
    assert "Filled in from the template <b><bdi>Rent</bdi></b>" in form.content.decode()
    initial = form.context["form"].initial
    assert (initial["currency"], initial["address"], initial["reason"]) == (row.currency, row.address, row.reason)
    assert Decimal(initial["amount"]) == row.amount
    assert Withdrawal.objects.count() == 1
    events = list(AuditEvent.objects.filter(subject=f"payout_template:{template.pk}"))
    assert words.telling(events).sentence(events[0]) == f"operator saved payout template PT-{template.pk}: Rent."
    assert events[0].after["payout"] == row.reference


def test_a_removed_template_is_offered_no_more(row, operator, signed_in):
    template, client = saved(row, operator), signed_in(operator)
    assert client.post(f"/withdrawals/templates/{template.pk}/remove/")["Location"] == "/withdrawals/templates/"
    assert "<bdi>Rent</bdi>" not in client.get("/withdrawals/templates/").content.decode().partition("<table")[2]
    assert client.get(f"/withdrawals/templates/{template.pk}/").status_code == 404
    assert "Filled in from" not in client.get(f"/withdrawals/new/?template={template.pk}").content.decode()
    with pytest.raises(book.CannotSave, match="removed already"):
        book.remove(template.pk, person=operator, now=clock.now())
    assert saved(row, operator).name == "Rent", "its name is free again"


def test_names_are_needed_visible_and_used_once(row, operator, monkeypatch):
    saved(row, operator)
    for name, reason in (
        ("", "Enter a name"),
        ("x" * 81, "up to 80"),
        ("a\u200bb", "visible characters"),
        ("RENT", "RENT exists already"),
    ):
        with pytest.raises(book.CannotSave, match=reason):
            saved(row, operator, name)
    monkeypatch.setattr(book, "MOST", 1)
    with pytest.raises(book.CannotSave, match="1 templates are the most"):
        saved(row, operator, "Wages")
    assert PayoutTemplate.objects.count() == 1


def test_who_does_not_request_on_the_account_changes_no_template(row, operator, treasury, make_person, signed_in):
    template = saved(row, operator)
    for person in (treasury, make_person("auditor", username="ada")):
        with pytest.raises(book.CannotSave, match="Only operators"):
            saved(row, person, "Wages")
        with pytest.raises(book.CannotSave, match="Only operators"):
            book.remove(template.pk, person=person, now=clock.now())
        page = signed_in(person).get("/withdrawals/templates/").content.decode()
        assert ("Rent" in page, "Fill in form" in page, ">Remove<" in page) == (True, False, False)
        assert "Save as template" not in signed_in(person).get(f"/withdrawals/{row.pk}/").content.decode()
    assert not PayoutTemplateEnd.objects.exists()


def test_a_template_of_another_account_is_neither_shown_nor_filled_in(row, operator, make_person, signed_in):
    template = saved(row, operator)
    other = Account.objects.create(name="Another desk", quote_currency="USD")
    client = signed_in(make_person("operator", username="olga", limits=f"operator:{other.pk}"))
    assert "Rent" not in client.get("/withdrawals/templates/").content.decode()
    assert client.get(f"/withdrawals/templates/{template.pk}/").status_code == 404
    assert client.post(f"/withdrawals/templates/{template.pk}/remove/").status_code in {403, 404}
    assert not PayoutTemplateEnd.objects.exists()


def test_a_stored_template_never_changes(row, operator):
    template = saved(row, operator)
    for change in (lambda: PayoutTemplate.objects.update(address="another"), template.delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    assert not [line for line in audit_check.verify(replay=True) if "template" in line]
