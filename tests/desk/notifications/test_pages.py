"""The pages about telling people: what one is told, what left the desk, and where it is posted."""

import pytest

from desk import clock
from desk.notifications import outgoing
from desk.notifications.audiences import Route
from desk.notifications.models import Availability, Channel, Delivery, Notification, Preference, Recipient
from desk.people import totp
from tests.desk.notifications.keeping import NOW
from tests.desk.staff.keeping import SECRET, answer_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def treasurer(make_person):
    return make_person("treasury", username="ada", email="ada@desk.test")


@pytest.fixture
def one_mail(treasurer):
    row = Notification(
        stage="opened",
        subject="payout:1",
        kind="approvals",
        reference="W-1",
        title="Payout",
        url="/w/1/",
        created_at=NOW,
    )
    outgoing.post(row, [Route(treasurer, True, True, NOW)], [], now=NOW)
    return Delivery.objects.get()


def test_what_somebody_chooses_is_kept_and_what_is_critical_can_not_be_switched_off(signed_in, treasurer):
    client = signed_in(treasurer)
    page = client.get("/account/notifications/").content.decode()
    assert "Account frozen" in page
    assert "Key permissions differ" not in page, "that waits for administrators alone"
    wish = {"by_email": ["transfer-not-seen"], "in_browser": ["approvals"], "turn": "2"}
    client.post("/account/notifications/", wish | {"quiet_from": "22:00", "quiet_until": "07:00"})
    kept = {row.kind: (row.by_email, row.in_browser) for row in Preference.objects.all()}
    assert kept["approvals"] == (False, True)
    assert kept["transfer-not-seen"] == (True, False)
    assert "account-frozen" not in kept
    row = Availability.objects.get()
    assert (str(row.quiet_from), str(row.quiet_until), row.turn) == (
        "22:00:00",
        "07:00:00",
        2,
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"quiet_from": "22:00"}, "Enter both times, or neither."),
        ({"quiet_from": "25:00", "quiet_until": "07:00"}, "Enter a valid time"),
        ({"by_email": ["key-rights"]}, "Select a valid choice"),
        ({"turn": "9"}, "Select a valid choice"),
    ],
)
def test_odd_wishes_change_nothing(signed_in, treasurer, change, said):
    answer = signed_in(treasurer).post("/account/notifications/", {"turn": "1"} | change)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Availability.objects.exists()


def test_deliveries_are_read_by_admins_and_auditors_and_sent_again_by_admins(signed_in, make_person, one_mail):
    admin, auditor, operator = (make_person(role) for role in ("admin", "auditor", "operator"))
    Delivery.objects.update(state="failed", last_problem="The mail server refused the recipient.")
    again = f"/deliveries/{one_mail.pk}/again/"
    assert signed_in(operator).get("/deliveries/").status_code == 403
    page = signed_in(auditor).get("/deliveries/?state=failed&way=email").content.decode()
    assert "refused the recipient" in page
    assert again not in page
    assert signed_in(auditor).post(again).status_code == 403
    client = signed_in(admin)
    assert again in client.get("/deliveries/").content.decode()
    assert client.post(again).status_code == 302
    assert Delivery.objects.get().state == "queued"
    assert "not sent again" in client.post(again, follow=True).content.decode()


def test_the_demo_shows_mail_to_whom_it_went_and_a_real_desk_has_no_mailbox(
    signed_in, treasurer, one_mail, settings, make_person
):
    Delivery.objects.update(state="delivered", sent_at=NOW)
    client = signed_in(treasurer)
    assert "Approve: payout (W-1)" in client.get("/mailbox/").content.decode()
    for role, is_shown in (("operator", False), ("treasury", False), ("admin", True), ("auditor", True)):
        page = signed_in(make_person(role, username=f"other-{role}")).get("/mailbox/").content.decode()
        assert ("Approve: payout (W-1)" in page) is is_shown, role
    settings.MAILBOX = False
    assert client.get("/mailbox/").status_code == 404


def test_an_open_tab_reads_what_is_new_for_its_person_alone(signed_in, treasurer, make_person, one_mail):
    Notification.objects.update(created_at=clock.now())
    page = signed_in(treasurer).get("/frame/?parts=notices").content.decode()
    assert f'data-notice="{one_mail.notification.uid}"' in page
    assert "Approve: payout (W-1)" in page
    other = make_person("treasury", username="ben")
    assert "data-notice" not in signed_in(other).get("/frame/?parts=notices").content.decode()
    Notification.objects.update(created_at=NOW)
    assert "data-notice" not in signed_in(treasurer).get("/frame/?parts=notices").content.decode()


def test_a_grave_one_is_not_crowded_out_of_the_tab_by_many_that_are_not(signed_in, treasurer, one_mail):
    grave = one_mail.notification
    Notification.objects.filter(pk=grave.pk).update(created_at=clock.now(), severity="critical")
    for number in range(30):
        lesser = Notification(stage="opened", subject=f"incident:{number}", kind="prices-old", severity="medium")
        lesser.title, lesser.created_at = "Prices out of date", clock.now()
        lesser.save()
        Recipient.objects.create(notification=lesser, person=treasurer, in_browser=True)
    page = signed_in(treasurer).get("/frame/?parts=notices").content.decode()
    assert page.index(str(grave.uid)) == page.index('data-notice="') + len('data-notice="')
    assert page.count("data-notice=") == 5


def test_a_channel_is_added_after_a_look_and_its_secret_is_shown_once(signed_in, make_person):
    admin = make_person("admin")
    totp.enrol(admin, SECRET)
    client = signed_in(admin)
    wish = {"kind": "webhook", "name": "Pager", "address": "https://hooks.receiver.test/x?token=abc", "least": "high"}
    assert "hooks.receiver.test" in client.post("/channels/add/", wish).content.decode()
    assert not Channel.objects.exists()
    code = answer_at(0)["code"]
    page = client.post("/channels/add/", wish | {"confirmed": "yes", "code": code}).content.decode()
    assert "whsec_" in page
    row = Channel.objects.get()
    assert (row.host, row.least, row.decisions) == ("hooks.receiver.test", "high", False)
    listed = client.get("/channels/").content.decode()
    assert "whsec_" not in listed
    assert "token=abc" not in listed
    assert client.post(f"/channels/{row.pk}/remove/", {"code": "000000"}).status_code == 409
    assert client.post(f"/channels/{row.pk}/remove/", {"code": answer_at(1)["code"]}).status_code == 302
    assert Channel.objects.get().ended_at <= clock.now()
