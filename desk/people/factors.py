"""A person's second factors: who has one, what is needed to change one, and what follows from a change.

A person who has a factor confirms each change with it; the password alone changes nothing. The confirmation is for one
named change to the factors as they are, holds for five minutes in one session, and is used once. Every change is shown
to the person and ends their other sessions, and for `FACTOR_REST_SECONDS` (a day, outside the demo) their approvals
don't count: whoever took over an account can't pay with it before its owner had a day to notice. This also holds for
the first factor, because whoever got hold of an invitation or a first password can enrol one.

A recovery code opens a session that reaches nothing but enrolment; it replaces the lost factor.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from desk import models
from desk.audit import trail
from desk.people import roles, stepup
from desk.people.by_role import required_passkeys
from desk.personal import formats

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "change-factors"
CONFIRMED_SECONDS = 300
SHOWN_FOR = timedelta(days=30)
# Keys of a session: a change that was confirmed and is still to be made; that a recovery code opened the session.
CONFIRMED = "desk.factor_change"
RECOVERING = "desk.opened_by_recovery_code"
_COUNTED = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class CannotChange(Exception):
    """The factors stay as they are; the text is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class Change:
    """One way to change factors: its page, the label of its button, and whether it removes a factor."""

    url_name: str
    label: str
    removes: bool = False


ADD_PASSKEY, REMOVE_PASSKEY = "add-passkey", "remove-passkey"
CHANGES = {
    "set-up-app": Change("mfa_activate_totp", "Set up an authenticator app"),
    "remove-app": Change("mfa_deactivate_totp", "Remove the authenticator app", removes=True),
    ADD_PASSKEY: Change("mfa_add_webauthn", "Add a passkey"),
    REMOVE_PASSKEY: Change("mfa_remove_webauthn", "Remove a passkey", removes=True),
    "new-recovery-codes": Change("mfa_generate_recovery_codes", "Generate new recovery codes"),
}


# Who has one ----------------------------------------------------------------------------------------------------------


def has_one(person: "Person") -> bool:
    """Whether the person has an authenticator app or a passkey. Recovery codes alone are no factor."""
    return bool(Authenticator.objects.filter(user=person, type__in=_COUNTED).exists())


def may_enter(person: "Person", session: Mapping[str, Any]) -> bool:
    """Whether this session reaches more than enrolment: the person is `enrolled`, and no recovery code opened it."""
    return not session.get(RECOVERING) and person.pk in enrolled([person])


def enrolled(people: Collection["Person"]) -> set[int]:
    """Those of these people who have what they need: a passkey where a role of theirs requires one, else any factor.

    Where nothing is required that is everybody, without a query.
    """
    must_sign = {person.pk: bool(required_passkeys.requiring(person)) for person in people}
    if not settings.SECOND_FACTOR_REQUIRED and not any(must_sign.values()):
        return set(must_sign)
    kinds: defaultdict[int, set[str]] = defaultdict(set)
    rows = Authenticator.objects.filter(user_id__in=must_sign, type__in=_COUNTED)
    for pk, kind in rows.values_list("user_id", "type"):
        kinds[pk].add(kind)
    have_passkey = {pk for pk in must_sign if Authenticator.Type.WEBAUTHN in kinds[pk]}
    have_enough = {pk for pk in must_sign if kinds[pk] or not settings.SECOND_FACTOR_REQUIRED}
    return {pk for pk, needs_passkey in must_sign.items() if pk in (have_passkey if needs_passkey else have_enough)}


def those_with_one(people: Collection[int]) -> set[int]:
    """Those of these people who have an authenticator app or a passkey."""
    rows = Authenticator.objects.filter(user_id__in=people, type__in=_COUNTED)
    return set(rows.values_list("user_id", flat=True))


# Before a change ------------------------------------------------------------------------------------------------------


def asks_first(person: "Person", session: Mapping[str, Any]) -> bool:
    """Whether a change has to be confirmed with a factor: not where there is none, nor after a recovery code."""
    return has_one(person) and not session.get(RECOVERING)


def digest_of(*, person: "Person", change: str, target: str) -> str:
    """What is signed for a change: the change, the factor, and all factors as they are now."""
    rows = Authenticator.objects.filter(user=person).order_by("pk").values_list("pk", "type")
    content = ["countersign-factors-1", person.pk, change, target, [list(row) for row in rows]]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def confirm(
    *,
    person: "Person",
    change: str,
    target: str,
    digest: str,
    answer: Mapping[str, Any],
    session: Any,
    now: datetime,
) -> None:
    """Confirm one later change with an existing factor; the session remembers it for five minutes.

    A one-time code also confirms adding the first passkey of somebody whose role requires one.

    Raises CannotChange, or `stepup.CannotConfirm` when the factor was not accepted.
    """
    key = session.session_key or ""
    is_first_passkey = change == ADD_PASSKEY and not required_passkeys.count(person)
    with transaction.atomic():
        if digest != digest_of(person=person, change=change, target=target):
            raise CannotChange("No changes made: your factors changed after you opened the page. Refresh the page.")
        row = stepup.verify(
            person=person,
            purpose=PURPOSE,
            digest=digest,
            answer=answer,
            session_key=key,
            now=now,
            is_first_passkey=is_first_passkey,
        )
        trail.record(
            actor=person,
            action="person.factor_change_confirmed",
            subject=f"person:{person.pk}",
            before={},
            after={"change": change, "target": target, "evidence": row.evidence()},
            now=now,
            session_key=key,
        )
    until = int(now.timestamp()) + CONFIRMED_SECONDS
    session[CONFIRMED] = {"change": change, "target": target, "digest": digest, "until": until}


def is_confirmed(*, person: "Person", change: str, target: str, session: Mapping[str, Any], now: datetime) -> bool:
    """Whether exactly this change was confirmed in this session and the factors have not changed since."""
    noted = session.get(CONFIRMED) or {}
    if (noted.get("change"), noted.get("target")) != (change, target) or now.timestamp() >= noted.get("until", 0):
        return False
    return bool(noted["digest"] == digest_of(person=person, change=change, target=target))


def refuse_last(*, person: "Person", change: str) -> None:
    """Raise CannotChange where a factor, or a passkey, is required and this change would remove the last one."""
    why = required_passkeys.reason(person) if change == REMOVE_PASSKEY else ""
    if why and required_passkeys.count(person) < 2:
        raise CannotChange(f"No changes made: {why}, and this is your only one. Add another passkey first.")
    if not CHANGES[change].removes or not settings.SECOND_FACTOR_REQUIRED:
        return
    if Authenticator.objects.filter(user=person, type__in=_COUNTED).count() < 2:
        raise CannotChange("No changes made: this is your only second factor. Add another one first.")


# After a change -------------------------------------------------------------------------------------------------------


def by_number(person: "Person") -> dict[int, str]:
    """Every factor of the person, by number, with its type."""
    return dict(Authenticator.objects.filter(user=person).values_list("pk", "type"))


def note(
    *,
    person: "Person",
    before: Mapping[int, str],
    device: str,
    session_key: str,
    now: datetime,
    actor: "Person | None" = None,
) -> list[models.FactorChange]:
    """Inside the transaction of a change: record what changed, in rows and in the trail, and end every session.

    The caller goes on with the session that made the change, under a new key. Returns the recorded changes. `actor`
    made the change, where it was not the person.
    """
    after = by_number(person)
    gone = {kind for pk, kind in before.items() if pk not in after}
    new = {kind for pk, kind in after.items() if pk not in before}
    actions = models.FactorChange.Action
    changes = [(actions.RENEWED, kind) for kind in sorted(gone & new)]
    changes += [(actions.REMOVED, kind) for kind in sorted(gone - new)]
    changes += [(actions.ADDED, kind) for kind in sorted(new - gone)]
    rows = [
        models.FactorChange(
            person=person,
            action=action,
            factor=kind,
            device=device[:80],
            session_digest=trail.digest_of(session_key),
            at=now,
            rests_until=now + timedelta(seconds=settings.FACTOR_REST_SECONDS),
        )
        for action, kind in changes
    ]
    if not rows:
        return []
    models.FactorChange.objects.bulk_create(rows)
    models.end_sessions([person.pk])
    for row in rows:
        trail.record(
            actor=actor or person,
            action=f"person.factor_{row.action}",
            subject=f"person:{person.pk}",
            before={},
            after={"factor": row.factor, "rests_until": row.rests_until},
            now=now,
            session_key=session_key,
        )
    return rows


def recent_changes(person: "Person", *, now: datetime) -> list[models.FactorChange]:
    """The changes of the last thirty days, the newest first, for the person's own page."""
    return list(models.FactorChange.objects.filter(person=person, at__gt=now - SHOWN_FOR).order_by("-at", "-pk"))


# The rest after a change ----------------------------------------------------------------------------------------------


def cooling_off_until(person: "Person", *, now: datetime) -> datetime | None:
    """Until when this person's approvals don't count, because their factors changed; None when they do.

    A change from before the clock fell back rests as well, although its time is still to come.
    """
    rows = models.FactorChange.objects.filter(person=person, rests_until__gt=now)
    return rows.order_by("-rests_until").values_list("rests_until", flat=True).first()


def why_cooling_off(person: "Person", *, now: datetime) -> str:
    """The sentence for somebody whose approvals don't count yet; empty when they do."""
    if person.unconfirmed_since is not None and roles.TREASURY in person.roles:
        return "Your approvals don't count yet: a colleague must first confirm that this account is yours."
    until = cooling_off_until(person, now=now)
    if until is None:
        return ""
    at = formats.for_settings(getattr(person, "personal", None)).written(until, "%d %b %H:%M")
    return (
        f"You can approve from {at}, 24 hours after you set up this factor. A colleague can approve before then, and "
        "you can still reject."
    )


def given_while_cooling_off() -> Exists:
    """The condition, on rows with `person` and `at`, that the person's approvals did not count at that time."""
    given_in_between = models.FactorChange.objects.filter(
        person=OuterRef("person"), at__lte=OuterRef("at"), rests_until__gt=OuterRef("at")
    )
    return Exists(given_in_between)
