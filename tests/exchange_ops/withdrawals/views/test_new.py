"""Asking for a payout: what the form takes, what it refuses beside the field, and that one request stays one."""

import uuid
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from desk import clock
from desk.actions import attachments, threads
from desk.actions.models import Attachment, StoredFile
from exchange_ops.addresses.models import AddressCheck, FeeEstimate
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
PATH = "/withdrawals/new/"


def typed(**changes):
    form = {
        "currency": "BCH",
        "amount": "1.25",
        "fee_from": "on_top",
        "address": rows.ADDRESS,
        "payment_id": "",
        "reason": "Invoice 2041",
        "request_key": str(uuid.uuid4()),
    }
    return {**form, **changes}


def refused(client, **changes):
    """The page after a refusal, and that it left nothing behind."""
    response = client.post(PATH, typed(**changes))
    assert response.status_code == 422, response.status_code
    assert not Withdrawal.objects.exists()
    return response


def test_a_good_form_becomes_one_request_and_says_that_nothing_was_sent(signed_in, operator):
    response = signed_in(operator).post(PATH, typed(amount=" 1.25 ", address=f"  {rows.ADDRESS}\n"), follow=True)
    row = Withdrawal.objects.get()
    assert (row.amount, row.address, row.state, row.initiator) == (Decimal("1.25"), rows.ADDRESS, "draft", operator)
    assert response.redirect_chain == [(f"/withdrawals/{row.pk}/", 302)]
    assert f"{row.reference} requested. Nothing has been sent yet" in response.content.decode()


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("", "Enter the amount."),
        ("   ", "Enter the amount."),
        ("0", "Enter an amount greater than zero."),
        ("0.000", "Enter an amount greater than zero."),
        ("-1", "Enter an amount greater than zero."),
        ("1,5", "no thousands separator"),
        ("1.", "in digits with one decimal point"),
        (".5", "in digits with one decimal point"),
        ("1e5", "in digits with one decimal point"),
        ("NaN", "in digits with one decimal point"),
        ("Infinity", "in digits with one decimal point"),
        ("0x10", "in digits with one decimal point"),
        ("1 000", "in digits with one decimal point"),
        ("+1", "in digits with one decimal point"),
        ("１２", "Use only the digits 0 to 9"),
        ("١.٢", "Use only the digits 0 to 9"),
        ("1\u200b.5", "Use only the digits 0 to 9"),
        ("1.123456789", "at most 8 decimals"),
        ("0.001", "would arrive"),
        ("0." + "1" * 25, "Enter at most 24 digits"),
        ("9" * 37, "at most 36 digits before"),
        ("9" * 200, "at most 80 characters"),
        ("501", "were available in the bank account"),
    ],
)
def test_an_amount_that_makes_no_sense_is_refused_beside_its_field(signed_in, operator, amount, words):
    page = refused(signed_in(operator), amount=amount)
    assert any(words in error for error in page.context["form"].errors["amount"])
    text = page.content.decode()
    assert 'aria-invalid="true"' in text
    assert 'href="#id_amount"' in text
    assert "Nothing was sent" in text


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"currency": ""}, "currency", "Choose the currency."),
        ({"currency": "NOPE"}, "currency", "Select a valid choice"),
        ({"currency": "OFF"}, "currency", "Select a valid choice"),
        ({"address": ""}, "address", "Enter the recipient's address"),
        ({"address": "   "}, "address", "Enter the recipient's address"),
        ({"address": rows.ADDRESS[:-1] + "q"}, "address", ""),
        ({"address": rows.ADDRESS.replace("q", "\u0261", 1)}, "address", "not a plain letter or digit"),
        ({"address": rows.ADDRESS[:20] + " " + rows.ADDRESS[20:]}, "address", "a space at position"),
        ({"address": "<script>alert(1)</script>"}, "address", ""),
        ({"address": "a" * 401}, "address", "at most 400"),
        ({"address": "\0"}, "address", "Null characters"),
        ({"payment_id": "12345"}, "payment_id", "does not use payment IDs"),
        ({"reason": ""}, "reason", "Enter the purpose of the payment"),
        ({"reason": "x" * 501}, "reason", "at most 500"),
        ({"fee_from": "nobody"}, "fee_from", "Select a valid choice"),
    ],
)
def test_every_other_field_is_refused_beside_itself(signed_in, operator, changes, name, words):
    rows.currency("OFF", payout_enabled=False)
    page = refused(signed_in(operator), **changes)
    assert any(words in error for error in page.context["form"].errors[name]), page.context["form"].errors


@pytest.mark.parametrize("key", ["", "not-a-key", "1" * 200])
def test_a_form_without_its_key_is_refused(signed_in, operator, key):
    refused(signed_in(operator), request_key=key)


def test_nothing_typed_is_lost_and_nothing_hostile_comes_back_alive(signed_in, operator):
    hostile = '"><img src=x onerror=alert(1)>'
    page = refused(signed_in(operator), amount="1,5", address=hostile, reason=hostile).content.decode()
    assert hostile not in page
    assert page.count("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;") >= 1
    assert 'value="1,5"' in page


def test_a_double_click_a_second_tab_and_a_reload_are_one_request(signed_in, operator):
    form, first, second = typed(), signed_in(operator), signed_in(operator)
    places = {client.post(PATH, form)["Location"] for client in (first, first, second)}
    assert len(places) == 1
    assert Withdrawal.objects.count() == 1


def invoice(name="invoice-2041.txt", content=b"Invoice 2041: 1.25 BCH"):
    return SimpleUploadedFile(name, content)


def test_an_invoice_is_attached_together_with_its_request_and_once(signed_in, operator):
    client, form = signed_in(operator), typed()
    for _ in range(2):
        assert client.post(PATH, {**form, "file": invoice()}).status_code == 302
    (row,) = Withdrawal.objects.all()
    (file,) = attachments.of(row.subject)
    assert (file.name, file.person, file.size) == ("invoice-2041.txt", operator, 22)
    assert "invoice-2041.txt" in client.get(f"/withdrawals/{row.pk}/").content.decode()


def test_an_invoice_that_cannot_be_attached_requests_nothing(signed_in, operator, monkeypatch):
    refusal = refused(signed_in(operator), file=invoice("a.pdf", b"text"))
    assert "is not a PDF file" in refusal.context["form"].errors["file"][0]
    monkeypatch.setattr(threads, "record", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        signed_in(operator).post(PATH, typed(file=invoice()))
    assert not Withdrawal.objects.exists()
    assert not StoredFile.objects.exists()


def test_a_refused_form_says_that_its_file_has_to_be_chosen_again(signed_in, operator):
    note = "The file was not attached."
    assert note in refused(signed_in(operator), amount="", file=invoice()).content.decode()
    assert note not in refused(signed_in(operator), amount="").content.decode()
    assert not Attachment.objects.exists()


def test_a_used_key_with_other_content_is_a_mistake_and_no_second_payment(signed_in, operator):
    form, client = typed(), signed_in(operator)
    client.post(PATH, form)
    response = client.post(PATH, {**form, "amount": "2"})
    assert response.status_code == 422
    assert Withdrawal.objects.count() == 1
    assert "this form was already submitted with different content" in response.content.decode()


def test_every_form_that_is_opened_has_a_key_of_its_own(signed_in, operator):
    client = signed_in(operator)
    keys = {client.get(PATH).context["form"]["request_key"].value() for _ in range(3)}
    assert len(keys) == 3


def test_currencies_that_cannot_be_paid_out_are_explained(signed_in, operator):
    rows.currency("OFF", payout_enabled=False)
    rows.currency("OLD", delisted=True)
    rows.currency("USD", crypto=False)
    page = signed_in(operator).get(PATH).content.decode()
    assert "The exchange has suspended OFF payouts" in page
    assert "OLD is delisted" in page
    assert "USD has no blockchain" in page
    assert 'value="OFF"' not in page


def figures(client, **changes):
    return client.post("/withdrawals/new/figures/", typed(**changes), headers={"HX-Request": "true"}).content.decode()


def test_what_arrives_and_what_leaves_is_reckoned_here(signed_in, operator):
    client = signed_in(operator)
    on_top = figures(client, amount="1.25")
    assert "1.2500 BCH" in on_top
    assert "1.2510 BCH" in on_top
    assert "estimate pending" in on_top
    FeeEstimate.objects.update(fee=Decimal("0.00250001"), answered_at=clock.now())
    out_of_it = figures(client, amount="1.25", fee_from="from_amount")
    assert "1.24749999 BCH" in out_of_it
    assert "estimated by the exchange" in out_of_it
    assert "≈ 625.00 USD" in out_of_it
    assert "1 approval required" in out_of_it
    assert f"feeestimate:{FeeEstimate.objects.get().pk}" in out_of_it


@pytest.mark.parametrize(
    ("fee_from", "words"),
    [("on_top", "total at most 1.2610 BCH"), ("from_amount", "recipient gets at least 1.2390 BCH")],
)
def test_the_highest_fee_that_approvals_cover_is_on_the_form(signed_in, operator, fee_from, words):
    """A fee of 0.001 BCH with the usual margin: 5 USD more, at 500 USD each."""
    page = figures(signed_in(operator), amount="1.25", fee_from=fee_from)
    assert "<dt>Maximum fee</dt><dd>0.0110 BCH" in page
    assert words in " ".join(page.split())


@pytest.mark.parametrize("amount", ["", "x", "-1", "9" * 90, "1e3", "0." + "1" * 30])
def test_figures_for_what_is_not_an_amount_yet_write_nothing(signed_in, operator, amount):
    assert "Available" in figures(signed_in(operator), amount=amount)
    assert not FeeEstimate.objects.exists()


def test_figures_for_an_amount_beyond_the_bounds_tell_why(signed_in, operator):
    assert "at most 8 decimals" in figures(signed_in(operator), amount="1.123456789")
    assert "were available" in figures(signed_in(operator), amount="100000")


def destination(client, **changes):
    return client.post(
        "/withdrawals/new/destination/", typed(**changes), headers={"HX-Request": "true"}
    ).content.decode()


def test_the_address_is_shown_in_groups_and_asked_about(signed_in, operator):
    page = destination(signed_in(operator))
    assert "<span>bchreg:</span><span>qzd5</span><span>9qv9</span>" in page
    assert "regtest network" in page
    check = AddressCheck.objects.get()
    assert f"addresscheck:{check.pk}" in page
    assert "Checking with the exchange" in page
    assert "every 3s" in page


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"is_own": True}, "Yes: use a transfer instead"),
        ({"is_own": False}, "No, external address"),
        ({"problem": "The exchange can’t be asked."}, "Unknown"),
    ],
)
def test_the_answer_about_the_address_fills_in(signed_in, operator, answer, words):
    client = signed_in(operator)
    destination(client)
    AddressCheck.objects.update(answered_at=clock.now(), **answer)
    page = destination(client)
    assert words in page
    assert "every 3s" not in page


def test_a_wrong_address_is_told_while_it_is_typed_and_asks_nobody(signed_in, operator):
    assert "not a plain letter or digit" in destination(
        signed_in(operator), address=rows.ADDRESS.replace("q", "\u0261", 1)
    )
    assert "Choose a currency" in destination(signed_in(operator), currency="")
    assert not AddressCheck.objects.exists()


def test_a_link_may_fill_in_the_form_but_not_send_it(signed_in, operator):
    page = signed_in(operator).get(f"{PATH}?currency=BCH&address={rows.ADDRESS}&amount=5").content.decode()
    assert f'value="{rows.ADDRESS}"' in page
    assert 'value="5"' not in page
    assert not Withdrawal.objects.exists()


@pytest.mark.parametrize("code", ["\x00", "BCH\x00", "B" * 999, "ВСН", "BCH'--"])
@pytest.mark.parametrize("part", ["figures", "destination"])
def test_a_currency_that_is_no_code_at_all_is_one_not_chosen_yet(signed_in, operator, part, code):
    typed = {"currency": code, "amount": "1", "address": rows.ADDRESS}
    response = signed_in(operator).post(f"/withdrawals/new/{part}/", typed)
    assert response.status_code == 200
    assert b"Choose a currency" in response.content or b"Choose a currency" in response.content


def test_a_payment_request_is_split_into_the_fields_before_anything_is_requested(signed_in, operator):
    client = signed_in(operator)
    uri = f"{rows.ADDRESS}?amount=1.5&label=Invoice%207"
    part = destination(client, address=uri, amount="", reason="")
    for words in ("This is a payment request.", "1.5000 BCH", "Invoice 7", "Fill in the fields", "First payout"):
        assert words in part, words
    page = client.post(PATH, typed(address=uri, amount="", reason=""))
    assert not Withdrawal.objects.exists()
    values = {name: page.context["form"][name].value() for name in ("address", "amount", "reason", "currency")}
    assert values == {"address": rows.ADDRESS, "amount": "1.5", "reason": "Invoice 7", "currency": "BCH"}
    assert "Nothing has been requested yet: check each field" in page.content.decode()
    assert "data-split" in page.content.decode(), "a draft of this tab does not overwrite the fields"
    other = client.post(PATH, typed(address=uri, amount="2")).content.decode()
    assert "The payment request specifies 1.5 as the amount; the field has a different value." in other
    refusal = refused(client, address=f"litecoin:{rows.ADDRESS}?amount=1").context["form"].errors["address"]
    assert "for LTC, but BCH is selected" in refusal[0]


@pytest.mark.parametrize("memo", ["order 123", " order 123\n"])
def test_a_memo_keeps_the_blank_inside_and_loses_those_around_it(signed_in, operator, memo):
    rows.currency("EOS", payout_is_payment_id=True)
    rows.balance("EOS")
    eos = {"currency": "EOS", "address": "binancecleos", "payment_id": memo}
    client = signed_in(operator)
    assert "contains 1 space" in destination(client, **eos)
    client.post(PATH, typed(**eos))
    assert Withdrawal.objects.get().payment_id == "order 123"
    tabbed = destination(client, **{**eos, "payment_id": "order\t123"})
    assert "The payment ID contains a tab, line break or other blank at position" in tabbed
