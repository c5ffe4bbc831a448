"""Whether payouts, their holds and their proofs are on time."""

from datetime import timedelta

from desk import clock
from desk.rooms import Health
from exchange_ops.shared.declarations import ages
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import states, workflow
from exchange_ops.withdrawals.decisions import open_holds
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.proofs import payouts as proofs_of_payouts
from exchange_ops.withdrawals.steps import settlement

MOST_PROOFS = 100  # whose age is computed


def payouts() -> Health:
    """How long the oldest payout that is due has been waiting for a worker."""
    now = clock.now()
    ages_of_rows = [
        now - due_at
        for account in Account.objects.order_by("pk")
        for due_at in workflow.due(account=account, now=now).values_list("next_action_at", flat=True)
        if due_at is not None
    ]
    if not ages_of_rows:
        return Health(ok=True, sentence="No payout is overdue.", age_s=0)
    oldest = max(ages_of_rows)
    sentence = f"Payouts are delayed: the oldest has been due for {ages.spoken(oldest)}."
    return Health(ok=oldest <= ages.DUE_AGE, sentence=sentence, age_s=oldest.total_seconds())


def unfinished() -> Health:
    """Payouts that the exchange accepted more than an hour ago and has not carried out."""
    now = clock.now()
    rows = list(settlement.overdue(now=now)[: ages.MOST_NAMED])
    if not rows:
        return Health(ok=True, sentence="All accepted payment orders were executed on time.", age_s=0)
    sentence = " ".join(settlement.overdue_sentence(row, now=now) for row in rows)
    return Health(ok=False, sentence=sentence, age_s=(now - rows[0].updated_at).total_seconds())


def holds() -> Health:
    """Closed requests that still have money reserved at the exchange."""
    rows = list(open_holds.closed_requests()[: ages.MOST_NAMED])
    if not rows:
        return Health(ok=True, sentence="No closed request has money reserved at the exchange.", age_s=0)
    waits = any(map(open_holds.is_for_people, rows))
    public = f"Closed requests with money reserved at the exchange: {len(rows)}."
    return Health(ok=not waits, sentence=" ".join(map(open_holds.sentence, rows)), public=public)


def proofs() -> Health:
    """How long the oldest payout has waited to be checked on the chain, and which ones people have to judge."""
    now = clock.now()
    ages_of_rows = [proofs_of_payouts.waits_for(row, now=now) for row in proofs_of_payouts.due(now=now)[:MOST_PROOFS]]
    oldest = max(ages_of_rows, default=timedelta(0))
    sentence = "No payouts awaiting on-chain confirmation."
    if ages_of_rows:
        sentence = f"{len(ages_of_rows)} payouts await on-chain confirmation, the oldest for {ages.spoken(oldest)}."
    rows = Withdrawal.objects.filter(state=states.DISPUTED).order_by("pk")[: ages.MOST_NAMED]
    references = [row.reference for row in rows]
    people = f" {', '.join(references)}: reported as paid, but other evidence disagrees. Treasury must review."
    age_s = oldest.total_seconds()
    return Health(ok=oldest <= ages.DUE_AGE, sentence=sentence + (people if references else ""), age_s=age_s)
