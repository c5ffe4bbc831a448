"""What the chain says about a payout: the last look at it, the steps of its proof, and when to look again."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from desk.witnessed import Witnessed
from exchange_ops.models.withdrawals import Withdrawal

UNSEEN, ABSENT, WRONG, NOT_PROVEN = "unseen", "absent", "wrong", "not_proven"
WAITING, LEFT, PROVEN = "waiting", "left", "proven"
STANDINGS = (UNSEEN, ABSENT, WRONG, NOT_PROVEN, WAITING, LEFT, PROVEN)


class PayoutProof(Witnessed):
    """One payout on the chain, as last seen. It decides nothing: states are moved by the mover alone.

    `standing`: unseen, absent (the chain knows no such transaction), wrong (it pays something else), not_proven (what
    the service gave as proof does not hold), waiting (not in a block that is followed), left (its block left the
    chain) or proven, at whatever depth. `checks` are the steps of the last look, each with name, holds and sentence.
    `looked_at` is the last look that was answered, `tried_at` the last one at all, with `problem` when it failed. One
    with `final_at` is buried; it is looked at again only when another block stands at its height.
    """

    withdrawal = models.OneToOneField(Withdrawal, on_delete=models.PROTECT, related_name="proof")
    txid = models.CharField(max_length=64)
    wanted_sat = models.BigIntegerField()
    standing = models.CharField(max_length=12, choices=[(name, name) for name in STANDINGS], default=UNSEEN)
    sentence = models.CharField(max_length=500, default="", blank=True)
    checks = models.JSONField(default=list)
    output = models.PositiveIntegerField(null=True)
    block_hash = models.CharField(max_length=64, default="", blank=True)
    height = models.BigIntegerField(null=True)
    depth = models.PositiveIntegerField(default=0)
    tip_hash = models.CharField(max_length=64, default="", blank=True)
    absent_since = models.DateTimeField(null=True)
    final_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, default="", blank=True)
    next_look_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(standing__in=STANDINGS), name="payoutproof_known_standing"),
            models.CheckConstraint(
                condition=~Q(standing=PROVEN) | (Q(depth__gte=1) & ~Q(block_hash="")), name="payoutproof_has_a_block"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["next_look_at"], name="payoutproof_due")]

    def __str__(self) -> str:
        return f"proof of W-{self.withdrawal_id}"
