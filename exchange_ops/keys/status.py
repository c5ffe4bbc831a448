"""The status of a key in one word, and warnings about it. Plain values for the pages and the interface."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from exchange_ops.keys import rights
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right

ROTATE_AFTER = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """A word with its tone and icon; `name` is the word for programs."""

    name: str
    label: str
    tone: str
    sign: str


IN_USE = KeyStatus("in_use", "In use", "good", "circle-check")
PROBED = KeyStatus("being_probed", "Checking", "active", "loader")
NOT_PROBED = KeyStatus("not_probed", "Check failed", "warn", "circle-question-mark")
TURNED_DOWN = KeyStatus("turned_down", "Refused by the exchange", "bad", "circle-x")
WAITING = KeyStatus("waiting", "Ready to switch over", "active", "clock")
HANDED_OVER = KeyStatus("kept", "Replaced, kept", "warn", "hourglass")
DISABLED = KeyStatus("disabled", "Disabled", "quiet", "ban")
STATUSES = (IN_USE, PROBED, NOT_PROBED, TURNED_DOWN, WAITING, HANDED_OVER, DISABLED)


@dataclass(frozen=True, slots=True)
class RightStatus:
    """One right: whether it was declared, and what the exchange answered."""

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
    rights: list[RightStatus] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    age: timedelta = timedelta(0)

    @property
    def rotation_due(self) -> bool:
        """Whether the pair is so old that it should be replaced."""
        return self.key.retired_at is None and self.age >= ROTATE_AFTER


def view_of(key: ApiKey, *, now: datetime) -> KeyView:
    """Everything that a page shows of the key."""
    return KeyView(
        key=key,
        status=status_of(key),
        rights=[_right_status(key, right) for right in Right],
        warnings=_warnings(key),
        age=max(now - key.created_at, timedelta(0)),
    )


def status_of(key: ApiKey) -> KeyStatus:
    """The first status whose condition holds, the most serious first."""
    conditions = (
        (key.retired_at is not None, DISABLED),
        (key.is_being_probed, PROBED),
        (key.is_turned_down, TURNED_DOWN),
        (key.kept_at is not None, HANDED_OVER),
        (bool(key.probe_problem), NOT_PROBED),
        (key.is_waiting, WAITING),
        (not key.active, DISABLED),
    )
    return next((one for holds, one in conditions if holds), IN_USE)


def _right_status(key: ApiKey, right: Right) -> RightStatus:
    declared, observed = right.value in key.rights, rights.observed(key, right)
    marks = {
        (True, rights.GRANTED): ("good", "Granted", "circle-check"),
        (False, rights.GRANTED): ("warn", "Granted, not needed", "triangle-alert"),
        (True, rights.MISSING): ("bad", "Missing", "circle-x"),
        (False, rights.MISSING): ("quiet", "Not granted", "minus"),
    }
    unknown = ("quiet", "Not checked", "circle-dashed")
    tone, label, sign = marks.get((declared, observed), unknown)
    return RightStatus(right.value, declared, observed, tone, label, sign)


def _warnings(key: ApiKey) -> list[str]:
    """What an admin should look at; a key that is out of use has no warnings."""
    if key.retired_at is not None:
        return []
    sentences = []
    if key.same_account is False:
        sentences.append(
            "The key belongs to a different exchange account: its ledger doesn't contain our transactions. "
            "Other keys are used first."
        )
    if excess := rights.excess(key):
        names = ", ".join(right.value for right in excess)
        sentences.append(
            f"This key has more permissions than it needs: {names}. If it leaks, all of them can be abused."
        )
    if lacking := rights.lacking(key):
        names = ", ".join(right.value for right in lacking)
        sentences.append(f"Permissions not granted by the exchange: {names}. The key is not used for these.")
    return sentences


def watches_only(accounts: Iterable[Account]) -> bool:
    """Whether these accounts have keys in use but none that may pay: the desk can only watch."""
    rights = list(ApiKey.objects.filter(account__in=accounts, active=True).values_list("rights", flat=True))
    return bool(rights) and not any(Right.WITHDRAW.value in names for names in rights)
