"""The one call of an action on a sub-account: sent once behind its committed row, with every possible outcome.

Code 500 carries the documented sentences ("already freeze or disabled", "Cannot find sub account"): they are stored as
what the exchange said, but prove nothing by themselves. Source: exchange REST, Errors; supplement 2.11.
"""

from dataclasses import dataclass
from typing import Any

import structlog

from desk.machines import calls
from exchange_ops.client import ExchangeClient
from exchange_ops.subaccounts import states
from exchange_ops.subaccounts.models import SubAccountAction
from exchange_ops.wire import refusals
from wire.errors import CallFailed, OutcomeUnknown, Refused, Unreachable
from wire.operation import BadArgument

YES, NO, ALREADY, UNKNOWN_ID, LOST = "yes", "no", "already", "not_found", "lost"
_ALREADY_SHUT = refusals.SUBACCOUNT_FROZEN_OR_DISABLED.rpartition("}")[2].strip()
_NO_SUCH = refusals.SUBACCOUNT_UNKNOWN.partition("{")[0].strip()
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reply(calls.Reply):
    """The outcome of one call; `answer` is what was answered, in the words of an action's row."""

    answer: str = ""


def content(row: SubAccountAction) -> dict[str, Any]:
    """What is sent: one sub-account, and of its settings only the changes."""
    if row.kind != states.SETTINGS:
        return {"ids": [row.sub_account.exchange_id]}
    return {
        "subaccount_id": row.sub_account.exchange_id,
        "is_payout_enabled": row.wanted_payout,
        "description": row.wanted_description,
    }


def send(row: SubAccountAction, client: ExchangeClient, last_look: calls.LastLook) -> Reply:
    """Send it and return the outcome: no outside failure is raised."""
    try:
        return _reply(row, _ask(row, client, last_look))
    except Refused as refused:
        reply = Reply(
            calls.REFUSED, answer=NO, problem=str(refused), code=refused.code, http_status=refused.http_status
        )
    except BadArgument as problem:
        reply = Reply(calls.REFUSED, answer=NO, problem=f"The request is invalid and was not sent: {problem}")
    except Unreachable as problem:
        reply = Reply(calls.NOT_SENT, problem=f"The exchange could not be reached: {problem.reason}")
    except OutcomeUnknown as unknown:
        reply = _without_outcome(unknown)
    except CallFailed as problem:
        reply = Reply(calls.UNKNOWN, answer=LOST, problem=f"No usable response: {problem}")
    except Exception as problem:  # whatever a library raises: once it may have left, the outcome is unknown
        _log.exception("subaccounts.unexpected")
        reply = Reply(calls.UNKNOWN, answer=LOST, problem=f"No usable response: {type(problem).__name__}")
    return reply


def _reply(row: SubAccountAction, answer: bool) -> Reply:
    if answer:
        return Reply(calls.ACCEPTED, answer=YES)
    if row.kind == states.ACTIVATE:
        # The documented answer for one that is disabled (exchange REST, Sub-account status).
        return Reply(calls.REFUSED, answer=NO, problem="The exchange rejected the activation (response: false).")
    return Reply(
        calls.UNKNOWN, answer=LOST, problem="The exchange returned false, which is not documented for this request."
    )


def _ask(row: SubAccountAction, client: ExchangeClient, last_look: calls.LastLook) -> bool:
    arguments = content(row)
    if row.kind == states.SETTINGS:
        client.set_subaccount_settings(**arguments, last_look=last_look)
        return True
    act = client.freeze_subaccounts if row.kind == states.FREEZE else client.activate_subaccounts
    return act(**arguments, last_look=last_look)


def _without_outcome(unknown: OutcomeUnknown) -> Reply:
    """What is known all the same: a documented description under code 500 is stored, but proves nothing by itself."""
    reported = unknown.evidence
    body, status, code = str(reported.get("body", "")), reported.get("status"), reported.get("code")
    answer, problem = LOST, f"No usable response: {unknown.reason}"
    if _ALREADY_SHUT in body:
        answer, problem = ALREADY, "The exchange reports that the sub-account is already frozen or disabled."
    elif _NO_SUCH in body:
        answer, problem = UNKNOWN_ID, "The exchange does not recognise this sub-account."
    return Reply(
        calls.UNKNOWN,
        answer=answer,
        problem=problem,
        code=code if isinstance(code, int) else None,
        http_status=status if isinstance(status, int) else None,
    )
