"""The room of the statements: what each account held, moved and paid in a period, and who signed it off."""

from typing import Final

from desk import rooms
from desk.audit.words import Words
from desk.rows.witnessed import Table
from desk.web.context import Entry
from desk.web.search import Command
from exchange_ops.shared import rules
from exchange_ops.shared.declarations import topics
from exchange_ops.statements import signing
from exchange_ops.statements.bookkeeping import accounts
from exchange_ops.statements.models import AccountMapping, SignedStatement, StatementSignature

WORDS: Final = Words(
    name=SignedStatement.name,
    title="Statements",
    noun="statement",
    mark="ST-",
    first=("signed",),
    content=lambda facts: f"{facts.get('account', '')}, {facts.get('days', '')}",
    decisions=("signed", "signed_off"),
    sentences={
        "signed": "{who} signed {it}. Another treasurer must also sign.",
        "signed_off": "{who} signed {it} off as the second treasurer.",
    },
)

MAPPING_WORDS: Final = Words(
    name=AccountMapping.name,
    title="Account mapping",
    noun="account mapping",
    mark="AM-",
    first=("changed",),
    content=lambda facts: str(facts.get("entries", "")),
    decisions=("changed",),
    sentences={"changed": "{who} changed {it}."},
)

ROOM: Final = rooms.Room(
    paths={"signed_id": (SignedStatement, "pk", "account_id")},
    topics={signing.TOPIC: topics.desk_wide},
    trail=(WORDS, MAPPING_WORDS),
    guards={"statements": signing.GUARDS.statements, "bookkeeping": accounts.GUARDS.statements},
    tables=(Table(SignedStatement), Table(StatementSignature), Table(AccountMapping)),
    commands=(Command("Journal accounts", "journal-accounts", "book-open", rules.may_see, 95),),
    urls="exchange_ops.statements.urls",
    navigation=(
        Entry(
            "Statements",
            "statements",
            "scroll-text",
            "Money",
            order=93,
            may_see=rules.may_see,
            also=("Account statement", "Journal", "Closing balance", "Bookkeeping", "DATEV", "Xero"),
        ),
    ),
)
