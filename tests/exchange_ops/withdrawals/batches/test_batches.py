"""A batch of payouts: nothing before it is confirmed, then one payout for each line, once."""

import csv
import io
import re
import threading
import uuid
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection, transaction

from desk import clock
from exchange_ops.policy.payout_rules import PayoutRule
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.batches import checking, reading, requesting
from exchange_ops.withdrawals.batches.models import PayoutBatch, PayoutBatchLine
from exchange_ops.withdrawals.batches.requesting import CannotRequestBatch
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.models import Withdrawal
from tests import trail
from tests.exchange_ops import rows
from tests.exchange_ops.withdrawals.decisions.test_payout_rules import OTHER, publish

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
PATH = "/withdrawals/batch/"


def lines(*payouts):
    """CSV of payouts: each an amount, or the fields that differ from a usual line."""
    out = io.StringIO()
    writer = csv.DictWriter(out, reading.NAMES, lineterminator="\n")
    writer.writeheader()
    usual = {"currency": "BCH", "address": rows.ADDRESS, "reason": "Invoice 2041", "network_fee": "", "payment_id": ""}
    for each in payouts:
        writer.writerow({**usual, **({"amount": each} if isinstance(each, str) else {"amount": "1", **each})})
    return out.getvalue()


def previewed(client, text, **more):
    """The preview. Nothing is written for it, whatever it says."""
    before = Withdrawal.objects.count(), PayoutBatch.objects.count()
    page = client.post(PATH, {"text": text, "request_key": str(uuid.uuid4()), **more})
    assert (Withdrawal.objects.count(), PayoutBatch.objects.count()) == before
    return page


def words(page):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page.content.decode())))


def confirmed(client, page, text, **more):
    fields = {
        name: re.search(rf'name="{name}" value="([^"]*)"', page.content.decode())[1] for name in ("request_key", "mark")
    }
    return client.post(PATH, {"text": text, "step": "confirm", **fields, **more})


def requested(person, text, *, key=None, **more):
    """The domain's own answer, without a page."""
    arguments = {
        "account": Account.objects.earliest("pk"),
        "person": person,
        "key": key or uuid.uuid4(),
        "now": clock.now(),
    }
    return requesting.request(reading.read(text), **{**arguments, **more})


def test_a_batch_is_previewed_confirmed_and_each_line_is_one_payout(signed_in, operator, treasury):
    rows.currency("XYZ", precision_payout=18)
    rows.balance("XYZ")
    client = signed_in(operator)
    digits = {"currency": " xyz ", "amount": "0.123456789012345678", "network_fee": "deducted", "reason": "Invoice 7"}
    text = lines("1.25", {"address": OTHER, "amount": "2"}, digits)
    page = previewed(client, text)
    assert page.status_code == 200
    # Of XYZ no price is known, so that the strictest tier applies to both lines to its recipient.
    for words_of_page in (
        "BCH 2 3.2500 BCH",
        "1 line: 1 approval each",
        "2 lines: 3 approvals each",
        "0.123456789012345678 XYZ",
    ):
        assert words_of_page in words(page), words_of_page
    answer = confirmed(client, page, text)
    batch = PayoutBatch.objects.get()
    assert answer["Location"] == f"/withdrawals/batches/{batch.reference}/"
    payouts = list(Withdrawal.objects.order_by("batch_line__number"))
    assert [row.amount for row in payouts] == [Decimal("1.25"), Decimal(2), Decimal("0.123456789012345678")]
    assert [(row.currency, row.include_fee) for row in payouts] == [("BCH", False), ("BCH", False), ("XYZ", True)]
    assert [(row.address, row.state, row.initiator) for row in payouts[:2]] == [
        (rows.ADDRESS, "draft", operator),
        (OTHER, "draft", operator),
    ]
    assert [row.events.get().evidence for row in payouts] == [
        {"batch": batch.reference, "line": number} for number in (2, 3, 4)
    ]
    lines_of_page = words(client.get(answer["Location"]))
    assert all(row.reference in lines_of_page for row in payouts)
    assert "3 payouts" in words(client.get("/search/", {"q": batch.reference.lower()}))
    alone = rows.requested(operator, now=clock.now())
    found = words(client.get("/withdrawals/", {"batch": batch.reference}))
    assert payouts[0].reference in found
    assert f"{alone.reference} " not in found
    assert f"{batch.reference} , line 2" in words(signed_in(treasury).get(f"/withdrawals/{payouts[0].pk}/"))


def test_every_line_with_a_problem_is_named_and_one_is_enough_to_create_none(signed_in, operator):
    text = lines(
        "1.5",
        {"amount": "1,5"},
        {"currency": "NOPE"},
        {"address": "bchreg:wrong"},
        {"reason": " "},
        {"network_fee": "free"},
        {"amount": "1.123456789"},
        {"amount": "600"},
        {"address": f"{rows.ADDRESS}?amount=1"},
    )
    page = previewed(signed_in(operator), text + "BCH,1\n")
    assert page.status_code == 422
    problems = [re.sub(r"\s+", " ", item) for item in re.findall(r"Line \d+: [^<]*", unescape(words(page)))]
    joined = " ".join(problems)
    for sentence in (
        "Line 3: Amount: Enter the amount with a decimal point",
        "Line 4: Currency: ",
        "Line 5: Address: ",
        "Line 6: Reason: Enter the purpose of the payment.",
        "Line 7: Network fee: enter added or deducted",
        "Line 8: Amount: BCH allows at most 8 decimals.",
        "Line 9: Amount: 600.001 BCH would be debited",
        "Line 10: Address: ",
        "Line 11: 2 fields, but the header has 6 columns.",
    ):
        assert sentence in joined, sentence
    assert "Line 2:" not in joined
    with pytest.raises(CannotRequestBatch, match="Nothing was requested"):
        requested(operator, text)
    assert not Withdrawal.objects.exists()


def test_all_lines_of_a_currency_together_must_be_covered_by_the_balance(signed_in, operator):
    page = previewed(signed_in(operator), lines("300", "199.999"))
    assert page.status_code == 422
    assert "All BCH lines: 500.001 BCH would be debited including the fee, but only 500 were available" in words(page)
    assert previewed(signed_in(operator), lines("300", "199.998")).status_code == 200, "just enough is enough"


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (PayoutRule("count", Decimal(2), 24), 4),
        (PayoutRule("total", Decimal(1_600), 24), 5),
        (PayoutRule("recipient_count", Decimal(2), 1), 5),
    ],
)
def test_limits_over_time_count_the_lines_before(operator, rule, line):
    publish(rule)
    text = lines("1", "1.1", {"address": OTHER}, "0.9")
    with pytest.raises(CannotRequestBatch) as refusal:
        requested(operator, text)
    assert next((each.number, each.problems[0][:9]) for each in refusal.value.checked.wrong) == (line, "Not paid:")
    assert not Withdrawal.objects.exists()


def test_the_approvals_shown_are_those_that_each_payout_needs_once_all_are_recorded(operator):
    publish(
        PayoutRule("total", Decimal(1_000), 24, approvals=3), PayoutRule("recipient_count", Decimal(1), 1, approvals=2)
    )
    text = lines("0.5", "0.6", {"address": OTHER, "amount": "0.4"})
    entries, account = reading.read(text), Account.objects.get()
    checked = checking.check(entries, account=account, person=operator, key=uuid.uuid4(), now=clock.now())
    assert checked.approvals == [(1, 1), (2, 2)]
    requested(operator, text)
    judged = [
        policy_evaluation.evaluate(row, now=clock.now())[0].approvals for row in Withdrawal.objects.order_by("pk")
    ]
    assert judged == [line.verdict.approvals for line in checked.lines]


def test_a_repeated_payment_is_marked_and_needs_a_tick(signed_in, operator):
    client = signed_in(operator)
    recent = rows.requested(operator, now=clock.now(), amount=Decimal(2))
    text = lines("1", "1", "2")
    page = previewed(client, text)
    assert page.status_code == 200
    assert "Same recipient and amount as line 2." in words(page)
    assert f"Same recipient and amount as {recent.reference}, requested in the last 24 hours." in words(page)
    answer = confirmed(client, page, text)
    assert answer.status_code == 409
    assert "Nothing was requested. Some lines repeat a payment" in words(answer)
    assert Withdrawal.objects.count() == 1
    assert confirmed(client, answer, text, repeats="yes").status_code == 302
    assert Withdrawal.objects.count() == 4


def test_nothing_is_requested_without_the_preview_of_exactly_these_lines(signed_in, operator, make_person):
    client, text = signed_in(operator), lines("1")
    page = previewed(client, text)
    another = signed_in(make_person("operator", username="another"))
    for answer in (
        client.post(PATH, {"text": text, "step": "confirm", "request_key": str(uuid.uuid4())}),
        confirmed(client, page, lines("2")),
        confirmed(another, page, text),
    ):
        assert answer.status_code == 409
        assert "This preview is out of date" in words(answer)
    assert not Withdrawal.objects.exists()


def test_a_double_click_two_tabs_and_the_same_file_again_are_one_batch(signed_in, operator, make_person):
    client, text = signed_in(operator), lines("1", "2")
    tabs = [previewed(client, text) for _ in range(2)]
    answers = [confirmed(client, tab, text) for tab in (*tabs, tabs[0])]
    colleague = signed_in(make_person("operator", username="colleague"))
    again = previewed(colleague, text.replace("\n", "\r\n"))
    batch = PayoutBatch.objects.get()
    assert f"The same lines were requested in the last 24 hours as {batch.reference}" in words(again)
    answers.append(confirmed(colleague, again, text, repeats="yes"))
    assert {answer["Location"] for answer in answers} == {f"/withdrawals/batches/{batch.reference}/"}
    assert Withdrawal.objects.count() == 2
    key = uuid.UUID(batch.request_key)
    with pytest.raises(CannotRequestBatch, match="already submitted with different lines, as BT-"):
        requested(operator, lines("1"), key=key)
    for row in Withdrawal.objects.all():
        workflow.cancel(withdrawal_id=row.pk, person=operator, reason="", now=clock.now())
    _, is_new = requested(operator, text)
    assert is_new, "of the first batch nothing was paid"
    seen = checking.check(
        reading.read(text), account=batch.account, person=operator, key=uuid.uuid4(), now=clock.now()
    ).repeated
    _, is_new = requested(operator, text, now=clock.now() + timedelta(hours=25), accepted=seen)
    assert is_new, "the same payroll of another day"


@pytest.mark.django_db(transaction=True)
def test_the_same_batch_confirmed_at_one_moment_is_requested_once(operator, make_person):
    text, key = lines("1", "2", "3"), uuid.uuid4()
    acts = [(operator, key), (operator, key), (operator, uuid.uuid4()), (make_person("operator", username="b"), key)]
    batches, start = [], threading.Barrier(len(acts))

    def run(person, own_key):
        try:
            start.wait(10)
            batches.append(requested(person, text, key=own_key))
        except Exception as problem:
            batches.append((problem, None))
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=act) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    batch = PayoutBatch.objects.get()
    assert [each[0] for each in batches] == [batch] * len(acts), batches
    assert sorted(each[1] for each in batches) == [False, False, False, True]
    assert Withdrawal.objects.count() == 3
    assert trail.problems() == []


def test_a_failure_in_the_middle_leaves_nothing(operator):
    text, key = lines("1", "2", "3"), uuid.uuid4()
    taken = rows.requested(operator, now=clock.now(), request_key=str(checking.line_key(key, 3)), amount=Decimal(9))
    with pytest.raises(CannotRequestBatch) as refusal:
        requested(operator, text, key=key)
    assert [line.number for line in refusal.value.checked.wrong] == [3]
    assert [*Withdrawal.objects.all()] == [taken]
    assert not PayoutBatch.objects.exists()


def test_hostile_content_is_text_on_every_page_and_stays_as_it_was(signed_in, operator):
    client = signed_in(operator)
    reasons = ['=HYPERLINK("http://evil.test")', "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>']
    text = lines(*({"amount": str(at + 1), "reason": reason} for at, reason in enumerate(reasons)))
    page = previewed(client, text)
    answer = confirmed(client, page, text)
    for each in (
        page,
        client.get(answer["Location"]),
        previewed(client, lines({"address": "<script>alert(1)</script>"})),
    ):
        assert "<script>alert" not in each.content.decode()
        assert "<img src=x" not in each.content.decode()
    assert [row.reason for row in Withdrawal.objects.order_by("pk")] == reasons


def test_a_file_and_lines_by_hand_are_taken_one_way_at_a_time(signed_in, operator):
    client = signed_in(operator)
    content = b"\xef\xbb\xbf" + lines("1.25").replace(",", ";").replace("\n", "\r\n").encode()
    file = lambda data, name="payroll.csv": SimpleUploadedFile(name, data, content_type="text/csv")  # noqa: E731
    assert previewed(client, "", file=file(content)).status_code == 200
    by_hand = {"currency-1": "BCH", "amount-1": "1.25", "address-1": rows.ADDRESS, "reason-1": "Invoice, the second"}
    assert "Invoice, the second" in words(previewed(client, "", **by_hand))
    for sent, sentence in (
        ({"text": "", "file": file(content), **by_hand}, "Use one way at a time"),
        ({"text": "", "file": file(b"x" * 300_000)}, "The file is larger than 256 KB."),
        ({"text": "", "file": file(b"PK\x03\x04")}, "a workbook or a document"),
        ({"text": ""}, "There are no lines."),
        ({"text": "currency\0"}, "binary data"),
    ):
        page = previewed(client, **sent)
        assert page.status_code == 422
        assert sentence in words(page), sentence
    assert "Invoice 2041" in words(client.post(PATH, {"step": "edit", "text": lines("1"), "request_key": "x"}))
    example = client.get("/withdrawals/batch/example.csv")
    assert len(previewed(client, example.content.decode()).context["checked"].wrong) == 2, "it pays nobody"


def test_only_operators_of_the_account_request_and_only_its_people_read(signed_in, operator, treasury, make_person):
    client, text = signed_in(operator), lines("1")
    batch, _ = requested(operator, text)
    place = f"/withdrawals/batches/{batch.reference}/"
    assert signed_in(treasury).get(PATH).status_code == 403
    assert previewed(signed_in(treasury), text).status_code == 403
    with pytest.raises(CannotRequestBatch, match="Only operators"):
        requested(treasury, lines("3"))
    other = Account.objects.create(name="Second desk", quote_currency="USD")
    assert client.get(f"/accounts/{batch.account_id}{place}").status_code == 200
    assert client.get(f"/accounts/{other.pk}{place}").status_code == 404
    limited = make_person("operator", username="limited", limits=f"operator:{other.pk}")
    assert signed_in(limited).get(place).status_code == 404
    with pytest.raises(CannotRequestBatch, match="Only operators"):
        requested(limited, lines("3"), account=batch.account)


def test_treasury_reviews_what_waits_in_one_selection(signed_in, operator, treasury):
    batch, _ = requested(operator, lines("1", "2", "3"))
    place, client = f"/withdrawals/batches/{batch.reference}/", signed_in(treasury)
    assert 'name="of"' not in client.get(place).content.decode()
    payouts = list(Withdrawal.objects.order_by("pk"))
    for row in payouts[:2]:
        _, columns = policy_evaluation.evaluate(row, now=clock.now(), fee_estimate=Decimal("0.001"))
        rows.withdrawal_machine.move(row, event="submitted", to="review", now=clock.now(), **columns)
    page = client.get(place)
    chosen = re.findall(r'name="of" value="([^"]*)"', page.content.decode())
    assert chosen == [row.subject for row in payouts[:2]]
    assert "0 of 1" in words(page)
    review = words(client.get("/action/selection/", {"of": chosen}))
    assert all(row.reference in review for row in payouts[:2])
    assert 'name="of"' not in signed_in(operator).get(place).content.decode()


def test_the_database_refuses_a_foreign_line_and_any_edit(operator, make_person):
    batch, _ = requested(operator, lines("1"))
    foreign = rows.requested(make_person("operator", username="another"), now=clock.now())
    for act in (
        lambda: PayoutBatchLine.objects.create(batch=batch, number=9, withdrawal=foreign),
        lambda: PayoutBatchLine.objects.update(number=9),
        lambda: PayoutBatch.objects.update(repeat=9),
        lambda: PayoutBatchLine.objects.all()._raw_delete("default"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            act()
