"""Whether transfers go on as they should."""

from datetime import timedelta

from desk import clock
from desk.rooms import Health
from exchange_ops.shared.declarations import ages
from exchange_ops.transfers import states, workflow
from exchange_ops.transfers.models import Transfer


def transfers() -> Health:
    """How long the oldest transfer that is due has been waiting for a worker, and which of them wait for people."""
    now = clock.now()
    due = workflow.due(now=now).order_by("next_action_at").values_list("next_action_at", flat=True).first()
    age = ages.age(due, now) or timedelta(0)
    waited = "No transfer waits for a worker."
    if due is not None:
        waited = f"The oldest transfer that is due has waited {ages.spoken(age)} for a worker."
    rows = Transfer.objects.filter(state__in=(states.INVESTIGATE, states.NOT_SEEN)).order_by("pk")
    unclear = [row.reference for row in rows[: ages.MOST_NAMED]]
    people = f" {', '.join(unclear)}: the ledger does not say what was expected, and treasury decides."
    return Health(ok=age <= ages.DUE_AGE, sentence=waited + (people if unclear else ""), age_s=age.total_seconds())
