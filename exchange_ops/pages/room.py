"""Pages about several subjects, as the desk knows them."""

from typing import Final

from desk import rooms
from desk.actions import entries
from desk.web.context import Entry
from exchange_ops.shared import rules

ROOM: Final = rooms.Room(
    urls="exchange_ops.pages.urls",
    navigation=(
        Entry(
            "Overview",
            "overview",
            "layout-dashboard",
            "Desk",
            order=10,
            key="o",
            may_see=rules.may_see,
            also=("Home", "Dashboard"),
        ),
        Entry(
            "Needs action",
            "action",
            "inbox",
            "Desk",
            order=20,
            key="i",
            may_see=rules.may_see,
            count=entries.count,
            topics="incidents people withdrawals transfers orders approvals freezes payees policy",
            also=("Inbox", "Approvals", "To do", "Tasks"),
        ),
        Entry(
            "Funds",
            "funds",
            "wallet",
            "Money",
            order=60,
            key="f",
            may_see=rules.may_see,
            also=("Balances", "Wallets", "Portfolio"),
        ),
        Entry(
            "Profit and loss",
            "profit",
            "activity",
            "Money",
            order=70,
            key="r",
            may_see=rules.may_see,
            also=("P&L", "PnL", "P and L", "Results", "Gains"),
        ),
        Entry(
            "Policy",
            "policy",
            "shield-check",
            "Control",
            order=200,
            key="p",
            may_see=rules.may_see,
            also=("Rules", "Limits", "Freeze"),
        ),
        Entry("API", "api-docs", "file-text", "Control", order=260, may_see=rules.may_see),
        Entry(
            "System",
            "system",
            "activity",
            "Control",
            order=280,
            key="s",
            may_see=rules.may_see,
            also=("Status", "Health"),
        ),
    ),
)
