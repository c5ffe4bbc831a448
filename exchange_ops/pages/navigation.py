"""The pages of this room in the navigation: only those that exist, only for those who may open them."""

from desk.actions import entries as actions
from desk.models import Person
from desk.notifications import channels
from desk.people import roles
from desk.staff import rules as staff
from desk.web.context import Entry
from exchange_ops.going_live import views as going_live
from exchange_ops.market.models import Symbol
from exchange_ops.shared import rules


def quotes() -> set[str]:
    """The currencies that prices are quoted in: what figures can be valued in."""
    return set(Symbol.objects.order_by().values_list("quote_currency", flat=True).distinct())


def _audits(person: Person) -> bool:
    return person.has_role(roles.AUDITOR, roles.ADMIN, scope="")


ENTRIES = (
    Entry("Overview", "overview", "layout-dashboard", "Desk", key="o", may_see=rules.may_see),
    Entry(
        "Needs action",
        "action",
        "inbox",
        "Desk",
        key="i",
        may_see=rules.may_see,
        count=actions.count,
        topics="incidents people withdrawals transfers orders approvals freezes policy",
    ),
    Entry("Withdrawals", "withdrawals", "arrow-up-right", "Money", key="w", may_see=rules.may_see),
    Entry("Deposits", "deposits", "arrow-down-left", "Money", key="d", may_see=rules.may_see),
    Entry("Destinations", "addresses", "landmark", "Money", key="n", may_see=rules.may_see),
    Entry("Funds", "funds", "wallet", "Money", key="f", may_see=rules.may_see),
    Entry("Profit and loss", "profit", "activity", "Money", key="r", may_see=rules.may_see),
    Entry("Transfers", "transfers", "arrow-left-right", "Money", key="v", may_see=rules.may_see),
    Entry("Ledger", "ledger", "book-open", "Money", key="l", may_see=rules.may_see),
    Entry("Sub-accounts", "subaccounts", "users-round", "Money", key="u", may_see=rules.may_see),
    Entry("Markets", "markets", "chart-candlestick", "Trading", key="m", may_see=rules.may_see),
    Entry("Orders", "orders", "file-check", "Trading", key="t", may_see=rules.may_see),
    Entry("Fills", "fills", "check", "Trading", key="h", may_see=rules.may_see),
    Entry("Margin", "margin", "shield-alert", "Trading", key="g", may_see=rules.may_see),
    Entry("Policy", "policy", "shield-check", "Control", key="p", may_see=rules.may_see),
    Entry("People", "people", "user-round", "Control", key="e", may_see=staff.may_read),
    Entry("Deliveries", "deliveries", "send", "Control", key="y", may_see=channels.may_read),
    Entry("Keys", "keys", "key-round", "Control", key="b", may_see=rules.may_see_keys),
    Entry("Audit trail", "audit", "scroll-text", "Control", key="a", may_see=_audits),
    Entry("Console", "console", "monitor", "Control", key="z", may_see=rules.may_see),
    Entry("API", "api-docs", "file-text", "Control", may_see=rules.may_see),
    Entry("Going live", "going-live", "flag", "Control", may_see=going_live.may_see),
    Entry("System", "system", "activity", "Control", key="s", may_see=rules.may_see),
)
