"""A trial signature: somebody of treasury signs once with a passkey, verified exactly as an approval's is.

It decides nothing and waits for nothing, so it counts in the first 24 hours of a passkey too. What is kept is the
confirmation itself, a witnessed row, and an entry of the trail.
"""

import hashlib
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction

from desk.audit import trail
from desk.models import StepUp
from desk.people import passkeys, roles, stepup

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE: Final = "going-live.trial"
ACTION: Final = "going-live.trial-signed"


class CannotSign(Exception):
    """No trial signature was recorded; the text is the sentence for the person."""


def may_sign(person: "Person") -> bool:
    """Treasury: theirs are the passkeys that approve."""
    return person.has_role(roles.TREASURY, scope="")


def digest_of(person: "Person") -> str:
    """What is signed: that it is a trial, and whose."""
    return hashlib.sha256(trail.canonical(["countersign-trial-1", person.pk]).encode()).hexdigest()


def sign(*, actor: "Person", credential: str, session_key: str, now: datetime) -> StepUp:
    """Verify the passkey's answer and keep it. Raises CannotSign, or `stepup.CannotConfirm` as an approval would."""
    if not may_sign(actor):
        raise CannotSign("Only treasury can make a trial signature, because treasury passkeys approve payouts.")
    digest = digest_of(actor)
    with transaction.atomic():
        row = stepup.verify(
            person=actor,
            purpose=PURPOSE,
            digest=digest,
            answer={"kind": "passkey", "credential": credential},
            session_key=session_key,
            now=now,
        )
        if not counts(row):
            raise CannotSign(
                "Trial signature not recorded: approvals with this passkey would not count. Set up the passkey again."
            )
        trail.record(
            actor=actor,
            action=ACTION,
            subject="going-live:trial",
            before={},
            after={"evidence": row.evidence()},
            now=now,
            session_key=session_key,
        )
    return row


def counts(row: StepUp) -> bool:
    """Whether this trial shows that its passkey approves today: genuine, still enrolled, and of the desk's address."""
    person = row.person
    if not stepup.proves(row, person_id=person.pk, purpose=PURPOSE, digests={digest_of(person)}):
        return False
    try:
        passkeys.require_our_origin(row.client_data)
    except passkeys.CannotAccept:
        return False
    return row.credential_id in passkeys.keys_of(person)


def newest(people: list[int]) -> dict[int, datetime]:
    """When each of these people last made a trial signature that counts, by their number."""
    rows = StepUp.objects.filter(person__in=people, purpose=PURPOSE, kind=StepUp.Kind.PASSKEY).select_related("person")
    return {row.person_id: row.at for row in rows.order_by("pk") if counts(row)}
