"""Questions of pages to the exchange: a worker asks once, and a failure becomes a sentence."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, TypeVar

from desk.machines.lanes import LANES, Job
from desk.questions import Question, Rule
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import clients, store
from exchange_ops.keys.clients import ClientFor
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed, Refused
from wire.operation import BadArgument

WAITED_FOR: Final = timedelta(seconds=30)  # a question without an answer is asked again after this
PROBLEM_FOR: Final = timedelta(seconds=5)  # a question that failed may be tried again soon
FAILURES: Final = (CallFailed, BadArgument, store.NoUsableKey)  # what a question may raise instead of being answered
Row = TypeVar("Row", bound=Question)


def fill(
    rule: Rule[Row],
    question_id: int,
    *,
    right: Right,
    read: Callable[[ExchangeClient, Row], Mapping[str, Any]],
    client_for: ClientFor,
    now: datetime,
    account: str = "account",
    failed: Mapping[str, Any] | None = None,
) -> None:
    """Ask the exchange in the lane of the account and this kind of question, and write its answer.

    Nothing happens when the question has its answer already.

    `read` returns the columns of the answer, with a `problem` where the answer can't be stored. `account` is the path
    from the row to the account whose keys are used. A failure writes the columns `failed` beside its sentence.
    """
    row = rule.waiting().select_related(account).filter(pk=question_id).first()
    if row is None:
        return
    whose = attrgetter(account.replace("__", "."))(row)

    def run() -> int:
        try:
            with clients.client(client_for, account=whose, right=right) as client:
                answer = read(client, row)
        except FAILURES as failure:
            answer = {**(failed or {}), "problem": sentence_of(failure)}
        rule.answer(row, now=now, **answer)
        return 1

    LANES.put([Job((rule.model.__name__, whose.pk), question_id, run)])


def sentence_of(failure: Exception) -> str:
    """The sentence for a person whose question could not be answered."""
    if isinstance(failure, Refused):
        return f"No response from the exchange: {failure}"[:300]
    if isinstance(failure, CallFailed):
        return f"The exchange is not reachable at the moment ({failure})."[:300]
    return str(failure)[:300]
