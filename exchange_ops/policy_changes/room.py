"""Changes of the rules, as the desk knows them."""

from typing import Final

from desk import rooms
from desk.rows.witnessed import Table
from desk.web.search import Command
from exchange_ops.policy_changes import source
from exchange_ops.policy_changes.machine import GUARDS, REPLAY, TOPIC
from exchange_ops.policy_changes.models import PolicyChange, PolicyChangeEvent
from exchange_ops.policy_changes.trail_words import WORDS
from exchange_ops.shared import rules
from exchange_ops.shared.declarations import reasons, topics

ROOM: Final = rooms.Room(
    topics={"policychange": topics.desk_row, TOPIC: topics.desk_wide},
    actions=(source.SOURCE,),
    trail=(WORDS,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"policy changes": GUARDS.statements},
    tables=(
        Table(PolicyChange, PolicyChange.table.loose | {"lease_until": reasons.LEASE}),
        Table(PolicyChangeEvent),
    ),
    commands=(Command("Propose a rule change", "policy-draft", "shield-check", rules.may_freeze, 90),),
    urls="exchange_ops.policy_changes.urls",
)
