"""What is open of a person, named before they are switched off: approvals that count no more then, since nothing is
decided yet; and brackets, with which the desk goes on.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.db.models import F
from django.urls import reverse

from desk.machines.table import NONE
from desk.rooms import OpenWord
from desk.templatetags.desk import plain
from exchange_ops.orders.brackets import machine as bracket_states
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.policy.models import ThawVote
from exchange_ops.transfers import machine as transfer_states
from exchange_ops.transfers.models import TransferApproval
from exchange_ops.withdrawals import machine as states
from exchange_ops.withdrawals.models import Approval

if TYPE_CHECKING:
    from desk.models import Person


def of(person: "Person") -> Iterator[OpenWord]:
    """Approvals of payouts and transfers that still need others, and agreements to a thaw."""
    payouts = Approval.objects.filter(person=person, verdict=Approval.APPROVE, digest=F("withdrawal__digest"))
    undecided = payouts.filter(withdrawal__state__in=(states.REVIEW, states.HELD), withdrawal__decision=NONE)
    for word in undecided.select_related("withdrawal").order_by("withdrawal_id"):
        row = word.withdrawal
        sentence = f"Approved a payout of {row.amount:f} {row.currency}"
        yield OpenWord(row.reference, reverse("withdrawal", args=[row.pk]), sentence)
    transfers = TransferApproval.objects.filter(person=person, verdict=TransferApproval.APPROVE)
    waiting = transfers.filter(digest=F("transfer__digest"), transfer__state=transfer_states.REVIEW)
    for transfer_word in waiting.select_related("transfer").order_by("transfer_id"):
        transfer = transfer_word.transfer
        sentence = f"Approved a transfer of {transfer.amount:f} {transfer.currency}"
        yield OpenWord(transfer.reference, reverse("transfer", args=[transfer.pk]), sentence)
    for vote in ThawVote.objects.filter(person=person, freeze__thawed_at=None).select_related("freeze"):
        yield OpenWord(f"Freeze {vote.freeze_id}", reverse("policy"), "Agreed to thaw the account")


def work(person: "Person") -> Iterator[OpenWord]:
    """Brackets that are watched: the desk places and cancels their exits in this person's name."""
    for row in Bracket.objects.filter(initiator=person, state__in=bracket_states.WATCHED).order_by("pk"):
        exits = f"stop at {plain(row.stop_price)}, take profit at {plain(row.take_price)}"
        sentence = f"Bracket of a {row.side} order of {row.symbol}, {exits}; {row.label.lower()}"
        yield OpenWord(row.reference, reverse("bracket", args=[row.pk]), sentence)
