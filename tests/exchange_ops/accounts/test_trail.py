"""The page of the audit trail: who reads which events, by what they are filtered, and who can still approve."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.db import transaction

from desk import clock
from desk.actions import threads
from desk.audit import trail as audit
from desk.audit import words
from desk.incidents.models import Incident
from desk.models import AuditEvent, Person
from desk.people import trail_readers
from exchange_ops.ledger.models import LedgerAside
from exchange_ops.policy import freezes
from exchange_ops.withdrawals.decisions import approvals
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


def text(response):
    body = re.sub(r"<svg.*?</svg>", "", response.content.decode(), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def subjects(person):
    """The objects of the events that this person may read, without those of their own sign-in."""
    return {one for one in trail_readers.readable(person).values_list("subject", flat=True) if "person:" not in one}


def fresh(person):
    return Person.objects.get(pk=person.pk)


@pytest.fixture
def payouts(first, operator, limited):
    """Two payouts: one that somebody of treasury rejected, one that waits."""
    petra = limited("treasury", username="petra")
    ended, waiting = rows.held(operator, now=clock.now()), rows.held(operator, now=clock.now())
    approvals.reject(withdrawal_id=ended.pk, person=petra, reason="Wrong address", now=clock.now())
    threads.comment(subject=ended.subject, person=operator, text="Why?", request_key="c", now=clock.now())
    return petra, ended, waiting


# Who reads what -------------------------------------------------------------------------------------------------------


def test_treasury_reads_the_whole_trail_of_what_they_decided_and_of_nothing_else(payouts, limited):
    petra, ended, waiting = payouts
    assert subjects(petra) == {ended.subject, f"thread:{ended.subject}"}
    everything = AuditEvent.objects.filter(subject=ended.subject)
    assert trail_readers.readable(petra).filter(subject=ended.subject).count() == everything.count() > 3
    assert subjects(limited("treasury", username="paul")) == set()
    assert waiting.subject not in subjects(petra)


def test_operators_read_their_own_events_alone(payouts, operator):
    _, ended, waiting = payouts
    mine = trail_readers.readable(operator)
    assert {event.actor_id for event in mine} == {operator.pk}
    assert subjects(operator) == {ended.subject, waiting.subject, f"thread:{ended.subject}"}


def test_auditors_and_administrators_read_all(payouts, limited):
    count = AuditEvent.objects.count()
    for role in ("auditor", "admin"):
        assert trail_readers.readable(limited(role)).count() >= count


def test_somebody_of_one_account_reads_nothing_of_another(payouts, first, second, limited):
    """Not even what they did there themselves before their role was limited, and no comment on it."""
    petra, ended, _ = payouts
    Person.objects.filter(pk=petra.pk).update(limits=f" treasury:{second.pk} ")
    frozen = freezes.freeze(account=second, person=fresh(petra), reason="Look", now=clock.now())
    assert subjects(fresh(petra)) == {f"freeze:{frozen.pk}"}
    Person.objects.filter(pk=petra.pk).update(limits=f" treasury:{first.pk} ")
    assert subjects(fresh(petra)) == {ended.subject, f"thread:{ended.subject}"}


def test_an_auditor_of_one_account_reads_its_objects(payouts, first, second, limited):
    _, ended, waiting = payouts
    there, elsewhere = limited("auditor", first), limited("auditor", second)
    assert {ended.subject, waiting.subject} <= subjects(there)
    assert subjects(elsewhere) == set()


def test_an_auditor_of_one_account_reads_no_other_object_on_any_page(payouts, first, second, limited, signed_in):
    """Payouts, comments, incidents, findings on one, records of the ledger: on the page, in files, in the block."""
    petra, _, waiting = payouts
    now, mark = clock.now(), "Zanzibar"
    threads.comment(subject=waiting.subject, person=petra, text=mark, request_key="z", now=now)
    freezes.freeze(account=first, person=petra, reason=mark, now=now)
    incident = Incident.objects.get(scope=str(first.pk))
    aside = LedgerAside.objects.create(
        account=first, fingerprint="f", reason="?", source="walk", seen_at=now, first_seen_at=now
    )
    for action, subject in (
        ("incident.closing_requested", f"closing:{incident.pk}"),
        ("record.choice_made", f"record:{aside.pk}"),
        ("thread.commented", f"thread:{incident.subject}"),
    ):
        with transaction.atomic():
            audit.record(actor=petra, action=action, subject=subject, before={}, after={"reason": mark}, now=now)
    there, elsewhere = limited("auditor", first), limited("auditor", second)
    hidden = {
        *(waiting.subject, f"thread:{waiting.subject}", f"closing:{incident.pk}", f"record:{aside.pk}"),
        *(incident.subject, f"thread:{incident.subject}"),
    }
    assert hidden <= subjects(there)
    assert subjects(elsewhere) == set()
    client = signed_in(elsewhere)
    for path in ("/", "/audit/", "/audit/export.csv", "/audit/export.json", f"/audit/?subject={waiting.reference}"):
        response = client.get(path)
        assert response.status_code == 200, path
        page = (b"".join(response) if response.streaming else response.content).decode()
        assert not [one for one in (*hidden, mark, f"{waiting.reference}:") if one in page], path


def test_the_overview_of_one_account_names_no_object_of_another(payouts, first, second, auditor, signed_in):
    """Whoever reads the whole trail too: the block is about the account of the page."""
    _, ended, _ = payouts
    client = signed_in(auditor)
    pages = {
        prefix: text(client.get(f"{prefix}/")) for prefix in ("", f"/accounts/{first.pk}", f"/accounts/{second.pk}")
    }
    rejected = f"petra rejected payout {ended.reference}"
    assert [rejected in page for page in pages.values()] == [True, True, False]


def test_the_page_and_its_files_keep_to_that(payouts, signed_in):
    petra, ended, waiting = payouts
    client = signed_in(petra)
    page = text(client.get("/audit/"))
    assert f"petra rejected payout {ended.reference}: 1.25 BCH to" in page
    assert "Your own events, and those on requests you decided" in page
    assert waiting.reference not in page
    table = b"".join(client.get("/audit/export.csv")).decode("utf-8-sig")
    assert ended.subject in table
    assert waiting.subject not in table
    assert "chain head" not in page


# Filters --------------------------------------------------------------------------------------------------------------


def listed(client, query):
    response = client.get(f"/audit/?{query}")
    return {(row.action, row.subject) for row in response.context["list"].rows}, text(response)


def test_it_is_filtered_by_person_object_kind_and_days(payouts, auditor, signed_in, operator):
    _, ended, waiting = payouts
    client = signed_in(auditor)
    found, _ = listed(client, f"subject={ended.reference.lower()}")
    assert {subject for _, subject in found} == {ended.subject, f"thread:{ended.subject}"}
    found, _ = listed(client, "actor=petra&kind=decisions")
    assert found == {("withdrawal.rejected", ended.subject)}
    found, _ = listed(client, "kind=thread")
    assert found == {("thread.commented", f"thread:{ended.subject}")}
    found, _ = listed(client, f"actor=system&subject={waiting.reference}")
    assert found
    assert not AuditEvent.objects.filter(action__in=[one for one, _ in found]).exclude(actor=None).exists()
    yesterday = (clock.now() - timedelta(days=1)).date()
    assert listed(client, f"range=custom&until={yesterday}")[0] == set()
    assert listed(client, "range=today&kind=withdrawal")[0]


def test_files_are_a_kind_and_people_are_objects_by_name(auditor, signed_in, first):
    client = signed_in(auditor)
    b"".join(client.get("/withdrawals/export.csv"))
    found, page = listed(client, "kind=files")
    assert found == {("withdrawals.exported", "withdrawals")}
    assert f"{auditor.username} exported the list “Withdrawals”." in page
    assert {subject for _, subject in listed(client, f"subject={auditor.username}")[0]} == {f"person:{auditor.pk}"}


def test_an_object_that_is_none_is_named_and_filters_nothing(auditor, signed_in, payouts):
    found, page = listed(signed_in(auditor), "subject=X-12")
    assert "Not found. Enter a reference, for example W-2, or a person&#x27;s name." in page
    assert len(found) > 3


def test_every_kind_can_be_chosen(auditor, signed_in):
    page = signed_in(auditor).get("/audit/").content.decode()
    for each in words.declared():
        assert f'<option value="{each.name}">{each.title}</option>' in page


# What the page shows --------------------------------------------------------------------------------------------------


def test_members_that_changed_stand_behind_details(payouts, auditor, signed_in):
    _, ended, _ = payouts
    page = signed_in(auditor).get(f"/audit/?subject={ended.reference}").content.decode()
    assert (
        page.count("<summary>Details</summary>") == AuditEvent.objects.filter(subject__endswith=ended.subject).count()
    )
    assert "Wrong address" in page


def test_a_payout_names_who_can_still_approve_it(payouts, signed_in, auditor, limited, second):
    petra, ended, waiting = payouts
    limited("treasury", username="paul")
    limited("treasury", second, username="elsewhere")
    newcomer = limited("treasury", username="newcomer")
    Person.objects.filter(pk=newcomer.pk).update(unconfirmed_since=clock.now())
    page = text(signed_in(petra).get(f"/audit/?subject={waiting.reference}"))
    assert f"{waiting.reference} is awaiting approval. These people can still approve: paul , petra ." in page
    assert "waits for approvals" not in text(signed_in(auditor).get(f"/audit/?subject={ended.reference}"))


def test_a_payout_that_nobody_can_approve_any_more_says_so(first, operator, auditor, signed_in):
    waiting = rows.held(operator, now=clock.now())
    page = text(signed_in(auditor).get(f"/audit/?subject={waiting.reference}"))
    assert "nobody else can approve it" in page


def test_the_file_has_the_sentence_and_system_as_a_name(payouts, auditor, signed_in):
    _, ended, _ = payouts
    table = b"".join(signed_in(auditor).get(f"/audit/export.csv?subject={ended.reference}")).decode("utf-8-sig")
    by_action = {row["action"]: row for row in csv.DictReader(io.StringIO(table))}
    assert by_action["withdrawal.hold_accepted"]["person"] == words.SYSTEM
    assert by_action["withdrawal.rejected"]["what"].startswith(f"petra rejected payout {ended.reference}")
