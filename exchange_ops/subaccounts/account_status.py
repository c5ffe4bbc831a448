"""The status of a sub-account as observed, how it differs from what was requested, and what may be requested of it.

The exchange has one word, disable, for one that was frozen and one that is disabled for good (supplement 2.11), and
shows payout settings for neither. Which of the two it is, we know only from our own freeze, or from an activation that
was answered with false; so "frozen or disabled" is a status of its own here.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from desk.machines.table import Tone
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts import states
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction

OPEN, NEW, FROZEN, DISABLED, CLOSED, UNCLEAR, GONE = "active", "new", "frozen", "disabled", "closed", "unclear", "gone"
NAMES: Final = (OPEN, NEW, FROZEN, DISABLED, CLOSED, UNCLEAR, GONE)
SHUT: Final = frozenset({FROZEN, DISABLED, CLOSED})


@dataclass(frozen=True, slots=True)
class AccountStatus:
    """`name` is one of the words above; `label` and `sentence` are for people, in the `tone` of the chip."""

    name: str
    label: str
    sentence: str
    tone: str


_STATUSES: Final = {
    OPEN: AccountStatus(OPEN, "Active", "Can log in, trade and withdraw as its settings allow.", Tone.GOOD),
    NEW: AccountStatus(NEW, "New", "Not used yet. It can be frozen, and reactivated afterwards.", Tone.QUIET),
    FROZEN: AccountStatus(
        FROZEN, "Frozen", "Can't log in, trade, withdraw or use its keys. An administrator can activate it.", Tone.WARN
    ),
    DISABLED: AccountStatus(
        DISABLED,
        "Disabled permanently",
        "The exchange rejects activation: disabling is permanent.",
        Tone.BAD,
    ),
    CLOSED: AccountStatus(
        CLOSED,
        "Frozen or disabled",
        (
            "The exchange uses one status for frozen and disabled sub-accounts. Activating shows which applies: a "
            "frozen one becomes active, a disabled one does not."
        ),
        Tone.WARN,
    ),
    UNCLEAR: AccountStatus(
        UNCLEAR,
        "Unclear",
        "The exchange's list and payout settings disagree, or the sub-account's status is unknown.",
        Tone.BAD,
    ),
    GONE: AccountStatus(GONE, "Not listed", "No longer in the exchange's list.", Tone.BAD),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Requested against observed, in words. `tone` is good when they agree, active while it is under way."""

    tone: str
    label: str


def status_of(sub: SubAccount) -> AccountStatus:
    """Its status by the newest observation."""
    return _STATUSES[_name(sub)]


def _name(sub: SubAccount) -> str:
    if sub.missing_since is not None:
        return GONE
    newer_settings = sub.settings_at is not None and sub.settings_at >= sub.observed_at
    newest = sub.settings_shown if newer_settings else None
    if sub.status in {states.NEW, states.LISTED_ACTIVE}:
        if newest is False:
            return UNCLEAR
        return NEW if sub.status == states.NEW else OPEN
    if newest is True:
        return UNCLEAR
    if sub.status == states.LISTED_CLOSED:
        return sub.closed_as or CLOSED
    return UNCLEAR


def requested_status(sub: SubAccount) -> str:
    """The requested status in a word; empty when none was requested."""
    return {"active": "Active", states.AS_FROZEN: "Frozen"}.get(sub.wanted, "")


def difference(sub: SubAccount, open_actions: Sequence[SubAccountAction] = ()) -> Difference:
    """Whether the observed status is the requested one; `open_actions` are those under way for this sub-account."""
    under_way = next((one for one in open_actions if one.kind != states.SETTINGS), None)
    name = _name(sub)
    if under_way is not None:
        return Difference(Tone.ACTIVE, "Freezing" if under_way.kind == states.FREEZE else "Activating")
    if name in {UNCLEAR, GONE}:
        return Difference(Tone.BAD, "Needs review")
    if sub.wanted == states.AS_FROZEN and name not in SHUT:
        return Difference(Tone.BAD, "Differs: freeze requested, not frozen")
    if sub.wanted == "active" and name != OPEN:
        return Difference(Tone.BAD, "Differs: activation requested, not active")
    if settings_differ(sub):
        under_way = next((one for one in open_actions if one.kind == states.SETTINGS), None)
        return Difference(Tone.ACTIVE, "Changing settings") if under_way else Difference(Tone.BAD, "Settings differ")
    return Difference(Tone.GOOD, "As requested") if sub.wanted else Difference(Tone.QUIET, "No pending change")


def settings_differ(sub: SubAccount) -> bool:
    """Whether the payout settings that are shown differ from those requested."""
    if not sub.settings_shown:
        return False
    payout = sub.wanted_payout is not None and sub.wanted_payout != sub.payout_enabled
    return payout or (sub.wanted_description is not None and sub.wanted_description != sub.description)


def obstacle(kind: str, sub: SubAccount) -> str:
    """Why this can't be requested now, or an empty text: what the exchange would refuse is refused here first."""
    name, number = _name(sub), sub.exchange_id
    if name == GONE:
        return f"Sub-account {number} is no longer in the exchange's list."
    if kind == states.FREEZE:
        word = {FROZEN: "frozen", DISABLED: "disabled permanently", CLOSED: "frozen or disabled"}.get(name)
        return f"Sub-account {number} is already {word} and can't be frozen." if word else ""
    if kind == states.ACTIVATE:
        return _activation_obstacle(name, sub)
    if name in SHUT:
        return f"Sub-account {number} is {status_of(sub).label.lower()}; its payout settings can't be changed."
    return ""


def _activation_obstacle(name: str, sub: SubAccount) -> str:
    number = sub.exchange_id
    if name == OPEN and sub.wanted == states.AS_FROZEN:
        return ""  # a failed freeze is withdrawn by requesting it active again
    if name == OPEN:
        return f"Sub-account {number} is already active."
    if name == NEW:
        return f"Sub-account {number} is new and has never been frozen; no activation needed."
    if name == DISABLED:
        return f"Sub-account {number} is permanently disabled; the exchange does not reactivate disabled sub-accounts."
    return ""


def subaccount_problem(account: Account, number: int | None) -> str:
    """Why no money can be moved to or from this sub-account, or an empty text."""
    if number is None:
        return "Choose a sub-account."
    sub = SubAccount.objects.filter(account=account, exchange_id=number).first()
    status = None if sub is None else status_of(sub)
    if sub is None or status is None or status.name == GONE:
        return f"The exchange's list has no sub-account {number}."
    if status.name not in {OPEN, NEW}:
        return f"Sub-account {number} is {status.label.lower()}: no transfers to or from it."
    if sub.wanted == states.AS_FROZEN:
        return f"Sub-account {number} is being frozen: no transfers to or from it."
    return ""


def digest_of(kind: str, subs: Sequence[SubAccount]) -> str:
    """What a person confirms: this act on these sub-accounts as shown on the screen, and no other."""
    content = [
        [
            sub.account_id,
            sub.exchange_id,
            sub.email,
            _name(sub),
            sub.settings_shown,
            sub.payout_enabled,
            sub.description,
        ]
        for sub in sorted(subs, key=lambda sub: sub.exchange_id)
    ]
    text = json.dumps(["countersign-subaccounts-1", kind, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
