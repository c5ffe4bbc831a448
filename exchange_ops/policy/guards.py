"""What the database itself refuses about the rules for payments, freezes, and the votes that end one."""

from typing import Final

from desk.machines.guards import NOT_PROVEN, Guards, Rule
from exchange_ops.policy.models import Freeze, PolicyVersion, QuorumTier, ThawVote, ValueLimit

GUARDS: Final = Guards(
    history=(ThawVote, PolicyVersion, QuorumTier, ValueLimit),
    records=(Freeze,),
    own=(
        Rule(
            "exchange_ops_thawvote",
            "second_factor",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
            "AND s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'thaw-freeze')",
            NOT_PROVEN,
        ),
    ),
)
