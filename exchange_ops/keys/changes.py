"""What admins do with keys, each with a second factor: add, rotate in two steps, disable.

A rotation begins with a successor that waits beside the key: sealed, probed, not used. Switching over puts it to use
and keeps the predecessor, which workers still fall back on when the exchange turns the new key down, so no call for
money is lost. Finishing wipes the predecessor; going back, before or after the switch, wipes the successor instead.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from desk import outbox
from desk.audit import trail
from desk.people import stepup
from desk.people.signing import signed_fields
from exchange_ops.keys import probing, rights, store, uses
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared import places, rules
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from wire.values import Secret

if TYPE_CHECKING:
    from desk.models import Person

ADD, SUCCEED, SWITCH, FINISH, DISABLE = "key-add", "key-succeed", "key-switch", "key-finish", "key-disable"
# A call that began with the old key has ended by then, and every stream has logged in with the new one.
KEPT_AT_LEAST = timedelta(minutes=2)


class CannotChangeKey(Exception):
    """Nothing was changed; the text is the sentence for the person."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A confirmation: the person, the digest on their screen, their second factor, and their session."""

    person: "Person"
    digest: str
    answer: dict[str, Any]
    session_key: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Pair:
    """A key pair from a form. `request_key` makes a double click and a second tab the same request."""

    label: str
    login: str
    secret: Secret
    rights: Sequence[Right]
    request_key: str


def add(*, account: Account, pair: Pair, by: Confirmation) -> ApiKey:
    """Add a key to the account and have its rights probed. Raises `CannotChangeKey` or `keys.CannotAddKey`."""
    _refuse_unless_admin(by.person, account.pk)
    with transaction.atomic():
        _take_turn(account)
        before = _added_before(pair, by)
        if before is not None:
            return before
        fields = _fields(pair) | {"account": str(account.pk)}
        evidence = _confirmed(ADD, new_digest(pair.request_key), by, fields)
        key = _add_pair(account, pair, by, evidence, replaces=None)
        outbox.wake(probing.TASK, key.pk)
    return key


def succeed(*, key_id: int, pair: Pair, by: Confirmation) -> ApiKey:
    """First step of a rotation: store the successor of a key, which waits and is probed."""
    with transaction.atomic():
        key = _locked(key_id)
        _refuse_unless_admin(by.person, key.account_id)
        before = _added_before(pair, by)
        if before is not None:
            return before
        if not key.active:
            raise CannotChangeKey("Only keys in use can be rotated.")
        if successor_of(key) is not None:
            raise CannotChangeKey("This key already has a replacement. Switch to it, or cancel the rotation first.")
        evidence = _confirmed(SUCCEED, new_digest(pair.request_key, replaces=key), by, _fields(pair))
        successor = _add_pair(key.account, pair, by, evidence, replaces=key)
        outbox.wake(probing.TASK, successor.pk)
    return successor


def switch(*, key_id: int, by: Confirmation) -> ApiKey:
    """Second step: the successor is used from now on, and the old key is kept until somebody finishes the rotation."""
    with transaction.atomic():
        key = _locked(key_id)
        _refuse_unless_admin(by.person, key.account_id)
        successor = successor_of(key)
        if successor is None or not successor.is_waiting:
            raise CannotChangeKey("This key has no replacement.")
        problem = why_not_switch(key, successor)
        if problem:
            raise CannotChangeKey(problem)
        evidence = _confirmed(SWITCH, digest_of(SWITCH, key), by)
        ApiKey.objects.filter(pk=key.pk, active=True).update(active=False, kept_at=by.now)
        ApiKey.objects.filter(pk=successor.pk, active=False, retired_at=None).update(active=True)
        _record(key, "apikey.handed_over", by, {"active": True}, {"active": False, "to": successor.pk, **evidence})
        _record(successor, "apikey.took_over", by, {"active": False}, {"active": True, "from": key.pk})
    return successor


def go_back(*, key_id: int, person: "Person", session_key: str, now: datetime) -> ApiKey:
    """End a rotation before or after the switch: the successor is wiped, and the old key is used again."""
    by = Confirmation(person=person, digest="", answer={}, session_key=session_key, now=now)
    with transaction.atomic():
        key = _locked(key_id)
        _refuse_unless_admin(person, key.account_id)
        successor = successor_of(key)
        if successor is None:
            raise CannotChangeKey("This key is not being rotated.")
        store.disable(key=successor, actor=person, now=now, session_key=session_key)
        if key.kept_at is not None:
            ApiKey.objects.filter(pk=key.pk, retired_at=None).update(active=True, kept_at=None)
        after = {"active": True, "without": successor.pk}
        _record(key, "apikey.rotation_ended", by, {"active": key.active}, after)
    return key


def finish(*, key_id: int, by: Confirmation) -> ApiKey:
    """Last step: wipe the predecessor, once its successor has proved itself. Delete it at the exchange afterwards."""
    with transaction.atomic():
        key = _locked(key_id)
        _refuse_unless_admin(by.person, key.account_id)
        problem = why_not_finish(key, by.now)
        if problem:
            raise CannotChangeKey(problem)
        evidence = _confirmed(FINISH, digest_of(FINISH, key), by)
        store.disable(key=key, actor=by.person, now=by.now, session_key=by.session_key, evidence=evidence)
    return key


def disable(*, key_id: int, by: Confirmation) -> ApiKey:
    """Take a key out of use for good; the confirmation includes what stops without it."""
    with transaction.atomic():
        key = _locked(key_id)
        _refuse_unless_admin(by.person, key.account_id)
        problem = why_not_disable(key)
        if problem:
            raise CannotChangeKey(problem)
        stops = [loss.right for loss in uses.losses(key)]
        evidence = {"stops": stops, **_confirmed(DISABLE, digest_of(DISABLE, key), by)}
        store.disable(key=key, actor=by.person, now=by.now, session_key=by.session_key, evidence=evidence)
    return key


# Obstacles -----------------------------------------------------------------------------------------------------------


def why_not_switch(key: ApiKey, successor: ApiKey) -> str:
    """The first reason why the successor can't take over yet; empty when it can."""
    if successor.is_being_probed:
        return "The new key is still being verified. Try again in a few seconds."
    if successor.is_turned_down:
        return f"The exchange rejected the new key: {successor.last_problem}"
    if successor.probe_problem:
        return f"The new key could not be verified: {successor.probe_problem}"
    if successor.same_account is False:
        return "The new key belongs to a different exchange account: its ledger doesn't contain our transactions."
    lost = [right.value for right in Right if _would_lose(key, successor, right)]
    if lost:
        return f"The new key lacks permissions that the old key has: {', '.join(lost)}."
    return ""


def why_not_finish(key: ApiKey, now: datetime) -> str:
    """The first reason why the predecessor can't be wiped yet; empty when it can."""
    successor = successor_of(key)
    if key.kept_at is None or successor is None:
        return "This key has no rotation to finish."
    if successor.is_turned_down:
        return (
            f"The exchange rejected the new key after the switch: {successor.last_problem} Switch back or "
            "fix the new key."
        )
    if now < key.kept_at + KEPT_AT_LEAST:
        ready = key.kept_at + KEPT_AT_LEAST
        return (
            f"Requests with the old key may still be in progress. You can wipe the old key from {ready:%H:%M:%S} UTC."
        )
    return ""


def why_not_disable(key: ApiKey) -> str:
    """The reason why this key can't be disabled now; empty when it can."""
    if key.retired_at is not None:
        return "This key is already disabled."
    if key.is_waiting or key.kept_at is not None or successor_of(key) is not None:
        return "This key is being rotated. Finish the rotation or switch back, then disable the remaining key."
    if key.replaces is not None and key.replaces.kept_at is not None:
        return "This key is being rotated. Finish the rotation or switch back, then disable the remaining key."
    return ""


def successor_of(key: ApiKey) -> ApiKey | None:
    """The key that waits to take over from this one, or took over and is not confirmed yet."""
    return key.successors.filter(retired_at=None).first() if key.active or key.kept_at else None


# Digests -------------------------------------------------------------------------------------------------------------


def new_digest(request_key: str, *, replaces: ApiKey | None = None) -> str:
    """The digest for the form of a new pair: the exchanges' addresses, and the key that it replaces.

    It is signed together with what the form says: account, name, login and rights (`signed_fields`).
    """
    replaced = [replaces.pk, replaces.login, replaces.account_id] if replaces else []
    content = ["countersign-key-2", "new", request_key, places.addresses(), replaced]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def digest_of(purpose: str, key: ApiKey) -> str:
    """The digest for a change of a key: of the key and its successor as they are now, and of what would stop."""
    successor = successor_of(key)
    content = [
        "countersign-key-1",
        purpose,
        [key.pk, key.login, key.fingerprint, key.active, key.kept_at],
        [successor.pk, successor.login, successor.fingerprint, successor.active] if successor else [],
        [[loss.right, loss.sentence] for loss in uses.losses(key)] if purpose == DISABLE else [],
    ]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def _fields(pair: Pair) -> dict[str, str]:
    """What a form says of a pair, by the names of its fields; never the secret."""
    return {
        "label": pair.label,
        "login": pair.login,
        "rights": signed_fields.as_text(right.value for right in pair.rights),
    }


def _confirmed(purpose: str, digest: str, by: Confirmation, fields: Mapping[str, str] | None = None) -> dict[str, Any]:
    if by.digest != digest:
        raise CannotChangeKey("The key changed after you opened the page. Refresh and try again.")
    row = stepup.verify(
        person=by.person,
        purpose=purpose,
        digest=signed_fields.bind(digest, fields or {}),
        answer=by.answer,
        session_key=by.session_key,
        now=by.now,
    )
    return row.evidence()


def _would_lose(key: ApiKey, successor: ApiKey, right: Right) -> bool:
    has = rights.observed(successor, right) == rights.GRANTED and right.value in successor.rights
    return rights.carries(key, right) and not has


def _added_before(pair: Pair, by: Confirmation) -> ApiKey | None:
    """The key that the same form added already: a double click, a reload or a second tab."""
    return ApiKey.objects.filter(request_key=pair.request_key, created_by=by.person).first()


def _add_pair(
    account: Account, pair: Pair, by: Confirmation, evidence: dict[str, Any], *, replaces: ApiKey | None
) -> ApiKey:
    return store.add(
        account=account,
        label=pair.label,
        login=pair.login,
        secret=pair.secret,
        rights=pair.rights,
        actor=by.person,
        now=by.now,
        replaces=replaces,
        request_key=pair.request_key,
        session_key=by.session_key,
        evidence=evidence,
    )


def _take_turn(account: Account) -> None:
    """Add keys of an account one at a time, so that a form sent twice at once finds the key it added before."""
    rows = Account.objects.filter(pk=account.pk)
    if connection.features.has_select_for_update:
        # Rows that refer to the account are written all the time; this lock doesn't make them wait.
        rows = rows.select_for_update(of=("self",), no_key=True)
    rows.first()


def _locked(key_id: int) -> ApiKey:
    rows = ApiKey.objects.filter(pk=key_id).select_related("account")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    key = rows.first()
    if key is None:
        raise CannotChangeKey("Key not found.")
    return key


def _refuse_unless_admin(person: "Person", account_id: int) -> None:
    if not rules.may_keep_keys(person, account_id):
        raise CannotChangeKey("Only administrators can add, rotate and disable keys.")


def _record(key: ApiKey, action: str, by: Confirmation, before: dict[str, Any], after: dict[str, Any]) -> None:
    store.record(key, action, actor=by.person, now=by.now, before=before, after=after, session_key=by.session_key)
