"""The keys of an exchange account: added and disabled by people, opened by workers alone, chosen by least privilege.

A secret goes in once and never comes out again: it is sealed for its own row, and people see its last four characters
and a fingerprint. Only worker-side code calls `client_for`.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import structlog
from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F
from django.utils.crypto import salted_hmac

from desk import clock, outbox, sealing
from desk.audit import trail
from desk.incidents import review
from desk.live import announcements
from desk.machines.sending import NoClient
from exchange_ops.client import ExchangeClient, budgets
from exchange_ops.keys import rights as key_rights
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared import alarms, clocks, places, public_client
from exchange_ops.shared.models import Account
from exchange_ops.wire import refusals
from exchange_ops.wire.catalogue import Right
from wire.errors import Refused
from wire.transport import Credentials, Transport
from wire.values import Secret

if TYPE_CHECKING:
    from desk.models import Person

TOPIC = "keys"
PROBE_TASK = "exchange_ops.probe_key"
LAST_FOUR_FROM = 16  # characters a secret needs before its last four may be shown
PROBE_SECONDS = 5  # for each call that only asks about a key: a handful of them fits into the time of a task
USE_NOTED_EVERY = timedelta(minutes=1)

_log = structlog.get_logger(__name__)


class CannotAddKey(Exception):
    """The key was not added; the sentence says why, and `field` names the form's field that it is about."""

    def __init__(self, sentence: str, *, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


class NoUsableKey(NoClient):
    """No active key of the account carries the right, its secret does not open, or the settings lack its exchange."""


def add(
    *,
    account: Account,
    label: str,
    login: str,
    secret: Secret,
    rights: Sequence[Right],
    actor: "Person | None",
    now: datetime,
    replaces: ApiKey | None = None,
    request_key: str | None = None,
    session_key: str = "",
    evidence: Mapping[str, object] | None = None,
) -> ApiKey:
    """Store a new key pair, sealed. `rights` are those that the key got at the exchange, at least one.

    A key that `replaces` another waits until it takes over. A worker asks the exchange for its real rights.
    """
    if not login.strip() or not label.strip():
        raise CannotAddKey("Enter a name and the API key.", field="login" if label.strip() else "label")
    if problem := places.problem(account):
        raise CannotAddKey(problem)
    if not rights:
        raise CannotAddKey("Choose at least one permission.", field="rights")
    try:
        with transaction.atomic():
            key = ApiKey.objects.create(
                account=account,
                label=label.strip(),
                login=login.strip(),
                fingerprint=fingerprint(secret),
                last_four=secret.reveal()[-4:] if len(secret.reveal()) >= LAST_FOUR_FROM else "",
                rights=sorted(Right(right).value for right in rights),
                active=replaces is None,
                replaces=replaces,
                created_by=actor,
                created_at=now,
                probe_asked_at=now,
                request_key=request_key,
            )
            ApiKey.objects.filter(pk=key.pk).update(sealed_secret=sealing.seal(secret, context=_context(key)))
            key.refresh_from_db(fields=["sealed_secret"])
            action = "apikey.added" if replaces is None else "apikey.successor_added"
            facts = {**_facts(key), **(evidence or {})}
            record(key, action, actor=actor, now=now, before={}, after=facts, session_key=session_key)
    except IntegrityError:
        raise CannotAddKey(f"The account already has the API key {login.strip()!r}.", field="login") from None
    return key


def disable(
    *,
    key: ApiKey,
    actor: "Person | None",
    now: datetime,
    session_key: str = "",
    evidence: Mapping[str, object] | None = None,
) -> bool:
    """Take a key out of use for good; False when it already was. Its sealed secret is wiped."""
    with transaction.atomic():
        live_row = ApiKey.objects.filter(pk=key.pk, retired_at=None)
        changed = live_row.update(active=False, kept_at=None, retired_at=now, sealed_secret="")
        if changed:
            after = {"active": False, **(evidence or {})}
            before = {"active": key.active}
            record(key, "apikey.disabled", actor=actor, now=now, before=before, after=after, session_key=session_key)
    return bool(changed)


def client_for(account: Account, right: Right | None) -> ExchangeClient:
    """A client with the key of fewest rights that carries `right` (None: any key). Raises `NoUsableKey`.

    A key that the exchange turned down within the last ten minutes is used only when there is no other, and a
    predecessor that handed over only as the last one: a call for money does not fail because of a bad new key.
    """
    place_of(account)
    now = clock.now()
    key = _choose(account, right, now)
    noted = clock.recent("last_used_at", now - USE_NOTED_EVERY, now=now)
    ApiKey.objects.filter(pk=key.pk).exclude(noted).update(last_used_at=now)
    accepted = partial(_note_success, key.pk) if key.is_turned_down else None
    return _client(key, rejected=partial(_note_refusal, key.pk), accepted=accepted)


def client_of(key: ApiKey) -> ExchangeClient:
    """A client with exactly this key, to find out what it may do: a refusal is an answer, not a problem of the key."""
    return _client(key, rejected=None, deadline_s=min(PROBE_SECONDS, settings.CALL_DEADLINE_SECONDS))


def place_of(account: Account) -> places.Place:
    """The account's exchange. Raises `NoUsableKey` when the settings do not name it."""
    try:
        return places.place_of(account)
    except places.UnknownPlace as unknown:
        raise NoUsableKey(str(unknown)) from None


def stream_key(account: Account, right: Right = Right.PAYMENTS) -> ApiKey:
    """The key that a stream logs in with: the least-privileged one with the right it needs. Raises `NoUsableKey`."""
    place_of(account)
    return _choose(account, right, clock.now())


def has_to_change(key: ApiKey, right: Right = Right.PAYMENTS) -> bool:
    """Whether a stream with this key has to log in again: the key is out of use, and there is another."""
    if ApiKey.objects.filter(pk=key.pk, active=True).exists():
        return False
    try:
        return stream_key(key.account, right).pk != key.pk
    except NoUsableKey:
        return True


def note_problem(*, key_id: int, problem: str) -> None:
    """Note that the exchange turned the key down: others are tried first for a while."""
    now = clock.now()
    with transaction.atomic():
        ApiKey.objects.filter(pk=key_id).update(last_problem=problem[:300], last_problem_at=now)
        review.review_now(alarms.KEY_REFUSED, now=now)
        announcements.announce(TOPIC)


def credentials_of(key: ApiKey) -> Credentials:
    """Login and secret of a key, unsealed. Workers and followers only. Raises `NoUsableKey` when it does not open."""
    try:
        secret = sealing.unseal(key.sealed_secret, context=_context(key))
    except (sealing.CannotUnseal, sealing.CannotSeal) as problem:
        raise NoUsableKey(f"The secret of the key {key.label} can't be decrypted: {problem}") from problem
    return Credentials(login=key.login, secret=secret)


def rewrap_all(rotate: Callable[[str, str], str]) -> int:
    """Seal every secret with the newest key of the ring; returns how many were changed."""
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


def budget_of(key: ApiKey) -> budgets.KeyBudget:
    """The budget of a key in this process, for calls that don't go over REST."""
    return public_client.budget_at(place_of(key.account), login=key.login)


def _client(
    key: ApiKey,
    *,
    rejected: Callable[[Refused], None] | None,
    accepted: Callable[[], None] | None = None,
    deadline_s: int | None = None,
) -> ExchangeClient:
    place = place_of(key.account)
    transport = Transport(
        base_url=place.url,
        credentials=credentials_of(key),
        deadline_s=deadline_s or settings.CALL_DEADLINE_SECONDS,
        refusals=refusals.NOTHING_DONE,
        private_hosts=settings.PRIVATE_HOSTS,
    )
    date_seen, budget = partial(_note_date, key.account_id), public_client.budget_at(place, login=key.login)
    return ExchangeClient(transport, date_seen=date_seen, rejected=rejected, accepted=accepted, budget=budget)


def _choose(account: Account, right: Right | None, now: datetime) -> ApiKey:
    live_rows = key_rights.usable(account).select_related("account")
    candidates = [key for key in live_rows if key_rights.carries(key, right)]
    if not candidates:
        needed = "any permission" if right is None else f"the permission “{right.value}”"
        raise NoUsableKey(f"{account.name} has no active key with {needed}. An administrator can add one.")
    return min(candidates, key=lambda key: key_rights.drawbacks(key, now))


def _note_date(account_id: int, date: datetime) -> None:
    clocks.note(account_id=account_id, date=date, now=clock.now())


def _note_refusal(key_id: int, refusal: Refused) -> None:
    """Note a refusal. A database error must not hide the refusal itself."""
    try:
        note_problem(key_id=key_id, problem=str(refusal))
    except DatabaseError as problem:
        _log.warning("keys.problem_not_kept", key=key_id, reason=str(problem))


def _note_success(key_id: int) -> None:
    """Probe a key that was turned down and works again at once, which ends the alarm."""
    now = clock.now()
    live_rows = ApiKey.objects.filter(pk=key_id, retired_at=None).exclude(probe_asked_at__gt=F("probed_at"))
    try:
        if live_rows.filter(last_problem_at__gte=F("probed_at")).update(probe_asked_at=now):
            outbox.wake(PROBE_TASK, key_id)
    except DatabaseError as problem:
        _log.warning("keys.success_not_kept", key=key_id, reason=str(problem))


def record(
    key: ApiKey,
    action: str,
    *,
    actor: "Person | None",
    now: datetime,
    before: Mapping[str, object],
    after: Mapping[str, object],
    session_key: str = "",
) -> None:
    """Write the audit row of a change of the key, in the caller's transaction, and let open pages know."""
    trail.record(
        actor=actor,
        action=action,
        subject=key.subject,
        before=dict(before),
        after=dict(after),
        now=now,
        session_key=session_key,
    )
    announcements.announce(TOPIC, id=key.pk)


def _facts(key: ApiKey) -> dict[str, object]:
    return {
        "account": key.account_id,
        "place": key.account.place,
        "label": key.label,
        "login": key.login,
        "rights": key.rights,
        "fingerprint": key.fingerprint,
        "active": key.active,
        **({"replaces": key.replaces_id} if key.replaces_id else {}),
    }


def _context(key: ApiKey) -> str:
    """The row that a sealed secret is bound to: in another row it doesn't open."""
    return f"apikey:{key.pk}:secret"
