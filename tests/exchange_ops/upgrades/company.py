"""What a company has beside its payments: freezes, keys, tokens, sessions, channels, comments, incidents, messages."""

from typing import Any
from uuid import uuid4

from django.test import Client

from desk import clock
from desk.actions import threads
from desk.incidents.models import Incident
from desk.lists.models import ListChoice, SavedFilter
from desk.models import Person
from desk.notifications.delivering import QUEUE as MESSAGES
from desk.notifications.models import Delivery
from desk.people import roles, tokens
from desk.personal.models import PersonalSettings
from exchange_ops.console import calls, entries
from exchange_ops.console.models import ConsoleCall
from exchange_ops.keys.models import ApiKey
from exchange_ops.policy import freezes
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals.models import Withdrawal
from project.celery import app
from tests.desk.notifications import keeping, test_channels
from tests.exchange_ops.keys import test_changes as keys
from tests.exchange_ops.permissions import shared_form
from tests.exchange_ops.permissions.subjects.incident_rows import INCIDENTS
from tests.exchange_ops.upgrades.every_state import Staff
from tests.exchange_ops.withdrawals.steps.test_drafting import thaw

FROZEN = "Third desk"


def fill(staff: Staff, walk: Any) -> None:
    """All of it; the checks that run by themselves are made last, on what is there then."""
    _freezes(walk)
    _keys(staff)
    _people(staff)
    run("exchange_ops.run_checks")
    run("exchange_ops.review_incidents")
    _incidents(staff)
    queued = Delivery.objects.filter(state="queued").order_by("pk")
    for row, state in zip(queued, MESSAGES.machine.table.states, strict=False):
        shared_form.walk(MESSAGES.machine, row, state, {})
    run("exchange_ops.review_incidents")  # one of them failed


def run(name: str) -> None:
    """What a worker does who is woken for this task."""
    app.loader.import_default_modules()
    app.tasks[name]()


def _freezes(walk: Any) -> None:
    """One that two people lifted, and one that holds with a single vote to lift it."""
    row = Account.objects.create(name=FROZEN, quote_currency="USD")
    for people in (2, 1):
        frozen = freezes.freeze(person=walk.approvers[0], reason="A drill", account=row, now=clock.now())
        for person in walk.approvers[:people]:
            thaw(walk, frozen, person)


def _keys(staff: Staff) -> None:
    """One that is being replaced, and one that was disabled."""
    admin = staff.colleague(roles.ADMIN, "keeper-of-keys")
    keys.CODES.step = 0
    old = ApiKey.objects.get(login="demo-read")
    keys.succeed(old, admin)
    spare = keys.add(old.account, admin, keys.pair("spare", rights=[Right.HISTORY]))
    keys.decide("disable", spare, admin)


def _people(staff: Staff) -> None:
    operator, treasurer = staff.colleague(roles.OPERATOR), staff.colleague(roles.TREASURY)
    now = clock.now()
    tokens.create(person=operator, name="the accounting", now=now)
    revoked, _ = tokens.create(person=operator, name="an old one", now=now)
    tokens.revoke(token_id=revoked.pk, now=now)
    for person in (operator, treasurer):
        Client().force_login(person)
        PersonalSettings.objects.create(person=person, zone="Europe/Berlin")
    ListChoice.objects.create(person=operator, list_name="withdrawals", columns=["reference", "state"], size=100)
    SavedFilter.objects.create(person=operator, list_name="withdrawals", name="Open", query="view=open")
    keeping.quiet(treasurer, 22, 7)
    keeping.chosen(treasurer, "approvals", by_email=False)
    test_channels.added(staff.colleague(roles.ADMIN, "keeper-of-channels"))
    subject = Withdrawal.objects.earliest("pk").subject
    threads.comment(
        subject=subject, person=operator, text="The invoice is attached.", request_key=str(uuid4()), now=now
    )
    _console(operator)


def _console(person: Person) -> None:
    """Requests of the console in each state; no guard is on them, and they move nothing."""
    for state in ConsoleCall.State.values:
        entry, texts = entries.entry("exchange", "get_symbol"), {"symbol": "ETHBTC"}
        row = calls.request(
            person=person, account=None, entry=entry, texts=texts, request_key=str(uuid4()), now=clock.now()
        )
        ConsoleCall.objects.filter(pk=row.pk).update(state=state)


def _incidents(staff: Staff) -> None:
    """One that somebody works on, and one that somebody closed."""
    admin = staff.colleague(roles.ADMIN, "keeper-of-incidents")
    client, subject = Client(), INCIDENTS[0]
    client.force_login(admin)
    wanted = ["incident-acknowledge", "incident-close"]
    for row in Incident.objects.filter(state="open").order_by("pk"):
        if not wanted:
            return
        answer = client.post(subject.path(row, wanted[0]), subject.routes[wanted[0]](row))
        if answer.status_code == 302:
            wanted.pop(0)
    assert not wanted, "no incident could be closed"
