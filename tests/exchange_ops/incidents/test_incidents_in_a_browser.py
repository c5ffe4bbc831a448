"""Each kind of incident on open pages of every role: told without a reload to those who may see it, and over again."""

import re
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from desk import clock
from desk.incidents import kinds, review
from desk.incidents.models import Incident
from desk.notifications import delivering, finding
from desk.notifications.models import Channel
from desk.processes import uptime
from tests.bounds import stretched
from tests.e2e.looks import complaints
from tests.exchange_ops import rows
from tests.exchange_ops.incidents.provoked import CRITICAL, ENDED, ONE_OF_SEVERAL, PROVOKED, is_seen_by

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(900),
    pytest.mark.thorough("each kind is proven from row to message; e2e/test_incidents shows one on a screen"),
]
ROLES = ("operator", "treasury", "admin", "auditor")
STEP_MS = stretched(60_000)


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """As in a process that has been at work for long: everything is judged."""
    monkeypatch.setattr(uptime, "_began", -10_000.0)


def known():
    review.review(now=clock.now())
    return set(Incident.objects.values_list("pk", flat=True))


def entry_of(page, row):
    return page.locator("#inbox .entry", has_text=re.compile(rf"\b{row.reference}\b"))


def test_every_kind_is_seen_by_whom_it_concerns_as_it_comes_and_as_it_goes(open_as, make_person, operator):
    rows.account(now=clock.now())
    rows.currency(now=clock.now(), transfer_enabled=True)
    pages = {
        role: open_as(make_person(role, username=f"one-{role}"), "/action/?list=all&sort=newest") for role in ROLES
    }
    for page in pages.values():
        page.evaluate("window.marked = true")
    for name, (provoke, _) in PROVOKED.items():
        before = known()
        provoke(operator)
        known()
        rows_of_kind = Incident.objects.filter(kind=name, state="open", **ONE_OF_SEVERAL.get(name, {}))
        row = rows_of_kind.exclude(pk__in=before).first() or rows_of_kind.get()
        for role, page in pages.items():
            seen = is_seen_by(role, name)
            if seen:
                expect(entry_of(page, row)).to_have_count(1, timeout=STEP_MS)
                acts = entry_of(page, row).get_by_text("Waiting for you")
                expect(acts).to_have_count(1 if role in kinds.by_name(name).acts else 0, timeout=STEP_MS)
                expect(page.locator("#strip .all-well")).to_have_count(0, timeout=STEP_MS)
            if name in CRITICAL:
                expect(page.locator("#alarm")).to_contain_text(row.title, timeout=STEP_MS)
            if role in kinds.by_name(name).acts:
                expect(page).to_have_title(re.compile(r"^\(\d+\) "), timeout=STEP_MS)
        # Whoever saw it last has read the list anew after it came up: nobody else was shown it meanwhile.
        hidden = [role for role in ROLES if not is_seen_by(role, name)]
        for role in hidden:
            pages[role].evaluate("htmx.trigger('#inbox', 'hint')")
            pages[role].wait_for_load_state("networkidle")
            assert entry_of(pages[role], row).count() == 0, (name, role)
        ENDED[name]()
        known()
        for page in pages.values():
            expect(entry_of(page, row)).to_have_count(0, timeout=STEP_MS)
            if name in CRITICAL:
                expect(page.locator("#alarm")).not_to_contain_text(row.title, timeout=STEP_MS)
    assert all(page.evaluate("window.marked === true") for page in pages.values()), "no page was loaded again"
    assert [page.violations for page in pages.values()] == [[], [], [], []]


def test_crowded_pages_in_both_themes_and_at_every_width(open_as, make_person, operator):
    reader = make_person("operator", "treasury", "admin", "auditor", username="every", email="every@desk.test")
    for number in range(30):
        rows.held(operator, now=clock.now(), amount=Decimal(number + 1), reason="A reason without end " * 10)
        rows.entry(number + 10, now=clock.now(), type="payout", foreign=True)
    for number, kind in enumerate(("webhook", "chat")):
        Channel.objects.create(kind=kind, name=f"Channel {number}", host="h.test", made_by=reader, made_at=clock.now())
    known()
    finding.notify_due(now=clock.now())
    delivering.sweep(now=clock.now())
    page = open_as(reader, "/action/?list=all&page=2")
    assert page.locator("#inbox .entry").count() == 20
    # From one entry to the next by keys, also over the headings.
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.href")
    for _ in range(40):
        page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('.entry') !== null")
    for _ in range(40):
        page.keyboard.press("k")
    assert page.evaluate("document.activeElement.href") == first
    base, incident = page.url.split("/action/")[0], Incident.objects.filter(kind="payout-elsewhere").first()
    found = complaints(page, "action-crowded")
    for name, path in (
        ("incident", f"/action/incidents/{incident.pk}/"),
        ("deliveries-crowded", "/deliveries/"),
        ("mailbox-crowded", "/mailbox/"),
        ("channels", "/channels/"),
        ("preferences", "/account/notifications/"),
    ):
        page.goto(f"{base}{path}", wait_until="networkidle")
        found += complaints(page, name)
    assert found == []
    assert page.violations == []
