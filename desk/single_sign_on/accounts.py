"""Which company account signs whom in.

A company account is connected by the person alone, while signed in, with a second factor that signs exactly this
account. The directory's e-mail addresses connect nothing: whoever administers the directory could give one to
somebody else. It never creates a person and gives no role, and it confirms no decision.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from desk import clock
from desk.audit import trail
from desk.machines.guards import NOT_PROVEN, Guards, Rule
from desk.people import passkeys, stepup
from desk.single_sign_on.models import CompanyAccount, CompanyAccountEnd

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE: Final = "connect-company-account"
_CONNECTED: Final = (
    "SELECT 1 FROM desk_companyaccount a WHERE a.id <> NEW.id AND a.issuer = NEW.issuer "
    "AND (a.subject = NEW.subject OR a.person_id = NEW.person_id) "
    "AND NOT EXISTS (SELECT 1 FROM desk_companyaccountend e WHERE e.account_id = a.id)"
)
GUARDS: Final = Guards(
    history=(CompanyAccount, CompanyAccountEnd),
    own=(
        Rule(
            "desk_companyaccount",
            "second_factor",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id "
            "AND s.at = NEW.at AND s.purpose = 'connect-company-account')",
            NOT_PROVEN,
        ),
        Rule(
            "desk_companyaccount",
            "one_person",
            "INSERT",
            f"EXISTS ({_CONNECTED})",
            "a company account signs in one person, and a person has one",
        ),
    ),
)


class CannotConnect(Exception):
    """Nothing was connected or disconnected; the text is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a directory says of somebody who signed in there; only `issuer` and `subject` identify them."""

    issuer: str
    subject: str
    email: str = ""

    @property
    def label(self) -> str:
        """How people recognise it."""
        return self.email or self.subject


def is_set_up() -> bool:
    """Whether this desk has a directory to sign in with."""
    return bool(settings.OIDC_ISSUER)


def of_person(person: "Person") -> CompanyAccount | None:
    """The person's company account at the directory of this desk."""
    return _living().filter(person=person, issuer=settings.OIDC_ISSUER).first()


def of_identity(identity: Identity) -> CompanyAccount | None:
    """The connection of this very account; None where nobody has connected it."""
    rows = _living().filter(issuer=identity.issuer, subject=identity.subject)
    return rows.select_related("person").first()


def digest_of(person: "Person", identity: Identity) -> str:
    """What a second factor is given for."""
    content = ["countersign-company-account-1", person.pk, identity.issuer, identity.subject, identity.email]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def why_not(person: "Person", identity: Identity) -> str:
    """Why this account can't be connected to this person; empty when it can."""
    if (taken := of_identity(identity)) is not None:
        mine = "This company account is connected to you already."
        return mine if taken.person_id == person.pk else "This company account is connected to somebody else here."
    if (row := of_person(person)) is not None:
        return f"You have connected {row.label}. Disconnect it first."
    return ""


def connect(
    *,
    person: "Person",
    identity: Identity,
    digest: str,
    answer: dict[str, Any],
    session_key: str,
    now: datetime,
) -> CompanyAccount:
    """Let this account sign the person in from now on. Raises CannotConnect, or `stepup.CannotConfirm`."""
    with transaction.atomic():
        trail.take_turn()
        if reason := why_not(person, identity):
            raise CannotConnect(f"Not connected: {reason[0].lower()}{reason[1:]}")
        if digest != digest_of(person, identity):
            raise CannotConnect("Not connected: this is not the account on the page. Sign in at the company again.")
        proof = stepup.verify(
            person=person, purpose=PURPOSE, digest=digest, answer=answer, session_key=session_key, now=now
        )
        row = CompanyAccount.objects.create(
            person=person,
            issuer=identity.issuer,
            subject=identity.subject,
            email=identity.email,
            confirmation=proof,
            at=proof.at,
        )
        facts = {"issuer": row.issuer, "subject": row.subject, "evidence": proof.evidence()}
        _record("person.company_account_connected", row, facts, actor=person, session_key=session_key, now=now)
    return row


def disconnect(*, person: "Person", session_key: str, now: datetime) -> CompanyAccount:
    """End the person's connection. Raises CannotConnect where there is none, or where no other way in would be left."""
    with transaction.atomic():
        trail.take_turn()
        row = of_person(person)
        if row is None:
            raise CannotConnect("Not disconnected: no company account is connected.")
        if not settings.PASSWORD_SIGN_IN and not passkeys.credentials(person):
            raise CannotConnect("Not disconnected: it is your only way to sign in. Add a passkey first.")
        CompanyAccountEnd.objects.create(account=row, person=person, at=now)
        _record("person.company_account_disconnected", row, actor=person, session_key=session_key, now=now)
    return row


def end_with_access(*, instance: "Person", created: bool, **_: Any) -> None:
    """End the connections of a person who is deactivated, or whose password an administrator took away.

    A reset is for an account that somebody else may have reached: what they connected must not let them in again.
    """
    if created or (instance.is_active and instance.has_usable_password()):
        return
    now = clock.now()
    with transaction.atomic():
        for row in _living().filter(person=instance):
            CompanyAccountEnd.objects.create(account=row, at=now)
            _record("person.company_account_disconnected", row, actor=None, now=now)


def _living() -> QuerySet[CompanyAccount]:
    return CompanyAccount.objects.filter(end=None)


def _record(
    action: str,
    row: CompanyAccount,
    facts: dict[str, Any] | None = None,
    *,
    actor: "Person | None",
    now: datetime,
    session_key: str = "",
) -> None:
    trail.record(
        actor=actor,
        action=action,
        subject=f"person:{row.person_id}",
        before={},
        after={"account": row.label, **(facts or {})},
        now=now,
        session_key=session_key,
    )
