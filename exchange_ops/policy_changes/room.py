"""Changes of the rules, as the desk knows them."""

from typing import Final

from desk import rooms
from desk.machines.replay import Replay
from desk.rows.witnessed import Table
from desk.web.search import Command
from exchange_ops.policy_changes import guards, source
from exchange_ops.policy_changes.models import PolicyChange, PolicyChangeEvent
from exchange_ops.policy_changes.mover import MACHINE, TOPIC
from exchange_ops.shared import rules
from exchange_ops.shared.declarations import reasons, topics

REPLAY: Final = Replay(MACHINE)

ROOM: Final = rooms.Room(
    topics={"policychange": topics.desk_row, TOPIC: topics.whole},
    actions=(source.SOURCE,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"policy changes": guards.GUARDS.statements},
    tables=(
        Table(PolicyChange, PolicyChange.table.loose | {"lease_until": reasons.LEASE}),
        Table(PolicyChangeEvent),
    ),
    commands=(Command("Propose other rules", "policy-draft", "shield-check", rules.may_freeze, 90),),
    urls="exchange_ops.policy_changes.urls",
)
