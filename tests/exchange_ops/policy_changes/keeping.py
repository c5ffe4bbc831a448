"""What the tests about changing the rules share: people with a second factor, and rules in a few words."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from desk import clock
from desk.people import totp
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, HOLD_THEN_APPROVE
from exchange_ops.policy.ruleset import Limit, Rules, Tier
from exchange_ops.policy_changes import workflow
from wire.values import Secret

SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
DAY = timedelta(hours=24)
FIRST = Rules(
    tiers=(
        Tier(Decimal(10_000), 1, HOLD_THEN_APPROVE),
        Tier(Decimal(250_000), 2, HOLD_THEN_APPROVE),
        Tier(None, 3, APPROVE_THEN_HOLD),
    ),
    value_max_age_s=300,
)
TIGHTER = replace(FIRST, tiers=(Tier(Decimal(10_000), 2, HOLD_THEN_APPROVE), *FIRST.tiers[1:]))
LOOSER = replace(FIRST, tiers=(FIRST.tiers[0], Tier(None, 2, HOLD_THEN_APPROVE)))


class Codes:
    """One-time codes of the people of a test: each step is used once by each of them."""

    def __init__(self):
        self.now = clock.now()
        self.used = {}

    def answer(self, person, now):
        step = max(totp.step_at(now), self.used.get(person.pk, 0) + 1)
        self.used[person.pk] = step
        return {"kind": "totp", "code": totp.code_at(SECRET, step)}


def digest(wanted, reason):
    base = quorum.current()
    return workflow.digest_of(ruleset.as_json(wanted), base=base.number if base else 0, reason=reason)


def propose(codes, person, wanted, *, now, reason="We grew", **changes):
    words = {"new_rules": wanted, "reason": reason, "digest": digest(wanted, reason), **changes}
    return workflow.propose(actor=person, answer=codes.answer(person, now), session_key="s", now=now, **words)


def agree(codes, person, row, *, now, **changes):
    words = {"change_id": row.pk, "digest": row.digest, **changes}
    return workflow.agree(actor=person, answer=codes.answer(person, now), session_key="s", now=now, **words)


__all__ = ["DAY", "FIRST", "LOOSER", "SECRET", "TIGHTER", "Codes", "Limit", "agree", "digest", "propose"]
