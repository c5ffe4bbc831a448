"""Whether orders go on as they should, and how old the lists are."""

from datetime import timedelta

from desk import clock
from desk.rooms import Health
from exchange_ops.orders import stream, workflow
from exchange_ops.shared import heartbeats
from exchange_ops.shared.declarations import ages
from exchange_ops.shared.models import Account


def orders() -> Health:
    """How long the oldest order that is due has been waiting for a worker, and how old the lists are."""
    now = clock.now()
    due = workflow.due(now=now).order_by("next_action_at").values_list("next_action_at", flat=True).first()
    age = ages.age(due, now) or timedelta(0)
    sentences = ["No order waits for a worker."]
    if due is not None:
        sentences = [f"The oldest order that is due has waited {ages.spoken(age)} for a worker."]
    for account in Account.objects.order_by("pk"):
        row = heartbeats.state_of(workflow.name_of(account))
        read = ages.age(row.heard_at if row else None, now)
        lists = "Its lists were not read yet." if read is None else f"Its lists were read {ages.spoken(read)} ago."
        sentences += [lists, *([row.problem] if row is not None and row.problem else [])]
        sentences.append(ages.liveness(stream.name_of(account), "Order updates", now))
    return Health(ok=age <= ages.DUE_AGE, sentence=" ".join(sentences), age_s=age.total_seconds())
