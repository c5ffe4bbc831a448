"""The pages that a company runs on, with nothing on them and with far too much: both themes, every width, axe."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.people import tokens, totp
from desk.staff import invitations, states
from exchange_ops.policy import quorum
from exchange_ops.policy.models import PolicyVersion, QuorumTier, ValueLimit
from exchange_ops.policy.modes import HOLD_THEN_APPROVE
from tests.desk.staff import keeping as staff
from tests.e2e.looks import complaints
from tests.exchange_ops import rows
from tests.exchange_ops.policy_changes.keeping import LOOSER, SECRET, Codes, propose

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.thorough("the pages are looked at always with the rows of a desk at work"),
]
PAGES = {
    "action": "/action/",
    "action-all": "/action/?list=all",
    "action-done": "/action/?list=done",
    "people": "/people/",
    "deliveries": "/deliveries/",
    "channels": "/channels/",
    "mailbox": "/mailbox/",
    "policy": "/policy/",
    "tokens": "/account/tokens/",
    "sessions": "/account/sessions/",
    "factors": "/account/second-factor/",
    "going-live": "/going-live/",
    "overview": "/",
}
LONG = "Ωmega Holding Überseehandelsgesellschaft mit beschränkter Haftung"
WORDS = " ".join([LONG] * 4)


def judged(page, base, pages, state):
    found = []
    for name, path in pages.items():
        page.goto(f"{base}{path}", wait_until="networkidle")
        found += complaints(page, f"{state}-{name}")
    return found


def test_empty_pages_say_what_comes_next(open_as, make_person):
    admin = make_person("admin", username="first")
    page = open_as(admin, "/action/")
    base = page.url.split("/action/")[0]
    assert judged(page, base, PAGES, "empty") == []
    assert page.violations == []


def test_crowded_pages_hold_what_a_company_of_many_years_has(open_as, make_person, operator):
    now = clock.now()
    admins = []
    for number in range(9):
        person = make_person("admin", username=f"admin-{number}-of-the-house", email=f"admin{number}@desk.test")
        totp.enrol(person, SECRET)
        admins.append(person)
    for number in range(40):
        make_person("operator", username=f"{number}-{LONG}"[:60].replace(" ", "."))
    _change_people(admins, operator)
    for number in range(30):
        tokens.create(person=admins[0], name=f"{number} {LONG}", now=now, days=1 + number * 12)
    _publish_often(admins, now)
    for number in range(30):
        rows.held(operator, now=now, amount=Decimal(number + 1), reason=WORDS)
    page = open_as(admins[0], "/action/")
    base = page.url.split("/action/")[0]
    one = f"/people/{operator.pk}/"
    pages = {
        **PAGES,
        "person": one,
        "version": "/policy/versions/40/",
        "draft": "/policy/draft/",
        "invite": "/people/invite/",
    }
    assert judged(page, base, pages, "crowded") == []
    assert page.violations == []


def _change_people(admins, operator):
    for number, admin in enumerate(admins[1:7]):
        wanted = {"operator", "treasury"} if number % 2 else {"auditor"}
        name, email = f"invited-{number}", f"invited{number}@a-long-company-name.desk.test"
        invitations.invite(
            name=name,
            email=email,
            grants=wanted,
            actor=admin,
            digest=invitations.digest_of(name=name, email=email, grants=wanted),
            answer=staff.answer_at(0),
            session_key="s",
            now=clock.now(),
        )
    staff.requested(
        states.ROLES,
        operator,
        admins[7],
        staff.answer_at(0),
        grants={"operator", "treasury"},
        reason=WORDS,
    )


def _publish_often(admins, now):
    """Forty versions, the last of many tiers and limits of people, and one more change that waits."""
    quorum.ensure_first(now=now)
    for number in range(2, 41):
        version = PolicyVersion.objects.create(
            number=number,
            published_at=now - timedelta(days=41 - number),
            published_by=admins[number % 9],
            note=f"{LONG} {number}",
        )
        for row in range(8 if number == 40 else 1):
            up_to, mode = (Decimal(10) ** (row + 2), HOLD_THEN_APPROVE) if number == 40 else (None, HOLD_THEN_APPROVE)
            QuorumTier.objects.create(policy=version, up_to=up_to, approvals=row // 3 + 1, mode=mode)
    for number in range(18):
        kind, person = ("order", "transfer")[number % 2], admins[number // 2]
        ValueLimit.objects.create(policy=version, kind=kind, most=Decimal(1000 * (number + 1)), person=person)
    propose(Codes(), admins[8], LOOSER, now=now, reason=WORDS)
