"""The pages on which people decide about unclear transfers, in both themes and at every width, and kept live."""

import pytest

from desk import clock
from exchange_ops.transfers import machine, workflow
from tests.e2e.looks import complaints
from tests.exchange_ops import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


_SEEN_LESS = pytest.mark.thorough("it offers less of what the page of one that was not seen does, which runs always")


@pytest.mark.parametrize(
    "state",
    ["not_seen", pytest.param("investigate", marks=_SEEN_LESS), pytest.param("unknown", marks=_SEEN_LESS)],
)
def test_an_unclear_transfer_can_be_read_and_decided_everywhere(open_as, operator, treasury, state):
    rows.currency(now=clock.now(), transfer_enabled=True)
    row = rows.transfer_sent(operator, to=state, now=clock.now(), reason="A reason without an end " * 15)
    page = open_as(treasury, f"/transfers/{row.pk}/")
    for opener in page.locator("#decide summary").all():
        opener.click()
    assert page.locator("#decide [data-decides]").count() == {"not_seen": 4, "investigate": 2, "unknown": 0}[state]
    found = complaints(page, f"transfer-{state}")
    page.goto(page.url.partition("/transfers/")[0] + "/")
    found += complaints(page, f"overview-{state}")
    counts = [page.locator(part).inner_text().count(row.reference) for part in ("#work", "#requests")]
    assert sum(counts) == 1
    assert not [*found, *page.violations]


@pytest.mark.thorough("a change that arrives runs always on the page of a withdrawal")
def test_what_somebody_else_did_reaches_the_open_page(open_as, operator, treasury):
    rows.currency(now=clock.now(), transfer_enabled=True)
    row = rows.transfer(operator, kind="to_user", now=clock.now())
    page = open_as(treasury, f"/transfers/{row.pk}/")
    page.evaluate("window.marked = true")
    workflow.cancel(transfer_id=row.pk, person=operator, reason="Wrong name", now=clock.now())
    page.wait_for_selector("#facts .chip:has-text('Cancelled')")
    page.wait_for_selector("#decide:not(:has([data-decides]))")
    page.wait_for_selector("#story:has-text('Cancelled')")
    assert page.evaluate("window.marked") is True
    assert not page.violations


@pytest.mark.thorough("typed text that stays runs always on the page of a withdrawal")
def test_a_code_that_is_being_typed_stays_and_the_button_rests_when_the_matter_changed(open_as, operator, treasury):
    rows.currency(now=clock.now(), transfer_enabled=True)
    row = rows.transfer(operator, kind="to_user", now=clock.now())
    page = open_as(treasury, f"/transfers/{row.pk}/")
    page.fill("#id_code", "123")
    machine.move(row, event="judged_again", to="review", now=clock.now(), digest="f" * 64)
    page.wait_for_selector("[data-stale-note]:not([hidden])")
    assert page.input_value("#id_code") == "123"
    assert page.locator("#decide [data-decides]:not([disabled])").count() == 0
