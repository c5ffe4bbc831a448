"""The digest of a withdrawal: one code over exactly what people approve, so that any change voids their approvals.

Its key is not in the database, so somebody who can only change rows can't compute the digest of changed content, for
instance of a smaller quorum.
"""

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from desk import sealing
from desk.fields import plain
from desk.machines.rows import Subject
from desk.machines.table import Column
from exchange_ops.policy import quorum
from exchange_ops.withdrawals.models import Withdrawal
from wire.values import decimal_text

if TYPE_CHECKING:
    from collections.abc import Iterable

CONTEXT: Final = "exchange_ops.digest"
_FORM = "countersign-withdrawal-3"
# The same content, approved by a second factor that did not name the stage of the approval.
_WITHOUT_STAGES: Final = "countersign-withdrawal-2"
_ADDED: Final = frozenset({"group_needs"})
# What earlier versions of the desk signed, by the name of the form. Such a digest proves who approved what at the time;
# what is to be paid now is approved anew. A form that was ever written stays here.
_OLDER_FORMS: Final = {
    "countersign-withdrawal-1": (
        "account_id",
        "initiator_id",
        "currency",
        "amount",
        "include_fee",
        "address",
        "payment_id",
        "reason",
        "fee_estimate",
        "policy_version",
        "quorum_required",
        "mode",
    ),
}


def digest(withdrawal: Withdrawal, *, freeze_number: int, **changes: Any) -> str:
    """HMAC-SHA256 in hex, by the newest key of the ring, over what people approve of the withdrawal.

    That is the payment's content, its highest fee, what the rules say about its account, what they required, and the
    number of the last freeze, as they would be with these `changes` of its columns.
    """
    return digests(_content(withdrawal, freeze_number, **changes))[0]


def matches(digest: str, withdrawal: Withdrawal, *, freeze_number: int) -> bool:
    """Whether this is the digest of that content, by any key of the ring."""
    return digest in digests(_content(withdrawal, freeze_number))


def is_of_older_form(digest: str, withdrawal: Withdrawal, *, freeze_number: int) -> bool:
    """Whether an earlier version of the desk made this digest, of this very content."""
    _, *older = forms(withdrawal, freeze_number=freeze_number)
    return any(digest in digests(content) for content in older)


def forms(withdrawal: Withdrawal, *, freeze_number: int) -> list[dict[str, Any]]:
    """The content that people approve, in each form that a version of the desk ever signed, the newest first."""
    newest = _content(withdrawal, freeze_number)
    older = [newest | {"form": _WITHOUT_STAGES}]
    for form, columns in _OLDER_FORMS.items():
        content = {name: json_value(getattr(withdrawal, name)) for name in columns}
        older.append(content | {"form": form, "id": withdrawal.pk, "freeze": freeze_number})
    return [newest, *older]


def covered(withdrawal: Withdrawal, *, freeze_numbers: "Iterable[int]") -> dict[str, Any] | None:
    """What the digest on the row covers, after one of these freezes; None where it is of no such content."""
    newest, *older = forms(withdrawal, freeze_number=0)
    numbers = list(freeze_numbers)
    candidates = (content | {"freeze": number} for content in (newest, *older) for number in numbers)
    return next((content for content in candidates if withdrawal.digest in digests(content)), None)


def digests(content: dict[str, Any]) -> list[str]:
    """The digests of this content, given in JSON's own types, by every key of the ring, the newest first."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return [code.rpartition(":")[2] for code in sealing.codes(text.encode(), context=CONTEXT)]


def signed_content(row: Subject, **changes: Any) -> dict[str, Any]:
    """The columns that the machine's table declares as signed, in JSON's own types, with these changes applied.

    Columns that a later version added are left out while they are empty, so that what was signed before still holds.
    """
    content = {name: json_value(changes.get(name, getattr(row, name))) for name in row.table.named(Column.SIGNED)}
    return {name: value for name, value in content.items() if value or name not in _ADDED}


def _content(withdrawal: Withdrawal, freeze_number: int, **changes: Any) -> dict[str, Any]:
    number = changes.get("policy_version", withdrawal.policy_version)
    rules = quorum.judging(number=number, account_id=withdrawal.account_id)
    named = {"form": _FORM, "id": withdrawal.pk, "freeze": freeze_number, "rules": rules}
    return signed_content(withdrawal, **changes) | named


def json_value(value: object) -> object:
    """The value in JSON's own types."""
    # Equal amounts have one text, whatever zeros they were written with.
    return decimal_text(plain(value)) if isinstance(value, Decimal) else value
