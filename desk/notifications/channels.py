"""Channels: who may manage them, the addresses they may have, and their secrets.

An administrator adds a channel, renews its secret and removes it, each with a second factor and an event in the audit
trail. An address is never edited: another address is another channel.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from desk import models, sealing
from desk.audit import trail
from desk.incidents.kinds import Severity
from desk.notifications import signing
from desk.notifications.models import Channel, Medium
from desk.people import roles, stepup
from desk.rooms import Rewrap
from wire.reach import Host, is_loopback, numbered
from wire.values import Secret

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE: Final = "notification-channel"
BOTH_FOR: Final = timedelta(days=2)
LONGEST_ADDRESS: Final = 500
_NAME: Final = re.compile(r"[\w .,:+()/-]{1,60}")
_HOST: Final = re.compile(r"[a-z0-9_.-]{1,253}|[0-9a-f:.]{2,45}")
_TARGET: Final = re.compile(r"/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*(\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?")


class CannotChange(Exception):
    """Nothing was changed; the sentence says why, for a person."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a channel posts to, in the parts that a connection needs."""

    origin: str
    host: str
    path: str


def may_read(person: "Person") -> bool:
    """Administrators and auditors see what leaves the desk, and whether it arrived."""
    return person.has_role(roles.ADMIN, roles.AUDITOR, scope="")


def may_keep(person: "Person") -> bool:
    """Administrators manage the channels."""
    return person.has_role(roles.ADMIN, scope="")


def target_of(address: str) -> Target:
    """The parts of an address. Raises CannotChange, whose sentence does not repeat the address."""
    if settings.REHEARSAL:
        raise CannotChange("This is a rehearsal: its messages go nowhere outside, so it has no channels.")
    try:
        parts = urlsplit(address.strip())
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        raise CannotChange("Enter a valid address.") from None
    if len(address) > LONGEST_ADDRESS:
        raise CannotChange(f"The address is longer than {LONGEST_ADDRESS} characters.")
    is_named = host in settings.WEBHOOK_PRIVATE_HOSTS
    if parts.scheme != "https" and not (is_named and is_loopback(host) and parts.scheme == "http"):
        raise CannotChange("The address must start with https://.")
    if not _HOST.fullmatch(host) or port == 0:
        raise CannotChange("The address has no valid host.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise CannotChange("The address must not contain a username, password or fragment.")
    if not is_named and (is_loopback(host) or not _is_public_where_numbered(host)):
        raise CannotChange("The address points to this machine or a private network. Enter a public host.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not _TARGET.fullmatch(path):
        raise CannotChange("The address path contains characters that must be percent-encoded.")
    netloc = f"[{host}]" if ":" in host else host
    origin = f"{parts.scheme}://{netloc}" + (f":{port}" if port else "")
    return Target(origin, host, path)


def _is_public_where_numbered(host: str) -> bool:
    # A name is checked when it is looked up, at each connection.
    number = numbered(host)
    return not number or Host(host).may_lie_at(number)


def digest_of_new(*, kind: str, name: str, address: str, least: str, decisions: bool) -> str:
    """What is signed when a channel is added: exactly where it posts and what it receives."""
    return _digest(["new", kind, name, address, least, decisions])


def digest_of_change(channel: Channel, action: str) -> str:
    """What is signed when the secret of a channel is renewed or the channel is removed."""
    return _digest([action, channel.pk, channel.name, channel.host])


def _digest(content: list[object]) -> str:
    return hashlib.sha256(trail.canonical(["countersign-channel-1", *content]).encode()).hexdigest()


def problems(*, kind: str, name: str, address: str, least: str) -> dict[str, str]:
    """Why there can be no such channel, by field; empty when there can."""
    sentences = {}
    if kind not in {Medium.WEBHOOK, Medium.CHAT}:
        sentences["kind"] = "Choose webhook or chat."
    if not _NAME.fullmatch(name):
        sentences["name"] = "Use 1 to 60 letters, digits, spaces and these characters: . , : + ( ) / - _"
    elif Channel.objects.filter(name=name).exists():
        sentences["name"] = "This name is in use, or was used by a removed channel. Choose another name."
    if least not in Severity.values:
        sentences["least"] = "Choose a minimum severity."
    try:
        target_of(address)
    except CannotChange as problem:
        sentences["address"] = str(problem)
    return sentences


def add(
    *,
    kind: str,
    name: str,
    address: str,
    least: str,
    decisions: bool,
    actor: "Person",
    answer: Mapping[str, Any],
    session_key: str,
    now: datetime,
) -> tuple[Channel, Secret | None]:
    """A new channel; the secret of a webhook is shown once. Raises CannotChange, or `stepup.CannotConfirm`."""
    with transaction.atomic():
        trail.take_turn()
        _require_keeper(actor)
        if refusals := problems(kind=kind, name=name, address=address, least=least):
            raise CannotChange(f"Channel not added. {' '.join(refusals.values())}")
        digest = digest_of_new(kind=kind, name=name, address=address, least=least, decisions=decisions)
        stepup.verify(person=actor, purpose=PURPOSE, digest=digest, answer=answer, session_key=session_key, now=now)
        row = Channel(kind=kind, name=name, host=target_of(address).host, made_by=actor, made_at=now)
        row.least, row.decisions = least, decisions
        row.address_sealed = sealing.seal(Secret(address.strip()), context=_context(row, "address"))
        secret = signing.new_secret() if kind == Medium.WEBHOOK else None
        if secret is not None:
            row.secret_sealed = sealing.seal(secret, context=_context(row, "secret"))
        row.save(force_insert=True)
        _record(row, "added", actor=actor, session_key=session_key, now=now)
    return row, secret


def turn_secret(
    *, channel_id: int, actor: "Person", answer: Mapping[str, Any], session_key: str, now: datetime
) -> tuple[Channel, Secret]:
    """A new secret, shown once; the previous one also signs for two more days. Raises as `add`."""
    with transaction.atomic():
        row = _confirmed(channel_id, "turned", actor=actor, answer=answer, session_key=session_key, now=now)
        if row.kind != Medium.WEBHOOK:
            raise CannotChange("No changes made: chat channels have no signing secret.")
        secret = signing.new_secret()
        row.previous_sealed, row.previous_until = row.secret_sealed, now + BOTH_FOR
        row.secret_sealed = sealing.seal(secret, context=_context(row, "secret"))
        row.save()
        _record(row, "turned", actor=actor, session_key=session_key, now=now)
    return row, secret


def remove(*, channel_id: int, actor: "Person", answer: Mapping[str, Any], session_key: str, now: datetime) -> Channel:
    """Stop posting to the channel; its deliveries stay listed. Raises as `add`."""
    with transaction.atomic():
        row = _confirmed(channel_id, "ended", actor=actor, answer=answer, session_key=session_key, now=now)
        row.ended_at = now
        row.address_sealed = row.secret_sealed = row.previous_sealed = ""
        row.save()
        _record(row, "ended", actor=actor, session_key=session_key, now=now)
    return row


def shown_once(secret: Secret) -> str:
    """The secret itself, for the one page that shows it."""
    return secret.reveal()


def _confirmed(
    channel_id: int, action: str, *, actor: "Person", answer: Mapping[str, Any], session_key: str, now: datetime
) -> Channel:
    trail.take_turn()
    _require_keeper(actor)
    row = Channel.objects.filter(pk=channel_id, ended_at=None).first()
    if row is None:
        raise CannotChange("No changes made: the channel was removed.")
    digest = digest_of_change(row, action)
    stepup.verify(person=actor, purpose=PURPOSE, digest=digest, answer=answer, session_key=session_key, now=now)
    return row


def _require_keeper(actor: "Person") -> None:
    current = models.Person.objects.filter(pk=actor.pk).first()
    if current is None or not may_keep(current):
        raise CannotChange("No changes made: only active administrators can manage channels.")


def _record(row: Channel, action: str, *, actor: "Person", session_key: str, now: datetime) -> None:
    facts = {"name": row.name, "kind": row.kind, "host": row.host, "least": row.least, "decisions": row.decisions}
    trail.record(
        actor=actor,
        action=f"channel.{action}",
        subject=f"channel:{row.pk}",
        before={},
        after=facts,
        now=now,
        session_key=session_key,
    )


def address_of(channel: Channel) -> Target:
    """Where a channel posts to."""
    return target_of(sealing.unseal(channel.address_sealed, context=_context(channel, "address")).reveal())


def secrets_of(channel: Channel, now: datetime) -> list[Secret]:
    """The secrets that sign now: the newest, and for two days after a change the previous one."""
    secrets = [sealing.unseal(channel.secret_sealed, context=_context(channel, "secret"))]
    if channel.previous_sealed and channel.previous_until is not None and now < channel.previous_until:
        secrets.append(sealing.unseal(channel.previous_sealed, context=_context(channel, "secret")))
    return secrets


def rewrap_all(rotate: Rewrap) -> int:
    """Put every address and secret under the newest ring key; how many channels changed."""
    changed = 0
    for row in Channel.objects.filter(ended_at=None):
        sealed = {
            f"{name}_sealed": rotate(text, _context(row, "address" if name == "address" else "secret"))
            for name in ("address", "secret", "previous")
            if (text := getattr(row, f"{name}_sealed"))
        }
        before = {name: getattr(row, name) for name in sealed}
        if sealed != before:
            changed += Channel.objects.filter(pk=row.pk, **before).update(**sealed)
    return changed


def _context(row: Channel, column: str) -> str:
    return f"desk.channel:{row.uid}:{column}"
