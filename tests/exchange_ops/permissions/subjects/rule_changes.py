"""Who does what to a rule change in which state."""

from typing import Any

from desk import clock
from desk.people import roles
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy_changes import machine, states, workflow
from exchange_ops.policy_changes.models import PolicyChange
from tests.exchange_ops.permissions.shared_form import OWN, Subject, code_of_now, colleague, signed, walk
from tests.exchange_ops.policy_changes.keeping import LOOSER, TIGHTER

T, A = roles.TREASURY, roles.ADMIN
OWN_T, OWN_A = OWN + T, OWN + A


def reach(state: str, person: Any) -> PolicyChange:
    """A change proposed by the person; agreed to by a colleague where two did."""
    now, base = clock.now(), quorum.current()
    wanted, reason = LOOSER if state == states.AGREED else TIGHTER, "We grew"
    digest = workflow.digest_of(ruleset.as_json(wanted), base=base.number, reason=reason)
    words = {"session_key": "s", "now": now, "digest": digest}
    row = workflow.propose(new_rules=wanted, reason=reason, actor=person, answer=code_of_now(), **words)
    if state in {states.AGREED, states.PUBLISHED}:
        return workflow.agree(change_id=row.pk, actor=colleague(T), answer=code_of_now(), **words)
    return walk(machine.MACHINE, row, state, {})


RULE_CHANGES = Subject(
    name="rule change",
    states=states.STATES,
    reach=reach,
    owners=(A, T),
    routes={"policy-change-agree": signed, "policy-change-end": signed},
    goes_through={
        # An administrator proposed it, so whoever agrees has to be of treasury.
        ("proposed", "policy-change-agree"): {T},
        ("proposed", "policy-change-end"): {T, A, OWN_T, OWN_A},
        ("agreed", "policy-change-end"): {T, A, OWN_T, OWN_A},
    },
    reads={"policy-change": roles.ALL},
    topic=lambda row: f"policychange:{row.pk}",
)
