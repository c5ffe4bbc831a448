"""What has to hold before a company pays through the desk, verified by the desk itself where possible.

Nothing is stored here: every item is read from rows, settings and the trail when the page is opened. `at` is the time
of the row that proves it, or now for what is checked now.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import connection
from django.urls import reverse

from desk import health, sealing
from desk.models import Person
from desk.notifications.models import Delivery, Medium
from desk.people import factors, roles
from exchange_ops.going_live import confirmations
from exchange_ops.keys.models import ApiKey
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import facts, places
from exchange_ops.shared.models import Account, CheckRun
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

TREASURERS: Final = 2
_GRANTED: Final = "granted"
_LOCAL: Final = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one item holds now, with a sentence about it."""

    holds: bool
    sentence: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One item: why it matters, whether it holds, and what an administrator can do about it."""

    name: str
    title: str
    why: str
    verdict: Verdict
    command: str = ""
    link: tuple[str, str] | None = None
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """The request of the page: whether it came by TLS, the host name, and the time."""

    is_secure: bool
    host: str
    now: datetime


def all_items(visit: Visit) -> list[Item]:
    """Every item, in the order in which a company completes them."""
    return [*_machine_items(visit), *_people_items(), *_exchange_items(visit.now), *_company_items()]


def _machine_items(visit: Visit) -> Iterator[Item]:
    yield Item(
        "tls",
        "TLS under the desk's own name",
        "Passwords and decisions travel by it, and passkeys are bound to the name.",
        _tls(visit),
        command="ALLOWED_HOSTS=desk.example.com\nDESK_URL=https://desk.example.com\nTRUSTED_PROXIES=…",
    )
    yield Item(
        "secrets",
        "Secrets and key ring kept twice",
        "Without the ring no key of the exchange can be opened again, and no approval be shown to be genuine.",
        _confirmed(confirmations.KEY_RING, of_this_ring=True),
        asks=confirmations.KEY_RING,
    )
    yield Item(
        "rows",
        "Database and broker",
        "PostgreSQL keeps several processes at work at once, and can be backed up while they are.",
        _rows(visit.now),
        command="DATABASE_URL=postgres://…\nREDIS_URL=rediss://…\npython manage.py prepare",
    )


def _people_items() -> Iterator[Item]:
    yield Item(
        "admin",
        "First administrator",
        "Somebody has to invite the others; nobody is made in the database.",
        _admin(),
        command="python manage.py create_admin NAME",
    )
    yield Item(
        "treasury",
        "Two of treasury with passkeys",
        "A code can be read out to a caller; a passkey works on this desk alone. Two, so that one can be ill.",
        _treasury(),
        link=("Invite somebody", reverse("person-invite")),
    )


def _company_items() -> Iterator[Item]:
    yield Item(
        "audit",
        "Audit trail and rows agree",
        "The check counts every approval again and finds any row that was changed past the desk.",
        _check(scheduled_checks.AUDIT),
        command="python manage.py verify_audit --replay",
    )
    yield Item(
        "policy",
        "Rules of the company published",
        "A fresh desk begins with rules that somebody else wrote.",
        _policy(),
        link=("Change the rules", reverse("policy-draft")),
    )
    yield Item(
        "mail",
        "E-mail delivered",
        "What waits for somebody reaches them where they are.",
        _mail(),
        command="EMAIL_URL=smtps://user:password@host:465\nMAIL_FROM=desk@example.com",
    )
    yield Item(
        "payout",
        "Smallest payout made and proven",
        "It goes the whole way once, with little money, before any payout matters.",
        _payout(),
    )
    yield Item(
        "backup",
        "Backup restored once",
        "A backup that nobody restored is a hope.",
        _confirmed(confirmations.BACKUP),
        asks=confirmations.BACKUP,
    )


def _exchange_items(now: datetime) -> Iterator[Item]:
    yield Item(
        "places",
        "Each account at an exchange of the settings",
        "An account whose exchange the settings do not name is neither read nor paid from; no other exchange is asked.",
        _places(now),
        command="EXCHANGE_PLACES=NAME=https://… wss://…",
    )
    yield Item(
        "key",
        "A key that only reads",
        "With it the desk shows everything and can pay nothing; the key that pays comes when this works.",
        _key(),
        link=("Add a key", reverse("key-new")),
    )
    yield Item(
        "probe",
        "The exchange asked what its pages leave open",
        "Until it was seen that a forgotten reservation is not paid, approvals come before anything is reserved.",
        _each_account(_probe),
        command="python manage.py probe_exchange",
    )
    yield Item(
        "reconciliation",
        "Reconciliation equal",
        "The balances that the exchange names are what its ledger adds up to.",
        _each_account(lambda account: _check(scheduled_checks.name_of(account))),
        command="python manage.py reconcile",
    )


def _tls(visit: Visit) -> Verdict:
    if settings.DEMO:
        return Verdict(holds=False, sentence="This is a demo: it speaks plain HTTP to this machine.")
    name = visit.host.rsplit(":", 1)[0].strip("[]")
    if name in _LOCAL:
        return Verdict(holds=False, sentence=f"The page was asked for as {name}, which is this machine alone.")
    if not visit.is_secure:
        return Verdict(holds=False, sentence="The request came without TLS, or the proxy does not say that it had it.")
    return Verdict(holds=True, sentence=f"This page was asked for as {name}, by TLS.", at=visit.now)


def _confirmed(name: str, *, of_this_ring: bool = False) -> Verdict:
    event = confirmations.newest(name)
    if event is None:
        return Verdict(holds=False, sentence="Nobody has confirmed it yet. The desk can't see it by itself.")
    confirmation = confirmations.facts_of(event)
    who = event.actor.get_username() if event.actor is not None else "Somebody"
    if of_this_ring and confirmation.get("ring") != sealing.newest_id():
        return Verdict(holds=False, sentence="The ring got a newer key since this was confirmed.", at=event.at)
    return Verdict(holds=True, sentence=f"{who}: {confirmation.get('comment', '')}", at=event.at)


def _rows(now: datetime) -> Verdict:
    broker = health.broker()
    if connection.vendor != "postgresql":
        return Verdict(holds=False, sentence="The rows are in SQLite: enough for one machine and a few people.")
    if not broker.ok:
        return Verdict(holds=False, sentence=broker.sentence)
    return Verdict(holds=True, sentence="PostgreSQL and the broker answer.", at=now)


def _admin() -> Verdict:
    enrolled = [person for person in _holders(roles.ADMIN) if factors.has_one(person)]
    if not enrolled:
        return Verdict(holds=False, sentence="No active administrator has a second factor.")
    first = min(enrolled, key=lambda person: person.date_joined)
    count = len(enrolled)
    sentence = f"{first.get_username()} has a second factor." if count == 1 else f"{count} have a second factor."
    return Verdict(holds=True, sentence=sentence, at=first.date_joined)


def _treasury() -> Verdict:
    people = [person.pk for person in _holders(roles.TREASURY)]
    keys = Authenticator.objects.filter(user__in=people, type=Authenticator.Type.WEBAUTHN).order_by("created_at")
    first: dict[int, datetime] = {}
    for key in keys:
        first.setdefault(key.user_id, key.created_at)
    sentence = f"{len(first)} of {len(people)} active people of treasury have a passkey."
    holds = len(first) >= TREASURERS
    return Verdict(holds=holds, sentence=sentence, at=sorted(first.values())[TREASURERS - 1] if holds else None)


def _key() -> Verdict:
    active = list(ApiKey.objects.filter(active=True))
    reading = [key for key in active if key.observed.get(Right.PAYMENTS.value) == _GRANTED]
    if not reading:
        return Verdict(holds=False, sentence="No key in use was seen to read payments.")
    paying = [key for key in active if key.observed.get(Right.WITHDRAW.value) == _GRANTED]
    what = "The desk only watches: no key in use can pay." if not paying else "Another key can pay."
    narrow = [key for key in reading if key.observed.get(Right.WITHDRAW.value) != _GRANTED]
    if not narrow:
        return Verdict(holds=False, sentence="The only key that reads can pay as well. Make one that only reads.")
    probe_times = [key.probed_at for key in narrow if key.probed_at is not None]
    return Verdict(holds=True, sentence=f"{narrow[0].label} reads. {what}", at=max(probe_times, default=None))


def _place(account: Account, *, now: datetime) -> Verdict:
    problem = places.problem(account)
    return Verdict(holds=not problem, sentence=problem, at=now)


def _places(now: datetime) -> Verdict:
    accounts = list(Account.objects.order_by("pk"))
    verdict = _each_account(partial(_place, now=now))
    if not verdict.holds:
        return verdict
    return Verdict(holds=True, sentence=", ".join(f"{each.name} at {each.place}" for each in accounts) + ".", at=now)


def _probe(account: Account) -> Verdict:
    fact = facts.newest(account=account, name=facts.HOLD_END)
    if fact is None:
        return Verdict(holds=False, sentence="It was never seen what becomes of a reservation that nobody decides on.")
    if fact.value != facts.LAPSES:
        sentence = f"A forgotten reservation ended as {fact.value}: approvals always come first."
        return Verdict(holds=False, sentence=sentence, at=fact.noted_at)
    return Verdict(holds=True, sentence="A forgotten reservation was released, not paid.", at=fact.noted_at)


def _check(name: str) -> Verdict:
    row = CheckRun.objects.filter(name=name).first()
    if row is None or row.ran_at is None:
        return Verdict(holds=False, sentence="The check came to no answer yet.")
    if not row.held:
        return Verdict(holds=False, sentence=f"The last run found {len(row.findings)} differences.", at=row.ran_at)
    return Verdict(holds=True, sentence="The last run found no difference.", at=row.ran_at)


def _policy() -> Verdict:
    newest = PolicyVersion.objects.order_by("-number").first()
    if newest is None or newest.number == 1:
        return Verdict(holds=False, sentence="The rules in force are those that a fresh desk starts with.")
    return Verdict(holds=True, sentence=f"Rules {newest.number} are in force.", at=newest.published_at)


def _mail() -> Verdict:
    if not settings.EMAIL_HOST:
        return Verdict(holds=False, sentence="No mail server is set up (EMAIL_URL).")
    mails = Delivery.objects.filter(medium=Medium.EMAIL)
    newest = mails.filter(state="delivered").order_by("-sent_at").first()
    failing = mails.exclude(last_problem="").exclude(state__in=("delivered", "dropped")).order_by("-updated_at").first()
    if failing is not None and (newest is None or newest.sent_at is None or failing.updated_at > newest.sent_at):
        return Verdict(holds=False, sentence=failing.last_problem, at=newest.sent_at if newest else None)
    if newest is None:
        return Verdict(holds=False, sentence="No mail was handed over yet.")
    return Verdict(holds=True, sentence="The mail server took the last one.", at=newest.sent_at)


def _payout() -> Verdict:
    proven = Withdrawal.objects.filter(state=states.VERIFIED).order_by("pk").first()
    if proven is not None:
        sentence = f"{proven.reference} was paid, and the chain proves it."
        return Verdict(holds=True, sentence=sentence, at=proven.updated_at)
    if Withdrawal.objects.filter(state=states.SETTLED).exists():
        sentence = "One was paid; the chain has not proven it yet, or can't for its currency."
        return Verdict(holds=False, sentence=sentence)
    return Verdict(holds=False, sentence="None was paid yet. An operator asks for it, treasury approves.")


def _each_account(check: Callable[[Account], Verdict]) -> Verdict:
    """The verdict of the first account where it does not hold; if it holds for all, the oldest verdict."""
    verdicts = [(account, check(account)) for account in Account.objects.order_by("pk")]
    if not verdicts:
        return Verdict(holds=False, sentence="No account was set up yet: the first key makes it.")
    for account, verdict in verdicts:
        if not verdict.holds:
            return Verdict(holds=False, sentence=f"{account.name}: {verdict.sentence}", at=verdict.at)
    return min((verdict for _, verdict in verdicts), key=lambda verdict: verdict.at.timestamp() if verdict.at else 0.0)


def _holders(role: str) -> list[Person]:
    return list(Person.objects.filter(is_active=True, groups__name=role).order_by("pk"))
