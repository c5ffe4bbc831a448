"""Sub-accounts, as the desk knows them."""

from collections.abc import Iterator
from typing import Final

from django.db.models import Q
from django.urls import reverse

from desk import rooms
from desk.machines.replay import Replay
from desk.restores.of_machine import Waits
from desk.rows.witnessed import Table
from desk.web.context import Entry
from desk.web.search import MOST_OF_A_KIND, Hit, Scope, Search, numbered
from exchange_ops.shared import rules
from exchange_ops.shared.declarations import reasons, topics
from exchange_ops.subaccounts import machine, states
from exchange_ops.subaccounts.models import SubAccount, SubAccountAction, SubAccountCall, SubAccountEvent
from exchange_ops.subaccounts.trail_words import WORDS

_COLUMNS: Final = {
    **dict.fromkeys(
        ("email", "status", "closed_as", "settings_shown", "payout_enabled", "description"), reasons.READ_AGAIN
    ),
    **dict.fromkeys(
        ("observed_at", "missing_since", "settings_at", "balances_asked_at", "balances_tried_at", "balances_at"),
        reasons.CLOCK,
    ),
    "balances_problem": reasons.SENTENCE,
}


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    like = Q(email__icontains=text) | Q(description__icontains=text) | numbered("exchange_id", text)
    for row in SubAccount.objects.filter(like, account__in=scope.accounts).order_by("exchange_id")[:MOST_OF_A_KIND]:
        url = reverse("subaccount", args=[row.exchange_id])
        yield Hit("Sub-accounts", str(row.exchange_id), row.description or row.status, url, "users-round")


# The trail gathers actions under the sub-account that they are for, so each event names its action.
REPLAY: Final = Replay(machine.MACHINE, numbered_by="action")

WAITING: Final = Waits(
    machine.MACHINE,
    ends={states.REQUESTED: ("taken_back", states.CANCELLED)},
    title=lambda row: (
        f"{states.KINDS[row.kind]}, sub-account {row.sub_account.exchange_id}, exchange status: "
        f"{row.sub_account.status}"
    ),
    url=lambda row: reverse("subaccount", args=[row.sub_account.exchange_id]),
    asked_by=lambda row: row.requested_by_id,
    read_with=("sub_account__account", "requested_by"),
)

ROOM: Final = rooms.Room(
    paths={
        "exchange_id": (SubAccount, "exchange_id", "account_id"),
        "action_id": (SubAccountAction, "pk", "sub_account__account_id"),
    },
    topics={"subaccount": topics.row(SubAccount), machine.TOPIC: topics.desk_wide},
    waiting=(WAITING.source,),
    trail=(WORDS,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"sub-accounts": machine.GUARDS.statements},
    tables=(
        Table(SubAccount, _COLUMNS),
        Table(SubAccountAction, SubAccountAction.table.loose),
        Table(SubAccountEvent),
        Table(SubAccountCall),
    ),
    idle_tables={
        **dict.fromkeys(("exchange_ops.subaccountreading", "exchange_ops.subaccountbalance"), reasons.COPY),
        "exchange_ops.subaccountaddress": reasons.QUESTION,
    },
    searches=(Search(_search, 120),),
    tasks="exchange_ops.subaccounts.tasks",
    urls="exchange_ops.subaccounts.urls",
    navigation=(
        Entry("Sub-accounts", "subaccounts", "users-round", "Money", order=100, key="u", may_see=rules.may_see),
    ),
)
