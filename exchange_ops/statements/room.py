"""The room of the statements: what each account held, moved and paid in a period, and who signed it off."""

from typing import Final

from desk import rooms
from desk.audit.words import Words
from desk.rows.witnessed import Table
from desk.web.context import Entry
from exchange_ops.shared import rules
from exchange_ops.shared.declarations import topics
from exchange_ops.statements import signing
from exchange_ops.statements.models import SignedStatement, StatementSignature

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

ROOM: Final = rooms.Room(
    paths={"signed_id": (SignedStatement, "pk", "account_id")},
    topics={signing.TOPIC: topics.desk_wide},
    trail=(WORDS,),
    guards={"statements": signing.GUARDS.statements},
    tables=(Table(SignedStatement), Table(StatementSignature)),
    urls="exchange_ops.statements.urls",
    navigation=(
        Entry(
            "Statements",
            "statements",
            "scroll-text",
            "Money",
            order=93,
            may_see=rules.may_see,
            also=("Account statement", "Journal", "Closing balance", "Bookkeeping"),
        ),
    ),
)
