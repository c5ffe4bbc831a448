"""The list when there is a lot of it, its ways in from the bar and the strip, and what its entries tell."""

import re
from datetime import timedelta
from decimal import Decimal
from itertools import groupby

import pytest

from desk import clock
from desk.actions import entries, listing
from desk.incidents import review
from desk.incidents.models import Incident
from desk.processes import uptime
from exchange_ops.transfers.machine import GUARDS
from exchange_ops.transfers.models import Transfer
from tests.exchange_ops import rows
from tests.exchange_ops.incidents.provoked import closing, text
from tests.rows import unguarded

pytestmark = pytest.mark.django_db


def elsewhere(count, *, first=100):
    for number in range(first, first + count):
        rows.entry(number, now=clock.now(), type="payout", foreign=True)
    review.review(now=clock.now())


@pytest.mark.parametrize("role", ["operator", "auditor", "treasury"])
def test_the_bar_leads_to_all_that_it_counts_whoever_may_act_on_it(signed_in, make_person, role):
    rows.account(now=clock.now())
    elsewhere(3)
    client = signed_in(make_person(role, username="reads"))
    bar = client.get("/frame/?parts=alarm").content.decode()
    assert '"/action/?list=all&amp;severity=critical">2 more<' in bar
    listed = text(client.get("/action/?list=all&severity=critical"))
    assert all(row.reference in listed for row in Incident.objects.filter(kind="payout-elsewhere"))
    assert "/action/?list=all&amp;source=incidents" in client.get("/frame/?parts=strip").content.decode()


def test_sixty_entries_stand_under_headings_in_the_order_of_urgency_and_a_few_under_none(
    signed_in, treasury, operator, payable, monkeypatch
):
    monkeypatch.setattr(uptime, "_began", -10_000.0)  # as in a process that has been at work for long: all is judged
    client = signed_in(treasury)
    for number in range(4):
        rows.held(operator, now=clock.now(), amount=Decimal(number + 1))
    assert "e-section" not in client.get("/action/").content.decode()
    rows.held(operator, now=clock.now() - timedelta(minutes=40))
    for number in range(25):
        rows.held(operator, now=clock.now(), amount=Decimal(number + 10))
    elsewhere(30)
    found = listing.listing_for(treasury, listing.Wish(source="approvals"), now=clock.now())
    assert [(label, len(part)) for label, part in found.sections] == [("Expiring soon", 1), ("Decisions", 19)]
    assert found.total == 30
    every = listing.listing_for(treasury, listing.Wish(), now=clock.now())
    assert every.total >= 60
    pages = [client.get(f"/action/?page={number}").content.decode() for number in range(1, every.pages + 1)]
    assert sum(page.count('<li class="entry') for page in pages) == every.total, "each page has its share, none is lost"
    heads = re.findall(r'id="s-([a-z-]+)"', "".join(pages))
    ordered = ["critical", "expiring-soon", "high", "decisions", "medium"]
    assert [name for name, _ in groupby(heads)] == ordered, "none comes back later"
    assert "e-section" not in client.get("/action/?sort=oldest").content.decode()


def test_a_search_says_when_not_all_could_be_looked_through(signed_in, treasury, payable, monkeypatch):
    elsewhere(3)
    words = "Some items are not shown."
    assert words not in text(signed_in(treasury).get("/action/?source=incidents&q=nobody+here"))
    monkeypatch.setattr(entries, "MOST", 3)
    assert words in text(signed_in(treasury).get("/action/?source=incidents&q=nobody+here"))
    assert words in text(signed_in(treasury).get("/action/?source=incidents&q=nothing-like-it"))


def test_amounts_and_whoever_has_taken_it_are_found(signed_in, make_person, operator, payable):
    clara = make_person("treasury", username="clara")
    row = rows.held(operator, now=clock.now(), amount=Decimal("7.125"))
    client = signed_in(clara)
    assert row.reference in text(client.get("/action/?q=7.125"))
    assert "No items match" in text(client.get("/action/?q=clara"))
    client.post(f"/action/threads/{row.subject.replace(':', '/')}/take/")
    assert row.reference in text(client.get("/action/?q=clara"))


def test_who_closed_an_incident_stands_on_the_list_of_what_is_done(signed_in, treasury, payable, make_person):
    elsewhere(1)
    row = Incident.objects.get(kind="payout-elsewhere")
    for person in (make_person("treasury", username="first"), treasury):
        client = signed_in(person)
        client.post(f"/action/incidents/{row.pk}/close/", closing(person, row))
    done = text(client.get("/action/?list=done"))
    assert re.search(rf"Closed with a reason \d+ \w+ ago by {treasury.username}", done)


def test_a_transfer_to_a_user_tells_what_a_payout_tells(signed_in, treasury, operator, payable):
    now = clock.now()
    rows.currency(now=now, transfer_enabled=True)
    first = rows.transfer(operator, kind="to_user", now=now)
    page = text(signed_in(treasury).get("/action/"))
    assert "First transfer to this recipient" in page
    assert "Share of balance 0.5 %" in page
    assert "Possible duplicate" not in page
    second = rows.transfer(operator, kind="to_user", now=now)
    page = text(signed_in(treasury).get("/action/"))
    for row in (first, second):
        assert f"same amount and recipient within 24 hours: {row.reference} (waiting for approvals)" in page
    with unguarded(GUARDS):
        Transfer.objects.filter(pk=first.pk).update(state="done", sent_at=now, exchange_id="moved", attempt=1)
    assert "Previous transfers 1, last " in text(signed_in(treasury).get("/action/"))
