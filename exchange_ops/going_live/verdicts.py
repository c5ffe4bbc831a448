"""Whether each item of going live holds now, read from rows, settings and the trail: nothing is stored here.

`at` of a verdict is the time of the row that proves it, or now for what is checked now.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import connection

from desk import health, sealing
from desk.models import Person
from desk.notifications.models import Delivery, Medium
from desk.people import factors, roles
from exchange_ops.going_live import confirmations, trial
from exchange_ops.keys.models import ApiKey
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.reconciliation import scheduled_checks
from exchange_ops.shared import facts
from exchange_ops.shared import places as exchanges
from exchange_ops.shared.models import Account, CheckRun
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

ADMINISTRATORS: Final = 2
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
class Visit:
    """The request of the page: whether it came by TLS, its host with the port, and the time."""

    is_secure: bool
    host: str
    now: datetime


def tls(visit: Visit) -> Verdict:
    """The request came by TLS, under the name that DESK_URL has."""
    if settings.DEMO:
        return Verdict(holds=False, sentence="This is a demo on plain HTTP, reachable from this machine only.")
    name = visit.host.rsplit(":", 1)[0].strip("[]")
    if name in _LOCAL:
        return Verdict(holds=False, sentence=f"This page was opened at {name}, which works on this machine only.")
    if not visit.is_secure:
        return Verdict(
            holds=False, sentence="The request arrived without TLS, or the proxy did not send X-Forwarded-Proto."
        )
    if name != settings.DESK_HOST:
        sentence = f"This page was opened at {name}; passkeys work at {settings.DESK_ORIGIN} only."
        return Verdict(holds=False, sentence=sentence)
    return Verdict(holds=True, sentence=f"This page was opened at {name} over TLS.", at=visit.now)


def secrets(_: Visit) -> Verdict:
    """An administrator confirmed a copy of the secrets, with the ring of today."""
    return _confirmed(confirmations.KEY_RING, of_this_ring=True)


def backup(_: Visit) -> Verdict:
    """An administrator confirmed that a backup was restored."""
    return _confirmed(confirmations.BACKUP)


def _confirmed(name: str, *, of_this_ring: bool = False) -> Verdict:
    event = confirmations.newest(name)
    if event is None:
        return Verdict(holds=False, sentence="Not confirmed yet. This can't be checked automatically.")
    confirmation = confirmations.facts_of(event)
    who = event.actor.get_username() if event.actor is not None else "System"
    if of_this_ring and confirmation.get("ring") != sealing.newest_id():
        return Verdict(holds=False, sentence="The key ring has a newer key than the confirmed copy.", at=event.at)
    return Verdict(holds=True, sentence=f"{who}: {confirmation.get('comment', '')}", at=event.at)


def rows(visit: Visit) -> Verdict:
    """PostgreSQL and the broker are reachable."""
    broker = health.broker()
    if connection.vendor != "postgresql":
        return Verdict(holds=False, sentence="The database is SQLite, suitable for a trial on one machine only.")
    if not broker.ok:
        return Verdict(holds=False, sentence=broker.sentence)
    return Verdict(holds=True, sentence="PostgreSQL and the broker are reachable.", at=visit.now)


def administrators(_: Visit) -> Verdict:
    """Two administrators have a second factor."""
    enrolled = sorted(person.date_joined for person in _holders(roles.ADMIN) if factors.has_one(person))
    sentence = f"{len(enrolled)} active administrator{'' if len(enrolled) == 1 else 's'} with a second factor."
    holds = len(enrolled) >= ADMINISTRATORS
    return Verdict(holds=holds, sentence=sentence, at=enrolled[ADMINISTRATORS - 1] if holds else None)


def treasury(_: Visit) -> Verdict:
    """Two treasurers have a passkey."""
    people = [person.pk for person in _holders(roles.TREASURY)]
    keys = Authenticator.objects.filter(user__in=people, type=Authenticator.Type.WEBAUTHN).order_by("created_at")
    first: dict[int, datetime] = {}
    for key in keys:
        first.setdefault(key.user_id, key.created_at)
    sentence = f"{len(first)} of {len(people)} active treasurers have a passkey."
    holds = len(first) >= TREASURERS
    return Verdict(holds=holds, sentence=sentence, at=sorted(first.values())[TREASURERS - 1] if holds else None)


def signatures(_: Visit) -> Verdict:
    """Two treasurers made a trial signature that counts."""
    people = [person.pk for person in _holders(roles.TREASURY)]
    signed = trial.newest(people)
    sentence = f"{len(signed)} of {len(people)} active treasurers have signed at {settings.DESK_ORIGIN}."
    holds = len(signed) >= TREASURERS
    return Verdict(holds=holds, sentence=sentence, at=sorted(signed.values())[TREASURERS - 1] if holds else None)


def key(_: Visit) -> Verdict:
    """A key that reads payments can't pay."""
    active = list(ApiKey.objects.filter(active=True))
    reading = [key for key in active if key.observed.get(Right.PAYMENTS.value) == _GRANTED]
    if not reading:
        return Verdict(holds=False, sentence="No key has read access to payments.")
    paying = [key for key in active if key.observed.get(Right.WITHDRAW.value) == _GRANTED]
    what = "No key can withdraw yet." if not paying else "Payouts use a different key."
    narrow = [key for key in reading if key.observed.get(Right.WITHDRAW.value) != _GRANTED]
    if not narrow:
        return Verdict(holds=False, sentence="Every key with read access can also withdraw. Create a read-only key.")
    probe_times = [key.probed_at for key in narrow if key.probed_at is not None]
    return Verdict(holds=True, sentence=f"{narrow[0].label} is read-only. {what}", at=max(probe_times, default=None))


def _place(account: Account, *, now: datetime) -> Verdict:
    problem = exchanges.problem(account)
    return Verdict(holds=not problem, sentence=problem, at=now)


def places(visit: Visit) -> Verdict:
    """Every account is at an exchange of the settings."""
    accounts = list(Account.objects.order_by("pk"))
    verdict = _each_account(partial(_place, now=visit.now))
    if not verdict.holds:
        return verdict
    return Verdict(
        holds=True, sentence=", ".join(f"{each.name} at {each.place}" for each in accounts) + ".", at=visit.now
    )


def probe(_: Visit) -> Verdict:
    """It was seen at each account that an expired reservation is released."""
    return _each_account(_probe)


def reconciliation(_: Visit) -> Verdict:
    """The last reconciliation of each account had no difference."""
    return _each_account(lambda account: _check(scheduled_checks.name_of(account)))


def audit(_: Visit) -> Verdict:
    """The last check of the trail had no difference."""
    return _check(scheduled_checks.AUDIT)


def _probe(account: Account) -> Verdict:
    fact = facts.newest(account=account, name=facts.HOLD_END)
    if fact is None:
        return Verdict(holds=False, sentence="Not yet verified: what happens to an expired reservation.")
    if fact.value != facts.LAPSES:
        sentence = f"An expired reservation had the final status “{fact.value}”, so approval always comes first."
        return Verdict(holds=False, sentence=sentence, at=fact.noted_at)
    return Verdict(holds=True, sentence="An expired reservation was released, not paid.", at=fact.noted_at)


def _check(name: str) -> Verdict:
    row = CheckRun.objects.filter(name=name).first()
    if row is None or row.ran_at is None:
        return Verdict(holds=False, sentence="The check has not completed yet.")
    if not row.held:
        return Verdict(holds=False, sentence=f"Differences found in the last run: {len(row.findings)}.", at=row.ran_at)
    return Verdict(holds=True, sentence="The last run found no differences.", at=row.ran_at)


def policy(_: Visit) -> Verdict:
    """Rules after the first version are in force."""
    newest = PolicyVersion.objects.order_by("-number").first()
    if newest is None or newest.number == 1:
        return Verdict(holds=False, sentence="Default rules are still active.")
    return Verdict(holds=True, sentence=f"Policy v{newest.number} is in force.", at=newest.published_at)


def mail(_: Visit) -> Verdict:
    """The mail server took the newest mail."""
    if not settings.EMAIL_HOST:
        return Verdict(holds=False, sentence="No mail server is set up (EMAIL_URL).")
    mails = Delivery.objects.filter(medium=Medium.EMAIL)
    newest = mails.filter(state="delivered").order_by("-sent_at").first()
    failing = mails.exclude(last_problem="").exclude(state__in=("delivered", "dropped")).order_by("-updated_at").first()
    if failing is not None and (newest is None or newest.sent_at is None or failing.updated_at > newest.sent_at):
        return Verdict(holds=False, sentence=failing.last_problem, at=newest.sent_at if newest else None)
    if newest is None:
        return Verdict(holds=False, sentence="No e-mail sent yet.")
    return Verdict(holds=True, sentence="The mail server accepted the last e-mail.", at=newest.sent_at)


def payout(_: Visit) -> Verdict:
    """The chain proves a payout."""
    proven = Withdrawal.objects.filter(state=states.VERIFIED).order_by("pk").first()
    if proven is not None:
        sentence = f"{proven.reference} was paid and verified on-chain."
        return Verdict(holds=True, sentence=sentence, at=proven.updated_at)
    if Withdrawal.objects.filter(state=states.SETTLED).exists():
        sentence = (
            "A payout has been paid but not yet verified on-chain. On-chain verification is available for BCH only."
        )
        return Verdict(holds=False, sentence=sentence)
    return Verdict(holds=False, sentence="No payout yet.")


def _each_account(check: Callable[[Account], Verdict]) -> Verdict:
    """The verdict of the first account where it does not hold; if it holds for all, the oldest verdict."""
    verdicts = [(account, check(account)) for account in Account.objects.order_by("pk")]
    if not verdicts:
        return Verdict(holds=False, sentence="No account yet. Adding the first key creates it.")
    for account, verdict in verdicts:
        if not verdict.holds:
            return Verdict(holds=False, sentence=f"{account.name}: {verdict.sentence}", at=verdict.at)
    return min((verdict for _, verdict in verdicts), key=lambda verdict: verdict.at.timestamp() if verdict.at else 0.0)


def _holders(role: str) -> list[Person]:
    return list(Person.objects.filter(is_active=True, groups__name=role).order_by("pk"))
