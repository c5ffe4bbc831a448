"""Transfers: the forms of each kind, the list, the page with its decisions, the inbox, and who may do what."""

import csv
import html
import io
import re
import uuid
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.models import AuditEvent
from desk.people import totp
from exchange_ops.subaccounts.models import SubAccountBalance
from exchange_ops.templatetags import transfers as transfer_tags
from exchange_ops.transfers import endings, states
from exchange_ops.transfers.models import Transfer, TransferApproval
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
HOSTILE = '"><script>alert(1)</script>'
REQUEST = {"currency": "BCH", "amount": "2.5", "reason": "For the orders of tomorrow"}
TARGETS = {
    "move": {"kind": "bank_to_trading"},
    "convert": {"to_currency": "BCHT20"},
    "to-subaccount": {"subaccount_id": "7001"},
    "from-subaccount": {"subaccount_id": "7001"},
    "to-user": {"by": "username", "identifier": "other"},
}
KINDS = {
    "move": "bank_to_trading",
    "convert": "convert",
    "to-subaccount": "to_subaccount",
    "from-subaccount": "from_subaccount",
    "to-user": "to_user",
}


@pytest.fixture(autouse=True)
def movable(payable):
    """BCH moves in every way; it has a sibling on another network, and there is one open sub-account."""
    now = clock.now()
    rows.currency(now=now, transfer_enabled=True, precision_transfer=8)
    rows.currency("BCHT20", now=now, transfer_enabled=True, precision_transfer=8)
    owner = rows.subaccount(now=now)
    SubAccountBalance.objects.create(
        sub_account=owner, currency="BCH", wallet=SubAccountBalance.MAIN, available=Decimal("2.5"), reserved=Decimal(0)
    )


@pytest.fixture
def approver(treasury):
    totp.enrol(treasury, SECRET)
    return treasury


def code(*, step=0):
    return totp.code_at(SECRET, totp.step_at(clock.now()) + step)


def text(response):
    """What a person reads, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def form(slug="move", **changes):
    fields = {**REQUEST, **TARGETS[slug], "request_key": str(uuid.uuid4())}
    return {name: value for name, value in {**fields, **changes}.items() if value is not ...}


def send(client, slug="move", **changes):
    return client.post(f"/transfers/new/{slug}/", form(slug, **changes))


def page_of(client, row):
    response = client.get(f"/transfers/{row.pk}/")
    assert response.status_code == 200
    return response.content.decode()


# Asking ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", TARGETS)
def test_each_kind_has_a_form_that_makes_one_transfer(signed_in, operator, slug):
    client, fields = signed_in(operator), form(slug)
    assert f'action="/transfers/new/{slug}/"' in client.get(f"/transfers/new/{slug}/").content.decode()
    for _ in range(2):
        response = client.post(f"/transfers/new/{slug}/", fields)
        assert response.status_code == 302, text(response)
    row = Transfer.objects.get()
    assert response["Location"] == f"/transfers/{row.pk}/"
    assert (row.kind, row.amount, row.initiator, row.initiated_via) == (KINDS[slug], Decimal("2.5"), operator, "page")
    assert row.state == ("review" if slug == "to-user" else "approved")
    assert row.reason == REQUEST["reason"]


def test_the_other_way_between_the_wallets(signed_in, operator):
    assert send(signed_in(operator), kind="trading_to_bank").status_code == 302
    assert Transfer.objects.get().kind == "trading_to_bank"


@pytest.mark.every(2, "the same form with each wrong field")
@pytest.mark.parametrize(
    ("slug", "changes", "problem"),
    [
        ("move", {"amount": ""}, ("amount", "Enter the amount")),
        ("move", {"amount": "NaN"}, ("amount", "digits")),
        ("move", {"amount": "1e3"}, ("amount", "digits")),
        ("move", {"amount": "-1"}, ("amount", "greater than zero")),
        ("move", {"amount": "0"}, ("amount", "greater than zero")),
        ("move", {"amount": "1,5"}, ("amount", "with a decimal point")),
        ("move", {"amount": "٣"}, ("amount", "digits 0 to 9")),
        ("move", {"amount": "0.123456789"}, ("amount", "at most 8 decimals")),
        ("move", {"amount": "500.00000001"}, ("amount", "were available in the bank account")),
        ("move", {"kind": "trading_to_bank", "amount": "10.1"}, ("amount", "were available in the trading account")),
        ("move", {"amount": "9" * 81}, ("amount", "80")),
        ("move", {"currency": ""}, ("currency", "Choose the currency")),
        ("move", {"currency": "NOSUCH"}, ("currency", "NOSUCH")),
        ("move", {"kind": "to_user"}, ("kind", "to_user")),
        ("move", {"kind": ...}, ("kind", "required")),
        ("move", {"reason": "  "}, ("reason", "Enter the purpose")),
        ("move", {"reason": "x" * 501}, ("reason", "500")),
        ("convert", {"to_currency": ""}, ("to_currency", "Choose the target currency")),
        ("convert", {"to_currency": "BCH"}, ("to_currency", "Choose a different currency")),
        ("convert", {"to_currency": "XRP"}, ("to_currency", "XRP")),
        ("to-subaccount", {"subaccount_id": ""}, ("subaccount_id", "required")),
        ("to-subaccount", {"subaccount_id": "7999"}, ("subaccount_id", "7999")),
        ("to-subaccount", {"subaccount_id": "one"}, ("subaccount_id", "one")),
        ("to-user", {"identifier": ""}, ("identifier", "Enter the other user&#x27;s e-mail address or username")),
        ("to-user", {"identifier": "no body"}, ("identifier", "letters, digits")),
        ("to-user", {"identifier": "оther"}, ("identifier", "look-alike characters")),
        ("to-user", {"by": "email"}, ("identifier", "valid e-mail address")),
        ("to-user", {"by": "phone"}, ("by", "phone")),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_written(signed_in, operator, slug, changes, problem):
    field, words = problem
    response = send(signed_in(operator), slug, **changes)
    assert response.status_code == 422
    body = response.content.decode()
    beside = re.search(rf'id="id_{field}-wrong">(.*?)</div>', body, re.DOTALL)
    where = beside[1] if beside else re.search(r"<fieldset.*?</fieldset>", body, re.DOTALL)[0]
    assert words in re.sub(r"<[^>]+>", " ", where)
    assert "Transfer not requested. Please fix:" in body
    assert not Transfer.objects.exists()


def test_what_was_typed_stays_and_can_do_no_harm(signed_in, operator):
    response = send(signed_in(operator), "to-user", identifier=HOSTILE, amount=HOSTILE, reason=HOSTILE)
    assert response.status_code == 422
    assert b"<script>alert" not in response.content
    assert b"&lt;script&gt;alert(1)" in response.content


@pytest.mark.parametrize("key", [..., "", "short", "x" * 400])
def test_a_form_without_its_key_is_no_request(signed_in, operator, key):
    assert send(signed_in(operator), request_key=key).status_code == 422
    assert not Transfer.objects.exists()


def test_a_key_used_for_something_else_is_refused(signed_in, operator):
    client, key = signed_in(operator), str(uuid.uuid4())
    assert send(client, request_key=key).status_code == 302
    response = send(client, request_key=key, amount="2.6")
    assert response.status_code == 422
    assert "this form was already submitted with different content, as T-" in text(response)
    assert Transfer.objects.count() == 1


def test_a_closed_sub_account_is_not_offered(signed_in, operator):
    rows.subaccount(7004, now=clock.now(), status="disable", closed_as="disabled")
    body = signed_in(operator).get("/transfers/new/to-subaccount/").content.decode()
    assert 'value="7001"' in body
    assert 'value="7004"' not in body


def test_a_currency_that_can_not_be_moved_says_why(signed_in, operator):
    rows.currency("LTC", now=clock.now(), transfer_enabled=False)
    body = text(signed_in(operator).get("/transfers/new/move/"))
    assert "LTC The exchange has suspended LTC transfers." in body


def test_only_coins_of_several_networks_are_offered_for_conversion(signed_in, operator):
    rows.currency("LTC", now=clock.now(), transfer_enabled=True)
    body = signed_in(operator).get("/transfers/new/convert/").content.decode()
    assert 'value="BCHT20"' in body
    assert 'value="LTC"' not in body


def test_a_link_fills_in_the_currency_and_nothing_else(signed_in, operator):
    body = signed_in(operator).get("/transfers/new/move/?currency=BCH&amount=9&reason=because").content.decode()
    assert '<option value="BCH" selected>' in body
    assert "because" not in body


@pytest.mark.parametrize("slug", ["nothing", "to_user", "x" * 99])
def test_there_are_no_other_kinds(signed_in, operator, slug):
    client = signed_in(operator)
    assert client.get(f"/transfers/new/{slug}/").status_code == 404
    assert client.post(f"/transfers/new/{slug}/", form()).status_code == 404
    assert client.post(f"/transfers/new/{slug}/figures/", form()).status_code == 404
    assert not Transfer.objects.exists()


# What it will mean ----------------------------------------------------------------------------------------------------


def figures(client, slug="move", **changes):
    return text(client.post(f"/transfers/new/{slug}/figures/", form(slug, **changes)))


def test_what_is_there_and_what_will_be_left(signed_in, operator):
    client = signed_in(operator)
    page = figures(client)
    assert "Available 500.0000 BCH in the bank account" in page
    assert "Remaining 497.5000 BCH" in page
    assert "≈ 1,250.00 USD" in page
    assert "the money stays within the company" in page
    page = figures(client, kind="trading_to_bank")
    assert "Available 10.0000 BCH in the trading account" in page
    assert "Remaining 7.5000 BCH" in page
    page = figures(client, amount="501")
    assert "501 BCH requested" in page
    assert "Remaining" not in page
    assert not Transfer.objects.exists()


def test_a_transfer_to_somebody_else_says_who_has_to_approve(signed_in, operator):
    client = signed_in(operator)
    assert "Enter the other user to see how many approvals are required" in figures(client, "to-user", identifier="")
    page = figures(client, "to-user")
    assert "approval" in page
    assert "First transfer to this recipient" in page


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": "\x00"},
        {"amount": "9" * 999},
        {"currency": "x" * 999},
        {"currency": ...},
        {"currency": "\x00"},
        {"to_currency": "\x00"},
        {"identifier": "\x00"},
        {"reason": "\x00"},
        {"kind": HOSTILE},
        {"amount": HOSTILE},
        {"amount": "1e99"},
        {"amount": "9" * 36},
    ],
)
def test_figures_bear_anything_that_can_be_typed(signed_in, operator, changes):
    for slug, more in TARGETS.items():
        typed = dict.fromkeys(more, HOSTILE) if "kind" not in changes else {}
        response = signed_in(operator).post(f"/transfers/new/{slug}/figures/", form(slug, **{**typed, **changes}))
        assert response.status_code == 200
        assert b"<script>alert" not in response.content
    huge = form("to-subaccount", subaccount_id="9" * 500)
    assert "not synced yet" not in text(signed_in(operator).post("/transfers/new/to-subaccount/figures/", huge))


# The list -------------------------------------------------------------------------------------------------------------


def references(response):
    return re.findall(r">(T-\d+)</a>", response.content.decode())


def test_the_list_is_narrowed_by_its_address(signed_in, auditor, operator):
    moved = rows.transfer_sent(operator, to="done", now=clock.now())
    gift = rows.transfer(operator, kind="to_user", now=clock.now())
    into = rows.transfer(operator, kind="to_subaccount", now=clock.now(), reason="Market making")
    client = signed_in(auditor)
    every = [into.reference, gift.reference, moved.reference]
    for query, wanted in {
        "": every,
        "state=open": [into.reference, gift.reference],
        "state=done": [moved.reference],
        "kind=to_user": [gift.reference],
        "currency=bch": every,
        "currency=XRP": [],
        f"initiator={operator.username}": every,
        "initiator=nobody": [],
        "text=other": [gift.reference],
        "text=7001": [into.reference],
        "text=making": [into.reference],
        f"text={moved.reference}": [moved.reference],
        f"text={moved.exchange_id}": [moved.reference],
        "state=nonsense&kind=nonsense": every,
        f"text={HOSTILE}": [],
        "text=" + "9" * 199: [],
    }.items():
        response = client.get(f"/transfers/?{query}")
        assert references(response) == wanted, query
        assert b"<script>alert" not in response.content
    assert "No transfers match these filters" in text(client.get("/transfers/?currency=XRP"))


def test_an_empty_list_says_what_will_stand_there(signed_in, auditor, operator):
    assert "No transfers yet" in text(signed_in(auditor).get("/transfers/"))
    assert "Request the first transfer" in text(signed_in(operator).get("/transfers/"))


def test_a_long_list_comes_in_pages(signed_in, auditor, operator):
    made = [rows.transfer(operator, now=clock.now()).reference for _ in range(53)]
    client = signed_in(auditor)
    first = client.get("/transfers/")
    assert references(first) == made[:2:-1]
    older = re.search(r'href="(\?before=\d+)"', first.content.decode())[1]
    assert references(client.get(f"/transfers/{older}")) == made[2::-1]


def test_the_export_has_the_filtered_rows_as_safe_text_and_is_told_to_the_trail(signed_in, auditor, operator):
    rows.transfer(operator, now=clock.now())
    gift = rows.transfer(operator, kind="to_user", now=clock.now(), reason="=HYPERLINK(1)")
    response = signed_in(auditor).get("/transfers/export.csv?kind=to_user")
    lines = list(csv.DictReader(io.StringIO(b"".join(response).decode("utf-8-sig"))))
    assert [line["reference"] for line in lines] == [gift.reference]
    assert (lines[0]["amount"], lines[0]["other user"], lines[0]["reason"]) == ("2.5", "other", "'=HYPERLINK(1)")
    assert lines[0]["sub-account"] == ""
    event = AuditEvent.objects.get(action="transfers.exported")
    assert (event.actor, "to_user" in event.after_text) == (auditor, True)


@pytest.mark.parametrize("path", ["/transfers/", "/approvals/", "/approvals/?list=others", "/", "/funds/"])
def test_more_transfers_take_no_more_queries(signed_in, treasury, operator, path):
    client = signed_in(treasury)

    def queries():
        with CaptureQueriesContext(connection) as seen:
            assert client.get(path).status_code == 200
        return len(seen)

    rows.transfer(operator, kind="to_user", now=clock.now())
    queries()
    one = queries()
    for _ in range(2):
        rows.transfer(operator, kind="to_user", now=clock.now())
    assert queries() == one


# The page -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["unknown", "done", "not_seen", "investigate"])
def test_every_state_says_what_happened_to_the_money_first(signed_in, auditor, operator, state):
    row = rows.transfer_sent(operator, to=state, now=clock.now())
    body = text(signed_in(auditor).get(f"/transfers/{row.pk}/"))
    assert states.STATES[state].sentence in body
    assert states.STATES[state].label in body
    assert "No decision needed from you" in body or "Needs a treasury decision" in body
    assert "data-decides" not in body


def test_every_state_and_event_has_its_word_and_icon(settings):
    sprite = (settings.BASE_DIR / "static/vendor/lucide-1.62.0/sprite.svg").read_text()
    assert all(state.icon for state in states.STATES.values())
    assert not [state.icon for state in states.STATES.values() if f'id="{state.icon}"' not in sprite]
    for move in states.TRANSITIONS:
        assert transfer_tags.DISPLAY.events[move.event], move.event


def test_the_page_tells_the_whole_story(signed_in, auditor, operator):
    row = rows.transfer_sent(operator, to="done", now=clock.now(), kind="convert")
    body = text(signed_in(auditor).get(f"/transfers/{row.pk}/"))
    for sentence in (
        "Convert to another network",
        "Convert to BCHT20",
        "Requested",
        "Sent to the exchange",
        "Moved by the exchange",
        f"Transaction {row.exchange_id}",
        "not seen in the ledger yet",
        "For the orders of tomorrow",
    ):
        assert sentence in body, sentence
    assert "audit entry" in body


def test_what_people_typed_is_escaped(signed_in, auditor, operator):
    row = rows.transfer(operator, now=clock.now(), reason=HOSTILE)
    for path in (f"/transfers/{row.pk}/", "/transfers/", "/approvals/?list=others", "/"):
        assert b"<script>alert" not in signed_in(auditor).get(path).content


def test_a_transfer_that_is_not_there(signed_in, auditor):
    assert signed_in(auditor).get("/transfers/999999/").status_code == 404
    assert (
        signed_in(auditor).post("/transfers/999999/approve/", {"digest": "a" * 64, "code": "123456"}).status_code == 404
    )


# Deciding -------------------------------------------------------------------------------------------------------------


def test_treasury_approves_with_a_second_factor_and_the_button_names_the_effect(signed_in, approver, operator):
    row = rows.transfer(operator, kind="to_user", now=clock.now())
    client = signed_in(approver)
    body = page_of(client, row)
    assert "Approve and send 2.5000 BCH" in body
    assert "Reject transfer" in body
    assert ">other<" in body
    sent = {"digest": row.digest, "code": code(), "comment": "As agreed"}
    response = client.post(f"/transfers/{row.pk}/approve/", sent)
    assert (response.status_code, response["Location"]) == (302, f"/transfers/{row.pk}/")
    row.refresh_from_db()
    assert row.state == "approved"
    word = TransferApproval.objects.get()
    assert (word.person, word.comment, word.digest) == (approver, "As agreed", row.digest)
    assert "As agreed" in page_of(client, row)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"code": "000000"}, 409),
        ({"code": ""}, 422),
        ({"code": "12345"}, 422),
        ({"digest": "0" * 64}, 409),
        ({"digest": "nonsense"}, 422),
        ({"digest": ""}, 422),
        ({"comment": "x" * 501}, 422),
    ],
)
def test_an_approval_that_is_not_right_changes_nothing(signed_in, approver, operator, changes, status):
    row = rows.transfer(operator, kind="to_user", now=clock.now())
    sent = {"digest": row.digest, "code": code(), **changes}
    response = signed_in(approver).post(f"/transfers/{row.pk}/approve/", sent)
    assert response.status_code == status
    if status == 409:
        assert "Your decision was not recorded" in text(response)
    row.refresh_from_db()
    assert (row.state, TransferApproval.objects.count()) == ("review", 0)


def test_treasury_rejects_with_a_reason(signed_in, treasury, operator):
    row = rows.transfer(operator, kind="to_user", now=clock.now())
    client = signed_in(treasury)
    assert client.post(f"/transfers/{row.pk}/reject/", {"reject-reason": " "}).status_code == 422
    assert client.post(f"/transfers/{row.pk}/reject/", {"reject-reason": "Not ours"}).status_code == 302
    row.refresh_from_db()
    assert row.state == "rejected"
    assert "Not ours" in page_of(client, row)


def test_whoever_asked_takes_it_back_and_cannot_approve(signed_in, operator, make_person):
    both = make_person("operator", "treasury", username="both")
    row = rows.transfer(both, kind="to_user", now=clock.now())
    client = signed_in(both)
    body = page_of(client, row)
    assert "You requested this transfer" in body
    assert f"/transfers/{row.pk}/approve/" not in body
    assert client.post(f"/transfers/{row.pk}/approve/", {"digest": row.digest, "code": "123456"}).status_code == 409
    assert client.post(f"/transfers/{row.pk}/cancel/", {"cancel-reason": "Wrong name"}).status_code == 302
    row.refresh_from_db()
    assert row.state == "cancelled"


def ending(row, **changes):
    row.refresh_from_db()
    return {
        "digest": endings.digest_of(row),
        "code": code(),
        "comment": "The statement shows nothing",
        **changes,
    }


def test_what_was_not_seen_is_closed_by_treasury(signed_in, approver, operator):
    row = rows.transfer_sent(operator, to="not_seen", now=clock.now())
    client = signed_in(approver)
    body = page_of(client, row)
    assert "Close as not moved" in body
    assert "Close and request again" in body
    assert len(set(re.findall(r'id="((?:close|reissue)_code)"', body))) == 2
    response = client.post(f"/transfers/{row.pk}/close/", ending(row))
    assert response.status_code == 302, text(response)
    row.refresh_from_db()
    assert row.state == "closed"


def test_what_was_not_seen_is_asked_for_anew_as_another_transfer_once(signed_in, approver, operator):
    row, key = rows.transfer_sent(operator, to="not_seen", now=clock.now()), str(uuid.uuid4())
    client, sent = signed_in(approver), ending(row, request_key=key)
    first = client.post(f"/transfers/{row.pk}/reissue/", sent)
    assert first.status_code == 302, text(first)
    new = Transfer.objects.get(reissues=row)
    assert first["Location"] == f"/transfers/{new.pk}/"
    assert client.post(f"/transfers/{row.pk}/reissue/", sent)["Location"] == first["Location"]
    assert Transfer.objects.count() == 2
    row.refresh_from_db()
    assert (row.state, new.amount, new.initiator) == ("closed", row.amount, approver)
    assert f">{row.reference}</a>, not seen at the exchange" in page_of(client, new)
    assert f'<dt>Replaced by</dt><dd><a href="/transfers/{new.pk}/">{new.reference}</a>' in page_of(client, row)


@pytest.mark.parametrize("name", ["close", "reissue"])
@pytest.mark.parametrize("changes", [{"comment": ""}, {"code": ""}, {"code": "000000"}, {"digest": "0" * 64}])
def test_an_ending_that_is_not_right_changes_nothing(signed_in, approver, operator, name, changes):
    row = rows.transfer_sent(operator, to="not_seen", now=clock.now())
    sent = ending(row, **{"request_key": str(uuid.uuid4()), **changes})
    assert signed_in(approver).post(f"/transfers/{row.pk}/{name}/", sent).status_code in {409, 422}
    row.refresh_from_db()
    assert (row.state, Transfer.objects.count()) == ("not_seen", 1)


def test_two_people_close_what_is_unclear(signed_in, approver, operator, make_person):
    row = rows.transfer_sent(operator, to="investigate", now=clock.now())
    other = make_person("treasury", username="treasury9")
    totp.enrol(other, SECRET)
    for person, state in ((approver, "investigate"), (other, "resolved_not_moved")):
        response = signed_in(person).post(f"/transfers/{row.pk}/resolve/", ending(row, verdict="not_moved"))
        assert response.status_code == 302, text(response)
        row.refresh_from_db()
        assert row.state == state
    assert "Confirmed not moved" in page_of(signed_in(other), row)


@pytest.mark.parametrize("role", ["operator", "admin", "auditor"])
def test_who_may_not_decide_sees_no_buttons_and_changes_nothing(signed_in, operator, make_person, role):
    client = signed_in(make_person(role, username=f"a-{role}"))
    rows_of = {
        "approve": rows.transfer(operator, kind="to_user", now=clock.now()),
        "reject": rows.transfer(operator, kind="to_user", now=clock.now()),
        "cancel": rows.transfer(operator, now=clock.now()),
        "close": rows.transfer_sent(operator, to="not_seen", now=clock.now(), kind="convert"),
        "reissue": rows.transfer_sent(operator, to="not_seen", now=clock.now(), kind="to_subaccount"),
        "resolve": rows.transfer_sent(operator, to="investigate", now=clock.now(), kind="from_subaccount"),
    }
    before = list(Transfer.objects.order_by("pk").values_list("pk", "state", "version"))
    for name, row in rows_of.items():
        assert f"/transfers/{row.pk}/{name}/" not in page_of(client, row)
        fields = ending(row, verdict="moved", request_key=str(uuid.uuid4()), code="123456")
        fields |= {f"{name}-reason": "because", "digest": row.digest if name == "approve" else fields["digest"]}
        response = client.post(f"/transfers/{row.pk}/{name}/", fields)
        assert response.status_code == 409, name
        assert "Your decision was not recorded" in text(response)
    assert list(Transfer.objects.order_by("pk").values_list("pk", "state", "version")) == before
    assert not TransferApproval.objects.exists()


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor"])
def test_only_operators_ask(signed_in, make_person, role):
    client = signed_in(make_person(role, username=f"a-{role}"))
    assert client.get("/transfers/new/move/").status_code == 403
    assert send(client).status_code == 403
    for path in ("/funds/", "/transfers/"):
        assert b"/transfers/new/" not in client.get(path).content
    assert not Transfer.objects.exists()


# The inbox and the overview -------------------------------------------------------------------------------------------


def test_a_transfer_to_somebody_waits_in_the_inbox_of_treasury(signed_in, treasury, operator):
    client = signed_in(treasury)
    row = rows.transfer(operator, kind="to_user", now=clock.now())
    rows.transfer(operator, now=clock.now())
    body = text(client.get("/approvals/"))
    assert "Needs you 1" in body
    assert row.reference in body
    assert "0 of 1 approvals" in body
    assert "1 pending" in text(client.get("/frame/?parts=count-action"))
    assert row.reference in text(client.get("/"))
    assert row.reference in text(signed_in(operator).get("/approvals/?list=others"))
    assert client.post(f"/transfers/{row.pk}/reject/", {"reject-reason": "Not ours"}).status_code == 302
    assert row.reference in text(client.get("/approvals/?list=done"))
    assert row.reference not in text(client.get("/approvals/"))
    assert "waiting" not in text(client.get("/frame/?parts=count-action"))


def test_the_overview_lists_the_transfers_that_wait_or_are_unknown(signed_in, auditor, operator):
    lost = rows.transfer_sent(operator, to="unknown", now=clock.now())
    over = rows.transfer_sent(operator, to="done", now=clock.now(), kind="convert")
    page = signed_in(auditor).get("/").content.decode()
    block = page[page.index('id="requests"') : page.index("</section>", page.index('id="requests"'))]
    assert "Pending and unclear transfers" in block
    assert lost.reference in block
    assert over.reference not in block


def test_the_search_box_opens_a_transfer_by_its_name_and_lists_the_others(signed_in, auditor, operator):
    moved = rows.transfer_sent(operator, to="done", now=clock.now())
    gifts = [rows.transfer(operator, kind="to_user", now=clock.now(), reason="A gift") for _ in range(2)]
    client = signed_in(auditor)
    for words in (moved.reference, moved.reference.lower(), moved.exchange_id):
        assert client.get("/search/", {"q": words}).headers["Location"] == f"/transfers/{moved.pk}/", words
    found = client.get("/search/", {"q": "a gift"})
    assert sorted(re.findall(r"T-\d+", text(found)))[-2:] == sorted(row.reference for row in gifts)
    assert "No results." not in text(found)
    assert client.get("/search/", {"q": "T-" + "9" * 30}).status_code == 200
