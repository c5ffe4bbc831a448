"""How a key is doing, in one word, and what about it needs a look. Plain values for the pages and the interface."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from exchange_ops.keys import rights as key_rights
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right

ROTATE_AFTER = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """A word with its tone and icon; `name` is the same for programs."""

    name: str
    label: str
    tone: str
    sign: str


IN_USE = KeyStatus("in_use", "In use", "good", "circle-check")
PROBED = KeyStatus("being_probed", "Being probed", "active", "loader")
NOT_PROBED = KeyStatus("not_probed", "Could not be probed", "warn", "circle-question-mark")
TURNED_DOWN = KeyStatus("turned_down", "Turned down by the exchange", "bad", "circle-x")
WAITING = KeyStatus("waiting", "Waits to take over", "active", "clock")
KEPT = KeyStatus("kept", "Kept, handed over", "warn", "hourglass")
DISABLED = KeyStatus("disabled", "Disabled", "quiet", "ban")
STANDINGS = (IN_USE, PROBED, NOT_PROBED, TURNED_DOWN, WAITING, KEPT, DISABLED)


@dataclass(frozen=True, slots=True)
class RightSeen:
    """One right: whether the key was said to have it, and what the exchange answered."""

    name: str
    declared: bool
    observed: str
    tone: str
    label: str
    sign: str


@dataclass(frozen=True, slots=True)
class KeyView:
    """A key as a page draws it."""

    key: ApiKey
    status: KeyStatus
    rights: list[RightSeen] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    age: timedelta = timedelta(0)

    @property
    def rotation_due(self) -> bool:
        """Whether the pair is so old that it should be replaced."""
        return self.key.retired_at is None and self.age >= ROTATE_AFTER


def of(key: ApiKey, *, now: datetime) -> KeyView:
    """Everything a page says about the key."""
    return KeyView(
        key=key,
        status=status_of(key),
        rights=[_seen(key, right) for right in Right],
        warnings=_warnings(key),
        age=max(now - key.created_at, timedelta(0)),
    )


def status_of(key: ApiKey) -> KeyStatus:
    """The first of these that is true, the gravest first."""
    found = (
        (key.retired_at is not None, DISABLED),
        (key.is_being_probed, PROBED),
        (key.is_turned_down, TURNED_DOWN),
        (key.kept_at is not None, KEPT),
        (bool(key.probe_problem), NOT_PROBED),
        (key.is_waiting, WAITING),
        (not key.active, DISABLED),
    )
    return next((one for holds, one in found if holds), IN_USE)


def _seen(key: ApiKey, right: Right) -> RightSeen:
    declared, observed = right.value in key.rights, key_rights.observed(key, right)
    marks = {
        (True, key_rights.GRANTED): ("good", "Granted", "circle-check"),
        (False, key_rights.GRANTED): ("warn", "Granted, not needed", "triangle-alert"),
        (True, key_rights.MISSING): ("bad", "Refused", "circle-x"),
        (False, key_rights.MISSING): ("quiet", "Refused", "minus"),
    }
    unknown = ("quiet", "Not probed", "circle-dashed")
    tone, label, sign = marks.get((declared, observed), unknown)
    return RightSeen(right.value, declared, observed, tone, label, sign)


def _warnings(key: ApiKey) -> list[str]:
    """What an admin should look at; nothing about a key that is out of use."""
    if key.retired_at is not None:
        return []
    found = []
    if key.same_account is False:
        found.append("It opens another account at the exchange: our transactions are not there. It is used last.")
    if excess := key_rights.excess(key):
        named = ", ".join(right.value for right in excess)
        found.append(f"This key has more permissions than it needs: {named}. Whoever gets hold of it can do that too.")
    if lacking := key_rights.lacking(key):
        named = ", ".join(right.value for right in lacking)
        found.append(f"The exchange does not grant it: {named}. It is not used for that.")
    return found


def watches_only(accounts: Iterable[Account]) -> bool:
    """Whether these accounts have keys in use and none of them is meant to pay: the desk shows, and can't pay."""
    rights = list(ApiKey.objects.filter(account__in=accounts, active=True).values_list("rights", flat=True))
    return bool(rights) and not any(Right.WITHDRAW.value in names for names in rights)
