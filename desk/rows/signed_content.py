"""What is authenticated of a stored second factor, and what the trail records of it."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any, Final

# Set where a list of decisions is involved alone: without one the content is that of earlier versions of the desk.
_OF_LISTS: Final = frozenset({"listed", "signed_with_id", "position"})


class SignedContent:
    """The content of a second factor, for its model: every column but the number and the code over the others."""

    pk: Any
    kind: Any
    at: datetime
    signed_with: Any
    _meta: Any

    @property
    def proof(self) -> str:
        """SHA-256 over all that is stored, for the audit event of the decision."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def content(self) -> bytes:
        """Every column that says who confirmed what, when and how, as one text, which `mac` authenticates."""
        names = sorted(field.attname for field in self._meta.concrete_fields if field.attname not in {"id", "mac"})
        columns = {name: getattr(self, name) for name in names if name != "at"}
        columns = {name: value for name, value in columns.items() if name not in _OF_LISTS or value is not None}
        columns["at"] = self.at.astimezone(UTC).isoformat(timespec="microseconds")
        return json.dumps(columns, sort_keys=True).encode()

    @property
    def factor(self) -> str:
        """The kind of the factor that the person used: for a place in a list, the kind of the list's own factor."""
        return str(self.kind if self.signed_with is None else self.signed_with.kind)

    def evidence(self) -> dict[str, Any]:
        """What the audit event of the decision records; `verify_audit` checks this row against it.

        For a place in a list the list's own factor is recorded beside it.
        """
        own = {"step_up": self.pk, "proof": self.proof}
        return own if self.signed_with is None else own | {"signed_list": self.signed_with.evidence()}
