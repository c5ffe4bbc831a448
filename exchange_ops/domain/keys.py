"""The keys of an exchange account: added and disabled by people, opened by workers alone, chosen by least privilege.

A secret goes in once and never comes out again: it is sealed for its own row, and people see its last four characters
and a fingerprint. Only worker-side code calls `client_for`.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import structlog
from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.utils.crypto import salted_hmac

from desk import audit, clock, sealing
from exchange_ops import budgets
from exchange_ops.client import ExchangeClient
from exchange_ops.domain import clocks
from exchange_ops.models import Account, ApiKey
from exchange_ops.wire import refusals
from exchange_ops.wire.catalogue import Right
from wire.errors import Refused
from wire.transport import Credentials, Transport
from wire.values import Secret

if TYPE_CHECKING:
    from desk.models import Person

LAST_FOUR_FROM = 16  # characters a secret needs before its last four may be shown
USE_NOTED_EVERY = timedelta(minutes=1)
AVOIDED_FOR = timedelta(minutes=10)  # after the exchange turned a key down, others are tried first

_log = structlog.get_logger(__name__)


class CannotAddKey(Exception):
    """The key was not added; the sentence says why."""


class NoUsableKey(Exception):
    """No active key of the account carries the right, or its secret does not open."""


def add(
    *,
    account: Account,
    label: str,
    login: str,
    secret: Secret,
    rights: Sequence[Right],
    actor: "Person | None",
    now: datetime,
) -> ApiKey:
    """Store a new key pair, sealed. `rights` is what the key was given at the exchange; one of them at least."""
    if not login.strip() or not label.strip():
        raise CannotAddKey("A key needs a name and a login.")
    if not rights:
        raise CannotAddKey("Say which rights the key carries; without one it is good for nothing.")
    try:
        with transaction.atomic():
            key = ApiKey.objects.create(
                account=account,
                label=label.strip(),
                login=login.strip(),
                fingerprint=fingerprint(secret),
                last_four=secret.reveal()[-4:] if len(secret.reveal()) >= LAST_FOUR_FROM else "",
                rights=sorted(Right(right).value for right in rights),
                created_by=actor,
                created_at=now,
            )
            ApiKey.objects.filter(pk=key.pk).update(sealed_secret=sealing.seal(secret, context=_context(key)))
            key.refresh_from_db(fields=["sealed_secret"])
            _record(key, "apikey.added", actor, now, before={}, after=_told(key))
    except IntegrityError:
        raise CannotAddKey(f"The account already has a key with the login {login.strip()!r}.") from None
    return key


def disable(*, key: ApiKey, actor: "Person | None", now: datetime) -> bool:
    """Take a key out of use for good; False when it already was. Its sealed secret is wiped."""
    with transaction.atomic():
        changed = ApiKey.objects.filter(pk=key.pk, active=True).update(active=False, retired_at=now, sealed_secret="")
        if changed:
            _record(key, "apikey.disabled", actor, now, before={"active": True}, after={"active": False})
    return bool(changed)


def client_for(account: Account, right: Right | None) -> ExchangeClient:
    """A client with the active key of fewest rights that carries `right` (none: any key). Raises `NoUsableKey`.

    A key that the exchange turned down within the last ten minutes is taken only when there is no other.
    """
    now = clock.now()
    key = _choose(account, right, now)
    transport = Transport(
        base_url=settings.EXCHANGE_URL,
        credentials=credentials_of(key),
        deadline_s=settings.CALL_DEADLINE_SECONDS,
        refusals=refusals.KNOWN,
    )
    ApiKey.objects.filter(pk=key.pk).exclude(last_used_at__gt=now - USE_NOTED_EVERY).update(last_used_at=now)
    return ExchangeClient(
        transport,
        date_seen=partial(_note_date, account.pk),
        rejected=partial(_note_problem, key.pk),
        budget=_budget_of(key.login),
    )


def public_client() -> ExchangeClient:
    """A client without a key, for public market data."""
    transport = Transport(base_url=settings.EXCHANGE_URL, deadline_s=settings.CALL_DEADLINE_SECONDS)
    return ExchangeClient(transport, budget=_budget_of(""))


def stream_credentials(account: Account) -> Credentials:
    """What the account stream logs in with: the least-privileged key that may read payments."""
    return credentials_of(_choose(account, Right.PAYMENTS, clock.now()))


def credentials_of(key: ApiKey) -> Credentials:
    """Login and secret of a key, unsealed. Workers and followers only. Raises `NoUsableKey` when it does not open."""
    try:
        secret = sealing.unseal(key.sealed_secret, context=_context(key))
    except (sealing.CannotUnseal, sealing.CannotSeal) as problem:
        raise NoUsableKey(f"The secret of the key {key.label} can't be opened: {problem}") from problem
    return Credentials(login=key.login, secret=secret)


def rewrap_all(rotate: Callable[[str, str], str]) -> int:
    """Bring every sealed secret under the newest key of the ring; how many were changed."""
    changed = 0
    for key in ApiKey.objects.exclude(sealed_secret=""):
        sealed = rotate(key.sealed_secret, _context(key))
        if sealed != key.sealed_secret:
            same = ApiKey.objects.filter(pk=key.pk, sealed_secret=key.sealed_secret)
            changed += same.update(sealed_secret=sealed)
    return changed


def fingerprint(secret: Secret) -> str:
    """Sixteen hexadecimal digits by which two secrets can be compared; useless without this house's own secret."""
    return salted_hmac("exchange_ops.keys", secret.reveal(), algorithm="sha256").hexdigest()[:16]


def _budget_of(login: str) -> budgets.KeyBudget:
    return budgets.of_this_process.for_key(settings.EXCHANGE_URL, login, settings.EXCHANGE_CALLS_PER_SECOND)


def _choose(account: Account, right: Right | None, now: datetime) -> ApiKey:
    usable = [
        key
        for key in ApiKey.objects.filter(account=account, active=True).exclude(sealed_secret="")
        if right is None or right.value in key.rights
    ]
    if not usable:
        named = "any right" if right is None else f"the right “{right.value}”"
        raise NoUsableKey(f"{account.name} has no active key with {named}. An admin can add one.")
    return min(usable, key=lambda key: (_was_turned_down(key, now), len(key.rights), key.pk))


def _was_turned_down(key: ApiKey, now: datetime) -> bool:
    return key.last_problem_at is not None and now - key.last_problem_at < AVOIDED_FOR


def _note_date(account_id: int, date: datetime) -> None:
    clocks.note(account_id=account_id, date=date, now=clock.now())


def _note_problem(key_id: int, refusal: Refused) -> None:
    """Remember that the exchange turned the key down. A database that is away must not hide the refusal itself."""
    try:
        ApiKey.objects.filter(pk=key_id).update(last_problem=str(refusal)[:300], last_problem_at=clock.now())
    except DatabaseError as problem:
        _log.warning("keys.problem_not_kept", key=key_id, reason=str(problem))


def _record(
    key: ApiKey,
    action: str,
    actor: "Person | None",
    now: datetime,
    *,
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    audit.record(actor=actor, action=action, subject=f"apikey:{key.pk}", before=before, after=after, now=now)


def _told(key: ApiKey) -> dict[str, object]:
    return {
        "account": key.account_id,
        "label": key.label,
        "login": key.login,
        "rights": key.rights,
        "fingerprint": key.fingerprint,
        "active": True,
    }


def _context(key: ApiKey) -> str:
    """What the sealed text is bound to: moved to another row it doesn't open."""
    return f"apikey:{key.pk}:secret"
