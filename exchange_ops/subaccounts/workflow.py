"""The interface of actions on sub-accounts: request, take back, run the next step, and run everything that is due.

Several sub-accounts in one request become one action each, sent in a call of its own: one answer for several would not
say which it is about. What the exchange would refuse is refused here first, with nothing written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Q

from desk.machines.queue import Queue
from desk.people import stepup
from desk.people.signing import signed_fields
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts import account_status, machine, states, steps
from exchange_ops.subaccounts.models import LONGEST_DESCRIPTION, SubAccount, SubAccountAction, SubAccountBalance

if TYPE_CHECKING:
    from desk.models import Person, StepUp

FORM = "__all__"
PURPOSES = states.PURPOSES
LONGEST_REASON = 500
MOST_AT_ONCE = 50
STALE = "The sub-account changed after you opened the page. Refresh, then decide."
_STEPS = {
    "requested": steps.send,
    "sending": steps.lease_expired,
    "accepted": steps.check_outcome,
    "unknown": steps.check_outcome,
}
QUEUE: Final = Queue(
    machine.MACHINE,
    _STEPS,
    urgency=(Q(kind=states.FREEZE),),
    read_with=("sub_account__account",),
    lane=("sub_account__account_id", "state"),
    after_failure=steps.LOOK_AGAIN,
    sweep_for=timedelta(seconds=10),
)
advance, look, sweep, due = QUEUE.advance, QUEUE.look, QUEUE.sweep, QUEUE.due


class CannotAsk(Exception):
    """Nothing was recorded and nothing sent; `problems` maps a field of the form to the sentence about it."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


# What people do -------------------------------------------------------------------------------------------------------


def ask_status(
    *,
    kind: str,
    account: Account,
    exchange_ids: Sequence[int],
    person: "Person",
    reason: str,
    digest: str,
    answer: dict[str, Any],
    request_key: str,
    session_key: str,
    now: datetime,
) -> list[SubAccountAction]:
    """Request to freeze or activate these sub-accounts, all of them or none, with one second factor for all.

    `digest` is that of `account_status.digest_of` as it was shown; it is signed together with the reason. The same
    `request_key` of the same person always gives the same actions. Raises CannotAsk, or `stepup.CannotConfirm` when the
    second factor was not accepted.
    """
    numbers = sorted(set(exchange_ids))
    form = _Form(person, request_key, kind, numbers, {"reason": reason.strip()})
    if earlier := form.sent_before():
        return earlier
    reason = _checked(person, account, reason, numbers)
    try:
        with transaction.atomic():
            subs = _locked(account, numbers)
            if earlier := form.sent_before():  # the twin of a double click was first to the rows
                return earlier
            _refuse_unless_possible(kind, subs, digest)
            confirmation = stepup.verify(
                person=person,
                purpose=PURPOSES[kind],
                digest=signed_fields.bind(digest, {signed_fields.COMMENT: reason}),
                answer=answer,
                session_key=session_key,
                now=now,
            )
            actions = [
                SubAccountAction(
                    sub_account=sub,
                    kind=kind,
                    reason=reason,
                    requested_by=person,
                    request_key=request_key,
                    confirmation=confirmation,
                    digest=digest,
                )
                for sub in subs
            ]
            _store(actions, now, session_key, confirmation)
    except IntegrityError:
        return form.twin()
    return actions


def ask_settings(
    *,
    account: Account,
    exchange_id: int,
    payout_enabled: bool,
    description: str,
    person: "Person",
    reason: str,
    digest: str,
    request_key: str,
    session_key: str,
    now: datetime,
) -> SubAccountAction:
    """Request other payout settings; what is shown and requested already is not sent. Raises CannotAsk."""
    content = {"reason": reason.strip(), "wanted_payout": payout_enabled, "wanted_description": description.strip()}
    form = _Form(person, request_key, states.SETTINGS, [exchange_id], content)
    if earlier := form.sent_before():
        return earlier[0]
    reason, description = _checked(person, account, reason, [exchange_id]), description.strip()
    if len(description) > LONGEST_DESCRIPTION or not description.isprintable():
        problem = f"Enter at most {LONGEST_DESCRIPTION} characters, on one line."
        raise CannotAsk({"description": problem})
    try:
        with transaction.atomic():
            (sub,) = _locked(account, [exchange_id])
            if earlier := form.sent_before():
                return earlier[0]
            _refuse_unless_possible(states.SETTINGS, [sub], digest)
            payout = payout_enabled if {sub.payout_enabled, sub.wanted_payout} - {payout_enabled, None} else None
            text = description if {sub.description, sub.wanted_description} - {description, None} else None
            if payout is None and text is None:
                raise CannotAsk({FORM: "These are the current settings. Change at least one."})
            action = SubAccountAction(
                sub_account=sub,
                kind=states.SETTINGS,
                wanted_payout=payout,
                wanted_description=text,
                reason=reason,
                requested_by=person,
                request_key=request_key,
                digest=digest,
            )
            _store([action], now, session_key, None)
    except IntegrityError:
        return form.twin()[0]
    return action


def take_back(*, action_id: int, person: "Person", now: datetime, session_key: str = "") -> SubAccountAction:
    """Cancel an action before the exchange was asked. Raises CannotAsk when it was."""
    row = SubAccountAction.objects.select_related("sub_account").filter(pk=action_id).first()
    if row is None:
        raise CannotAsk({FORM: "Request not found."})
    if not rules.may_keep_subaccounts(person, row.sub_account.account_id):
        raise CannotAsk({FORM: "Only administrators can change sub-accounts."})
    try:
        return machine.move(
            row, event="taken_back", to=states.CANCELLED, now=now, actor=person, session_key=session_key
        )
    except machine.CannotMove:
        problem = "Too late to withdraw: the request was already sent. Its outcome will be shown here."
        raise CannotAsk({FORM: problem}) from None


def figures(subs: Sequence[SubAccount]) -> dict[int, list[SubAccountBalance]]:
    """What the trading accounts of these sub-accounts held when last read, which a freeze would move, by their rows."""
    rows = SubAccountBalance.objects.filter(sub_account__in=subs, wallet=SubAccountBalance.TRADING)
    balances: dict[int, list[SubAccountBalance]] = {sub.pk: [] for sub in subs}
    for row in rows.order_by("currency"):
        balances[row.sub_account_id].append(row)
    return balances


# Checks ---------------------------------------------------------------------------------------------------------------


def _checked(person: "Person", account: Account, reason: str, numbers: Sequence[int]) -> str:
    if not rules.may_keep_subaccounts(person, account):
        raise CannotAsk({FORM: "Only administrators can change sub-accounts."})
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise CannotAsk({"reason": f"Enter a reason for the audit trail, up to {LONGEST_REASON} characters."})
    if not numbers:
        raise CannotAsk({FORM: "Choose at least one sub-account."})
    if len(numbers) > MOST_AT_ONCE:
        raise CannotAsk({FORM: f"Choose at most {MOST_AT_ONCE} sub-accounts."})
    return reason


def _locked(account: Account, numbers: Sequence[int]) -> list[SubAccount]:
    subs = machine.lock_accounts(account_id=account.pk, exchange_ids=list(numbers))
    missing = sorted(set(numbers) - {sub.exchange_id for sub in subs})
    if missing:
        numbers_text = ", ".join(str(number) for number in missing[:5])
        raise CannotAsk({FORM: f"Sub-account not found: {numbers_text}."})
    return subs


def _refuse_unless_possible(kind: str, subs: Sequence[SubAccount], digest: str) -> None:
    """Refuse what the exchange would refuse, and a page that shows what is no longer so."""
    open_now = SubAccountAction.objects.filter(sub_account__in=subs, state__in=states.OPEN_STATES)
    under_way = {(one.sub_account_id, one.kind) for one in open_now}
    problems = []
    for sub in subs:
        if (sub.pk, kind) in under_way:
            problems.append(f"Sub-account {sub.exchange_id}: this change is already in progress.")
        elif kind == states.ACTIVATE and (sub.pk, states.FREEZE) in under_way:
            problems.append(
                f"Sub-account {sub.exchange_id} is being frozen. Wait until the exchange shows it as frozen."
            )
        elif kind == states.FREEZE and (sub.pk, states.ACTIVATE) in under_way:
            continue  # the freeze waits behind the activation, so that a person in a hurry need not
        elif problem := account_status.obstacle(kind, sub):
            problems.append(problem)
    if problems:
        raise CannotAsk({FORM: " ".join(problems)})
    if digest != account_status.digest_of(kind, subs):
        raise CannotAsk({FORM: STALE})


def _store(actions: Sequence[SubAccountAction], now: datetime, session_key: str, confirmation: "StepUp | None") -> None:
    balances = figures([one.sub_account for one in actions])
    proof = confirmation.evidence() if confirmation else {}
    for one in actions:
        sub = one.sub_account
        evidence: dict[str, Any] = {"status": sub.status, "observed_at": sub.observed_at, **proof}
        if one.kind == states.FREEZE:
            evidence["trading"] = {row.currency: [row.available, row.reserved] for row in balances[sub.pk]}
            evidence["trading_read_at"] = sub.balances_at
        machine.create(action=one, now=now, session_key=session_key, evidence=evidence)


@dataclass(frozen=True, slots=True)
class _Form:
    """One submitted form: it makes its actions once, however often it arrives."""

    person: "Person"
    request_key: str
    kind: str
    numbers: Sequence[int]
    content: Mapping[str, object]

    def sent_before(self) -> list[SubAccountAction]:
        """The actions that it made before, if any; a used key with other content is refused."""
        rows = SubAccountAction.objects.filter(requested_by=self.person, request_key=self.request_key)
        actions = list(rows.select_related("sub_account").order_by("sub_account__exchange_id"))
        targets = [(one.kind, one.sub_account.exchange_id) for one in actions]
        differs = any(_requested_value(one, name) != value for one in actions for name, value in self.content.items())
        if actions and (differs or targets != [(self.kind, number) for number in self.numbers]):
            raise CannotAsk({FORM: "Not requested: this form was already submitted with different content."})
        return actions

    def twin(self) -> list[SubAccountAction]:
        """The actions of the same form submitted at the same moment; refused when somebody else's request was first."""
        if actions := self.sent_before():
            return actions
        raise CannotAsk({FORM: "Not requested: a colleague has just made the same request."})


def _requested_value(action: SubAccountAction, name: str) -> object:
    """The requested value; a setting that was not sent was requested as it is shown."""
    columns = {"wanted_payout": "payout_enabled", "wanted_description": "description"}
    value: object = getattr(action, name)
    return getattr(action.sub_account, columns[name]) if value is None and name in columns else value
