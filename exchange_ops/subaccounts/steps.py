"""The steps of an action on a sub-account: one call with its row before it, then reading until the outcome shows.

Whatever the exchange answered, an action ends as done only when its list and its payout settings show it. A freeze that
provably did not happen is sent again, because freezing twice does no harm; nothing else is.
"""

from datetime import datetime, timedelta
from typing import Any

from desk import clock
from desk.machines import calls, sending
from desk.machines.step_clock import SEND_WITHIN, Stopwatch
from desk.people import stepup
from desk.people.signing import signed_fields
from exchange_ops.keys.clients import ClientFor
from exchange_ops.shared.backoff import QUEUE_PAUSES_S, pause
from exchange_ops.subaccounts import account_status, machine, readings, states
from exchange_ops.subaccounts import calls as subaccount_calls
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction, SubAccountCall
from exchange_ops.wire.catalogue import Right

LOOK_AGAIN = timedelta(seconds=15)
LOOK_PAUSES_S = (2, 4, 8, 15, 30)
MOST_FREEZES = 3
# How long after the answer an action without effect counts as not done: a request whose answer was lost may still be
# carried out. A freeze can be repeated, so it need not wait for that.
QUIET, FREEZE_QUIET = timedelta(minutes=2), timedelta(seconds=10)
LOOKS = 3
NOT_SHOWN_AFTER = timedelta(minutes=10)
_RIGHTS = {states.FREEZE: None, states.ACTIVATE: None, states.SETTINGS: Right.PAYMENTS}


def send(row: SubAccountAction, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 2 to 6: claim, one call for one sub-account, and the move that its outcome leads to."""
    watch = Stopwatch(now)
    if not _is_confirmed(row):
        problem = "Not sent: no valid second-factor confirmation on record. An administrator can request it again."
        machine.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=problem)
        return
    if _lane_is_taken(row):
        problem = "Waiting for another request for this sub-account to finish."
        machine.touch(row, next_action_at=now + LOOK_AGAIN / 5, last_problem=problem)
        return
    sending.step(
        row,
        watch=watch,
        on_obstacle=lambda problem: machine.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=problem[:500]),
        open_client=lambda: client_for(row.sub_account.account, _RIGHTS[row.kind]),
        claim=lambda _: _claimed(row, now),
        send=lambda client, last_look: subaccount_calls.send(row, client, last_look),
        on_outcome=_on_outcome,
    )


def check_outcome(row: SubAccountAction, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 7 to 10: read what the exchange shows now, and end the action once that says how it ended."""
    sub, watch = row.sub_account, Stopwatch(now)
    begun = watch.now()
    problem = readings.observe(sub=sub, client_for=client_for, now=begun)
    # After a plain yes the list is enough; without one the payout settings have to agree with it.
    list_will_do = row.state == states.ACCEPTED and row.kind != states.SETTINGS
    not_seen = sub.observed_at < begun or clock.is_future(sub.observed_at, begun)
    if not_seen or (problem and not list_will_do):
        sentence = problem or "The exchange's list was being synced by another process."
        machine.touch(row, next_action_at=_next_look(row, watch.now()), last_problem=sentence[:500])
        return
    evidence = _evidence(sub)
    if _is_reached(row, sub):
        machine.move(
            row,
            event="seen",
            to=states.DONE,
            now=watch.now(),
            evidence=evidence,
            last_problem="",
            closed_as=_closed_as(row),
        )
        readings.ask_balances(sub=sub, now=watch.now())  # a freeze moves money
    elif not _is_over(row, sub, watch.now()):
        sentence = _not_yet(row, sub)
        machine.touch(row, next_action_at=_next_look(row, watch.now()), last_problem=sentence, looks=row.looks + 1)
    elif row.state == states.UNKNOWN and row.kind == states.FREEZE and row.attempt < MOST_FREEZES and _is_open(sub):
        sentence = "Not frozen yet; sending the freeze again."
        machine.move(
            row, event="seen_unchanged", to=states.REQUESTED, now=watch.now(), evidence=evidence, last_problem=sentence
        )
    else:
        sentence = (
            f"The exchange shows the status {account_status.status_of(sub).label.lower()}, so the change "
            "can't be verified."
        )
        machine.move(
            row, event="seen_unchanged", to=states.NOT_DONE, now=watch.now(), evidence=evidence, last_problem=sentence
        )


# Sending --------------------------------------------------------------------------------------------------------------


def _is_confirmed(row: SubAccountAction) -> bool:
    """Whether the second factor was given for exactly this freeze or activation; settings need none."""
    purpose = states.PURPOSES.get(row.kind)
    digests = signed_fields.countable(row.digest, {signed_fields.COMMENT: row.reason})
    return purpose is None or stepup.proves(
        row.confirmation, person_id=row.requested_by_id, purpose=purpose, digests=digests
    )


def _lane_is_taken(row: SubAccountAction) -> bool:
    others = SubAccountAction.objects.filter(sub_account=row.sub_account_id, lane=row.lane, state__in=states.IN_FLIGHT)
    return others.exclude(pk=row.pk).exists()


def _claimed(row: SubAccountAction, now: datetime) -> SubAccountCall:
    return calls.claim(
        machine.MACHINE,
        row,
        event="claimed",
        to=states.SENDING,
        now=now,
        prepare=lambda: _prepared(row, now),
        attempt=row.attempt + 1,
        answer="",
        answered_at=None,
        last_problem="",
    )


def _prepared(row: SubAccountAction, now: datetime) -> SubAccountCall:
    """The row of the call, inside the transaction of the claim that it belongs to."""
    return SubAccountCall.objects.create(
        action=row,
        attempt=row.attempt,
        version=row.version,
        fingerprint=calls.fingerprint(row.kind, subaccount_calls.content(row)),
        prepared_at=now,
        send_by=now + SEND_WITHIN,
    )


def _on_outcome(row: SubAccountAction, reply: calls.Reply, now: datetime) -> None:
    answer = reply.answer if isinstance(reply, subaccount_calls.Reply) else ""  # none where nothing was sent
    facts = {**reply.facts, "answer": answer}
    columns: dict[str, Any] = {"answer": answer, "last_problem": reply.problem[:500], "lease_until": None}
    if reply.outcome == calls.NOT_SENT:
        later = now + pause(QUEUE_PAUSES_S, row.attempt)
        machine.move(
            row, event="not_sent", to=states.REQUESTED, now=now, evidence=facts, next_action_at=later, **columns
        )
        return
    columns |= {"answered_at": now, "looks": 0}
    if reply.outcome == calls.ACCEPTED:
        machine.move(row, event="accepted", to=states.ACCEPTED, now=now, evidence=facts, **columns)
    elif reply.outcome == calls.REFUSED:
        disabled = row.kind == states.ACTIVATE and reply.code is None and row.sub_account.status == states.LISTED_CLOSED
        closed_as = states.AS_DISABLED if disabled else None
        machine.move(row, event="refused", to=states.REFUSED, now=now, evidence=facts, closed_as=closed_as, **columns)
    else:
        machine.move(row, event="lost", to=states.UNKNOWN, now=now, evidence=facts, **columns)


# Move 6: the outcome is unknown until the exchange's list was read.
lease_expired = calls.lease_expired(
    machine.MACHINE,
    event="lost",
    to=states.UNKNOWN,
    stamped=("answered_at",),
    answer=subaccount_calls.LOST,
    looks=0,
)


# Looking --------------------------------------------------------------------------------------------------------------


def _is_reached(row: SubAccountAction, sub: SubAccount) -> bool:
    """Whether list and payout settings both show what was requested."""
    name = account_status.status_of(sub).name
    if row.kind == states.FREEZE:
        return name in account_status.SHUT
    if row.kind == states.ACTIVATE:
        return name == account_status.OPEN
    payout = row.wanted_payout is None or row.wanted_payout == sub.payout_enabled
    text = row.wanted_description is None or row.wanted_description == sub.description
    return bool(sub.settings_shown) and payout and text


def _closed_as(row: SubAccountAction) -> str | None:
    """Closed by our freeze, unless the first call found it closed already: then somebody else did it."""
    if row.kind != states.FREEZE:
        return "" if row.kind == states.ACTIVATE else None
    return None if row.answer == subaccount_calls.ALREADY and row.attempt == 1 else states.AS_FROZEN


def _is_open(sub: SubAccount) -> bool:
    return account_status.status_of(sub).name in {account_status.OPEN, account_status.NEW}


def _is_over(row: SubAccountAction, sub: SubAccount, now: datetime) -> bool:
    """Whether it was looked for long enough to conclude that it did not happen."""
    since = row.answered_at or row.updated_at
    if row.state == states.ACCEPTED or account_status.status_of(sub).name == account_status.UNCLEAR:
        return clock.has_passed(NOT_SHOWN_AFTER, since=since, now=now)
    quiet = FREEZE_QUIET if row.kind == states.FREEZE else QUIET
    return row.looks >= LOOKS and clock.has_passed(quiet, since=since, now=now)


def _not_yet(row: SubAccountAction, sub: SubAccount) -> str:
    status = account_status.status_of(sub).label.lower()
    if row.state == states.ACCEPTED:
        return f"The exchange accepted the request but still shows the sub-account as {status}."
    problem = row.last_problem if row.looks == 0 else ""
    return f"{problem} The exchange still shows the sub-account as {status}.".strip()[:500]


def _next_look(row: SubAccountAction, now: datetime) -> datetime:
    return now + pause(LOOK_PAUSES_S, row.looks + 1)


def _evidence(sub: SubAccount) -> dict[str, Any]:
    return {
        "status": sub.status,
        "listed": sub.missing_since is None,
        "settings_shown": sub.settings_shown,
        "payout_enabled": sub.payout_enabled,
        "description": sub.description,
        "observed_at": sub.observed_at,
    }
