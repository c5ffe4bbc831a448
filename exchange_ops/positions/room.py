"""What margin actions declare to the desk: incidents, search, tables, addresses."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.db.models import Q
from django.urls import reverse

from desk import rooms
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.machines.replay import Replay
from desk.restores.of_machine import Waits
from desk.rows.witnessed import Table
from desk.web.context import Entry
from desk.web.search import Hit, Scope, Search, newest, referenced
from exchange_ops.positions import machine, states
from exchange_ops.positions.models import MarginAction, MarginActionCall, MarginActionEvent
from exchange_ops.positions.trail_words import WORDS
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.declarations import causes, topics


def _unclear(now: datetime, only: str) -> Iterator[Cause]:
    for row in rows_of(MarginAction.objects.filter(state=states.UNCLEAR), only):
        sentence = f"{row.reference}, {row.kind_label.lower()} in {row.symbol}: {row.sentence}"
        yield Cause(row.subject, sentence, "margin-action", str(row.pk), str(row.account_id))


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    for row in newest(MarginAction, referenced(MarginAction.mark, text), Q(), scope):
        words = f"{row.get_kind_display()}, {row.symbol}, {row.label.lower()}"
        yield Hit("Margin", row.reference, words, reverse("margin-action", args=[row.pk]), "shield-alert")


REPLAY: Final = Replay(machine.MACHINE)

WAITING: Final = Waits(
    machine.MACHINE,
    ends={states.REQUESTED: ("stopped", states.NOT_SENT)},
    title=lambda row: f"{row.kind_label}, {row.symbol}",
    url=lambda row: reverse("margin-action", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    read_with=("account", "initiator"),
)

ROOM: Final = rooms.Room(
    paths={"margin_action_id": (MarginAction, "pk", "account_id")},
    topics={"marginaction": topics.row(MarginAction), machine.TOPIC: topics.desk_wide},
    incidents=(
        Kind(
            alarms.MARGIN_UNCLEAR,
            "Margin action unclear",
            Severity.HIGH,
            causes.TRADERS,
            _unclear,
            closable=False,
            ends="Resolves once an operator records the result on the margin action's page.",
        ),
    ),
    waiting=(WAITING.source,),
    trail=(WORDS,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"margin": machine.GUARDS.statements},
    tables=(
        Table(MarginAction, MarginAction.table.loose),
        Table(MarginActionEvent),
        Table(MarginActionCall),
    ),
    searches=(Search(_search, 65),),
    tasks="exchange_ops.positions.tasks",
    urls="exchange_ops.positions.urls",
    navigation=(
        Entry(
            "Margin",
            "margin",
            "shield-alert",
            "Trading",
            order=140,
            key="g",
            may_see=rules.may_see,
            also=("Positions", "Leverage", "Liquidations"),
        ),
    ),
)
