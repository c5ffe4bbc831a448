"""Making the second desk from the file: accounts with keys of its sandbox, people with new factors, rules, payees.

Payees are approved here again by the same people, each with a code of their new factor, so that every rule about
approvals holds on this desk as on any other. All of that is dated three days back, as if the cooling-off period had
passed. It happens once: a desk that has an account is left as it is.
"""

import secrets
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction

from desk.models import Person
from desk.people import roles, scopes, stepup, totp
from exchange_ops.keys import store
from exchange_ops.market.models import Currency
from exchange_ops.payees import workflow as payees
from exchange_ops.payees.states import REVIEW
from exchange_ops.policy import publishing, quorum, ruleset
from exchange_ops.rehearsals import desk_facts
from exchange_ops.rehearsals.files import AccountFacts, CannotReadFile, DeskFacts, File, PayeeFacts, PersonFacts
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from wire.values import Secret

BEFORE: Final = timedelta(days=3)
# Two steps of one-time codes: nobody uses a code twice.
_APART: Final = timedelta(seconds=2 * totp.STEP_SECONDS)
_SESSION: Final = "rehearsal"
_PASSWORD_BYTES, _SECRET_BYTES = 9, 20
# Keys that the sandbox makes for each account of a world of figures (`sandbox/settings/keys.py`).
KEYS: Final[dict[str, tuple[Right, ...]]] = {
    "read": (Right.HISTORY, Right.PAYMENTS),
    "trade": (Right.ORDERS, Right.HISTORY),
    "withdraw": (Right.PAYMENTS, Right.WITHDRAW),
}
_COLUMNS: Final = (
    *("code", "full_name", "crypto", "payin_enabled", "payin_payment_id", "payin_confirmations", "payout_enabled"),
    *("payout_is_payment_id", "transfer_enabled", "delisted", "payout_fee", "payout_minimal_amount"),
    *("precision_payout", "precision_transfer"),
)


class CannotLoad(Exception):
    """Nothing was loaded; the text is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a person needs to sign in and to confirm; it is printed once and stored only as a hash and sealed."""

    username: str
    roles: str
    password: str = field(repr=False)
    totp_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Loaded:
    """How people get in, and a sentence for each payee that this desk does not take."""

    access: list[Access]
    problems: list[str]


def load(file: File, *, now: datetime) -> Loaded | None:
    """Make the desk of this file, whole or not at all; None when it is there already.

    Raises CannotLoad outside a rehearsal and CannotReadFile for a file that contradicts itself.
    """
    if not settings.REHEARSAL:
        raise CannotLoad(
            "Nothing was loaded: this is not the folder of a rehearsal. Start one with manage.py rehearse."
        )
    with transaction.atomic():
        if Account.objects.exists():
            return None
        began = now - BEFORE
        roles.ensure_groups()
        accounts = {number: _account(each, number, began) for number, each in enumerate(file.desk.accounts, 1)}
        access = [_person(each, accounts) for each in file.desk.people]
        people = {
            person.username: person for person in Person.objects.filter(username__in=[a.username for a in access])
        }
        if len(people) != len(access):
            raise CannotReadFile("The file names a person twice. Nothing was loaded.")
        _publish(file.desk, accounts, people, began)
        _describe(file.exchange, began)
        secrets_of = {each.username: Secret(each.totp_secret) for each in access}
        problems = [
            problem
            for place, each in enumerate(file.desk.payees)
            if (problem := _payee(each, accounts, people, secrets_of, began + place * _APART))
        ]
    return Loaded(access, problems)


def _account(each: AccountFacts, number: int, now: datetime) -> Account:
    account = Account.objects.create(name=each.name, quote_currency=each.quote_currency)
    # The sandbox says so itself: an undecided hold lapses after an hour.
    facts.note(account=account, name=facts.HOLD_END, value=facts.LAPSES, now=now)
    for name, rights in KEYS.items():
        login = f"rehearsal-{number}-{name}"
        store.add(
            account=account,
            label=f"Rehearsal {name}",
            login=login,
            secret=Secret(f"{login}-secret"),
            rights=rights,
            actor=None,
            now=now,
        )
    return account


def _person(each: PersonFacts, accounts: Mapping[int, Account]) -> Access:
    grants = []
    for grant in each.grants:
        role, scope = scopes.split(grant)
        if role not in roles.ALL or (scope and int(scope) not in accounts):
            raise CannotReadFile(
                f"The file gives {each.username} {grant!r}, which is no role here. Nothing was loaded."
            )
        grants.append(f"{role}:{accounts[int(scope)].pk}" if scope else role)
    password = secrets.token_urlsafe(_PASSWORD_BYTES)
    secret = b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    if Person.objects.filter(username=each.username).exists():
        raise CannotReadFile("The file names a person twice. Nothing was loaded.")
    person = Person.objects.create_user(
        each.username, password=password, first_name=each.first_name, last_name=each.last_name
    )
    scopes.set_grants(person, grants)
    totp.enrol(person, Secret(secret))
    return Access(each.username, ", ".join(sorted(scopes.roles_of(grants))) or "no role", password, secret)


def _publish(desk: DeskFacts, accounts: Mapping[int, Account], people: Mapping[str, Person], now: datetime) -> None:
    if desk.policy is None:
        return
    try:
        content = desk_facts.with_names(
            desk.policy.content,
            accounts={number: account.pk for number, account in accounts.items()},
            people={name: person.pk for name, person in people.items()},
        )
        rules = ruleset.from_json(content)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise CannotReadFile("The rules in the file can't be read. Nothing was loaded.") from None
    if problem := next(ruleset.problems(rules), ""):
        raise CannotReadFile(f"The rules in the file can't be published: {problem} Nothing was loaded.")
    version = quorum.current()
    number = 1 if version is None else version.number + 1
    note = f"Rules of the company's desk (policy v{desk.policy.number} there)."
    publishing.publish(rules, number=number, note=note, publisher=None, now=now)


def _describe(exchange: Mapping[str, Any], now: datetime) -> None:
    """The currencies, which the desk reads again once it runs: payees are checked by them."""
    try:
        rows = [Currency(**{name: each[name] for name in _COLUMNS}, read_at=now) for each in exchange["currencies"]]
    except (KeyError, TypeError):
        raise CannotReadFile("The currencies in the file can't be read. Nothing was loaded.") from None
    Currency.objects.bulk_create(rows, ignore_conflicts=True)


def _payee(
    each: PayeeFacts,
    accounts: Mapping[int, Account],
    people: Mapping[str, Person],
    secrets_of: Mapping[str, Secret],
    now: datetime,
) -> str:
    """Adds and approves one payee; the sentence that says why it is not there, or empty."""
    names = {each.added_by, *each.approved_by}
    if each.account not in accounts or not names <= set(people):
        raise CannotReadFile(f"The payee {each.title!r} names an account or a person that is not in the file.")
    try:
        with transaction.atomic():
            row = payees.add(
                person=people[each.added_by],
                account=accounts[each.account],
                currency=each.currency,
                address=each.address,
                payment_id=each.payment_id,
                title=each.title,
                owner=each.owner,
                group=each.group,
                supplier=each.supplier,
                evidence=each.evidence,
                now=now,
            )
            for name in each.approved_by:
                payees.approve(
                    payee_id=row.pk,
                    person=people[name],
                    digest=row.digest,
                    answer={"kind": "totp", "code": totp.code_at(secrets_of[name], totp.step_at(now))},
                    comment=f"Taken over: approved on the company's desk, in use there since {each.counts_from[:10]}.",
                    session_key=_SESSION,
                    now=now,
                )
                row.refresh_from_db()
                if row.state != REVIEW:
                    break
    except (payees.CannotAdd, payees.CannotDecide, stepup.CannotConfirm) as problem:
        return f"The payee {each.title} was not taken over: {problem}"
    return ""
