"""Comments, files and taking: stored once, shown to all who may see the subject, written by nobody who only reads."""

import hashlib
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, transaction
from django.urls import reverse

from desk import audit_check, clock
from desk.actions import attachments, file_types, room
from desk.actions.models import LONGEST_COMMENT, Attachment, Comment, StoredFile, Taken
from desk.live import announcements
from desk.models import AuditEvent
from desk.notifications import messages
from desk.notifications.models import Notification
from tests.exchange_ops import rows
from tests.rows import unguarded

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def row(operator, payable):
    return rows.held(operator, now=clock.now())


def thread_of(row):
    return f"/action/threads/withdrawal/{row.pk}/"


def said(client, row):
    return client.get(thread_of(row), headers=HTMX).content.decode()


def test_a_comment_is_read_by_colleagues_and_stands_in_the_trail(signed_in, operator, treasury, auditor, row):
    answer = signed_in(operator).post(thread_of(row), {"text": " The invoice is attached.\nSee page 2. "})
    assert (answer.status_code, answer["Location"]) == (302, f"/withdrawals/{row.pk}/#thread")
    for reader in (treasury, auditor):
        page = said(signed_in(reader), row)
        assert "The invoice is attached.\nSee page 2." in page
        assert ("Add comment" in page) == (reader is treasury)
    event = AuditEvent.objects.get(action="thread.commented")
    assert event.subject == f"thread:withdrawal:{row.pk}"
    row.refresh_from_db()
    assert row.state == "held"


def test_who_is_named_is_notified_once_if_they_may_see_it(signed_in, operator, treasury, make_person, row):
    stranger = make_person(username="stranger")
    text = f"@{treasury.username}, please look. @{stranger.username} @nobody.here and mail@{treasury.username}"
    for _ in range(2):
        signed_in(operator).post(thread_of(row), {"text": text, "request_key": "k1"})
    mention = Notification.objects.get(kind="mentions")
    assert [each.person for each in mention.recipients.all()] == [treasury]
    assert (mention.title, mention.url) == ("operator mentioned you in a comment", f"/withdrawals/{row.pk}/")
    assert messages.headline(mention) == mention.title


def test_what_is_assigned_to_me_is_a_list_of_its_own(signed_in, treasury, row):
    client = signed_in(treasury)
    assert row.reference not in client.get("/action/?list=assigned").content.decode()
    client.post(f"{thread_of(row)}take/")
    assert row.reference in client.get("/action/?list=assigned").content.decode()


def test_the_same_form_sent_twice_says_it_once(signed_in, operator, row):
    client = signed_in(operator)
    for _ in range(2):
        assert client.post(thread_of(row), {"text": "Once.", "request_key": "k1"}, headers=HTMX).status_code == 200
    assert Comment.objects.get().text == "Once."


@pytest.mark.parametrize("text", ["", "   \n ", "x" * (LONGEST_COMMENT + 1), "y" * 10_000])
def test_what_can_not_be_kept_is_given_back_with_the_reason(signed_in, operator, row, text):
    answer = signed_in(operator).post(thread_of(row), {"text": text}, headers=HTMX)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Enter a comment." in page or f"up to {LONGEST_COMMENT} characters; this one is {len(text)}." in page
    assert text.strip() in page, "nothing typed is lost"
    assert not Comment.objects.exists()


def test_markup_and_turned_text_are_shown_as_what_they_are(signed_in, operator, treasury, row):
    signed_in(operator).post(thread_of(row), {"text": "<script>alert(1)</script> pay \u202e0001"})
    page = said(signed_in(treasury), row)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\u202e" not in page
    assert "RLO" in page


def test_one_takes_it_and_everybody_may_put_it_back(signed_in, operator, treasury, auditor, row):
    take = f"{thread_of(row)}take/"
    assert signed_in(treasury).post(take).status_code == 302
    assert Taken.objects.get().person == treasury
    late = signed_in(operator).post(take, headers=HTMX).content.decode()
    assert "Already changed by someone else" in late
    assert Taken.objects.get().person == treasury
    assert signed_in(auditor).post(take).status_code == 403
    assert signed_in(operator).post(take, {"put_back": "yes"}).status_code == 302
    assert not Taken.objects.exists()
    moves = AuditEvent.objects.filter(action__startswith="thread.").values_list("action", flat=True)
    assert sorted(moves) == ["thread.put_back", "thread.taken"]


@pytest.mark.parametrize("path", ["withdrawal/999999/", "nothing/1/", "incident/77/", "person/1/"])
def test_there_is_no_thread_of_what_is_not_there(signed_in, operator, payable, path):
    client = signed_in(operator)
    assert client.get(f"/action/threads/{path}").status_code == 404
    assert client.post(f"/action/threads/{path}", {"text": "Hello"}).status_code == 404
    assert not Comment.objects.exists()


def test_a_comment_is_never_edited_or_removed(operator, row):
    columns = {"subject": row.subject, "person": operator, "request_key": "k", "at": clock.now()}
    kept = Comment.objects.create(text="As it was.", **columns)
    for change in (lambda: Comment.objects.filter(pk=kept.pk).update(text="Other."), kept.delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    kept.refresh_from_db()
    assert kept.text == "As it was."


def test_the_page_of_a_withdrawal_has_its_thread(signed_in, treasury, row):
    page = signed_in(treasury).get(f"/withdrawals/{row.pk}/").content.decode()
    assert re.search(rf'id="thread"[^>]*hx-get="{thread_of(row)}"', page)


PDF = b"%PDF-1.7\n1 0 obj <<>> endobj\nstartxref\n0\n%%EOF\n"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 30 + b"IEND\xaeB`\x82"
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 30 + b"\xff\xd9"


def send_file(client, row, name="invoice.pdf", content=PDF, **fields):
    return client.post(f"{thread_of(row)}files/", {"file": SimpleUploadedFile(name, content), **fields}, headers=HTMX)


def downloaded(client, row, file):
    answer = client.get(f"{thread_of(row)}files/{file.pk}/")
    return answer, b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_a_file_is_read_by_colleagues_exactly_as_it_was_attached(signed_in, operator, treasury, auditor, row):
    assert send_file(signed_in(operator), row, "C:\\bills\\Rechnung Nº 7.pdf").status_code == 200
    file = Attachment.objects.get()
    for reader in (treasury, auditor):
        client = signed_in(reader)
        assert "Rechnung Nº 7.pdf" in said(client, row)
        answer, content = downloaded(client, row, file)
        assert (answer["Content-Type"], content) == ("application/pdf", PDF)
        assert answer["Content-Disposition"] == "attachment; filename*=utf-8''Rechnung%20N%C2%BA%207.pdf"
        assert ("Attach file" in said(client, row)) == (reader is treasury)
    event = AuditEvent.objects.get(action="thread.attached")
    assert event.after == {
        "name": "Rechnung Nº 7.pdf",
        "sha256": hashlib.sha256(PDF).hexdigest(),
        "bytes": str(len(PDF)),
        "type": "PDF",
    }
    assert "1 file" in signed_in(treasury).get("/action/").content.decode()


@pytest.mark.parametrize(("name", "content"), [("a.png", PNG), ("b.JPEG", JPEG), ("c.csv", b"a,b\n"), ("d.txt", b"x")])
def test_each_kind_of_file_is_taken(signed_in, operator, row, name, content):
    assert send_file(signed_in(operator), row, name, content).status_code == 200
    assert Attachment.objects.get().size == len(content)


REFUSED = [
    ("empty.pdf", b"", "the file is empty"),
    ("page.html", b"<script>alert(1)</script>", "the file must be PDF, PNG, JPEG, CSV or text"),
    ("invoice.pdf.exe", PDF, "the file must be PDF"),
    ("invoice", PDF, "the file must be PDF"),
    ("invoice.pdf", PNG, "is not a PDF file"),
    ("cut.pdf", PDF[:20], "is not a PDF file"),
    ("scan.png", PDF, "is not a PNG file"),
    ("scan.jpg", JPEG[:10], "is not a JPEG file"),
    ("list.csv", b"a\0b", "is not a CSV file"),
    ("list.txt", b"\xff\xfeb", "is not a text file"),
    ("inv\u115ffdp.txt", b"x", "invisible characters"),
    ("x" * 130 + ".pdf", PDF, "up to 120 characters"),
]


@pytest.mark.parametrize("case", REFUSED, ids=[reason for *_, reason in REFUSED])
def test_what_is_no_such_file_is_refused_with_the_reason(signed_in, operator, row, case):
    name, content, reason = case
    answer = send_file(signed_in(operator), row, name, content)
    problem = " ".join(re.findall(r"Not attached: [^<]*", answer.content.decode()))
    assert (answer.status_code, reason in problem) == (422, True)
    assert not Attachment.objects.exists()
    assert not StoredFile.objects.exists()


def test_no_file_and_a_file_that_is_too_large_are_refused(signed_in, operator, row, monkeypatch):
    client = signed_in(operator)
    none = client.post(f"{thread_of(row)}files/", {}, headers=HTMX)
    assert (none.status_code, "Choose a file." in none.content.decode()) == (422, True)
    large = send_file(client, row, "a.txt", b"x" * (file_types.MOST_BYTES + 1))
    assert "larger than 5 MB" in large.content.decode()
    monkeypatch.setattr(attachments, "MOST_FILES", 1)
    assert send_file(client, row, "a.txt", b"x" * file_types.MOST_BYTES).status_code == 200
    assert "1 files are attached already" in send_file(client, row).content.decode()


def test_a_new_file_reaches_the_facts_that_somebody_is_about_to_approve(signed_in, operator, row, monkeypatch):
    topics = []
    monkeypatch.setattr(announcements, "announce", lambda topic, **hint: topics.append(topic))
    send_file(signed_in(operator), row)
    assert row.subject in topics


def test_the_same_file_is_attached_once_and_stored_once(signed_in, operator, treasury, row):
    for _ in range(2):
        assert send_file(signed_in(operator), row, request_key="k1").status_code == 200
    again = send_file(signed_in(treasury), row, "other name.pdf")
    assert "operator already attached this file as “invoice.pdf”" in again.content.decode()
    other = rows.held(operator, now=clock.now())
    assert send_file(signed_in(operator), other, request_key="k2").status_code == 200
    assert (Attachment.objects.count(), StoredFile.objects.count()) == (2, 1)


def test_who_only_reads_attaches_nothing_and_a_stranger_reads_nothing(signed_in, operator, auditor, make_person, row):
    send_file(signed_in(operator), row)
    file = Attachment.objects.get()
    assert send_file(signed_in(auditor), row, "b.txt", b"x").status_code == 403
    assert downloaded(signed_in(make_person(username="stranger")), row, file)[0].status_code == 403
    other = rows.held(operator, now=clock.now())
    assert downloaded(signed_in(operator), other, file)[0].status_code == 404, "a file belongs to its subject"
    assert Attachment.objects.count() == 1


def test_a_file_is_never_edited_and_a_changed_content_is_not_handed_out(signed_in, operator, row):
    send_file(signed_in(operator), row)
    file = Attachment.objects.select_related("stored").get()
    changes = (
        lambda: Attachment.objects.filter(pk=file.pk).update(name="other.pdf"),
        file.delete,
        lambda: StoredFile.objects.update(content=b"other"),
        lambda: StoredFile.objects.filter(pk=file.stored_id).delete(),
    )
    for change in changes:
        with pytest.raises(DatabaseError), transaction.atomic():
            change()
    with unguarded(room.GUARDS):
        StoredFile.objects.update(content=PDF + b" ")
    assert f"file {file.stored_id}: the content was changed" in audit_check.verify(replay=True)
    answer, content = downloaded(signed_in(operator), row, file)
    assert answer.status_code == 409
    assert "is not what operator attached: its content was changed in the database" in content.decode()


def test_a_forged_file_is_named_by_the_replay_of_the_trail(signed_in, operator, row):
    def differences():
        events = AuditEvent.objects.filter(subject__startswith="thread:").order_by("seq")
        return [line.partition(": ")[2] for line in attachments.replay(events.iterator())]

    send_file(signed_in(operator), row)
    file = Attachment.objects.get()
    assert differences() == []
    other = {"person": operator, "stored_id": file.stored_id, "media_type": "x", "size": 1, "at": clock.now()}
    forged = Attachment.objects.create(subject="withdrawal:99", name="a.pdf", request_key="forged", **other)
    assert differences() == ["no audit entry records this file"]
    with unguarded(room.GUARDS):
        forged.delete()
        Attachment.objects.filter(pk=file.pk).update(name="b.pdf")
        event = AuditEvent.objects.get(action="thread.attached")
        assert differences() == [f"audit entry {event.seq} records another name or person"]
        Attachment.objects.filter(pk=file.pk).delete()
    assert differences() == ["the file that it records is missing"]


def test_an_approver_sees_the_files_on_the_page_and_in_a_review(signed_in, operator, treasury, row):
    send_file(signed_in(operator), row)
    client, link = signed_in(treasury), f'<a href="{thread_of(row)}files/{Attachment.objects.get().pk}/">'
    for path in (f"/withdrawals/{row.pk}/", f"/action/selection/?of={row.subject}"):
        assert link in client.get(path).content.decode(), path


def test_only_a_file_may_be_a_larger_request(row):
    assert file_types.paths().fullmatch(reverse("thread-files", args=("withdrawal", row.pk)))
    assert file_types.paths().fullmatch(reverse("thread-files", args=("payout-batch", 1)))
    assert file_types.paths().fullmatch(reverse("withdrawal-new"))
    assert file_types.paths().fullmatch("/accounts/2/action/threads/withdrawal/1/files/"), "one of several accounts"
    assert not file_types.paths().fullmatch(reverse("thread", args=("withdrawal", row.pk)))
    assert not file_types.paths().fullmatch("/action/threads/withdrawal/1/files/1/")
