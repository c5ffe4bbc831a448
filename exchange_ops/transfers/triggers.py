"""What the database itself refuses about transfers, on both engines, whoever asks.

A transfer changes state or version only together with the event of that version; what was asked for is never edited;
an attempt is spent once and needs its call's row; money leaves for others only with as many approvals of exactly this
content as the rules asked for; nobody approves their own request.
"""

from typing import Any

from exchange_ops.shared import triggers

_T = "exchange_ops_transfer"
_CONTENT = (
    "account_id",
    "initiator_id",
    "request_key",
    "reissues_id",
    "kind",
    "currency",
    "amount",
    "to_currency",
    "identified_by",
    "identifier",
    "subaccount_id",
    "reason",
    "created_at",
)
NO_EVENT = "a transfer moves only together with the event of its new version"
FIXED = "what was asked for in a transfer is never edited"
ONE_NUMBER = "a transfer keeps the numbers the exchange gave it"
ATTEMPTS = "an attempt of a transfer is spent once, when it begins to be sent"
NO_QUORUM = "money leaves for others only with every approval of exactly this content"
BORN_A_DRAFT = "a transfer begins as a draft"
CALL_FIXED = "what was known before a call is never edited"

UPDATE_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "moves_with_event",
        "(NEW.state {n} OLD.state OR NEW.version {n} OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS ("
        "SELECT 1 FROM exchange_ops_transferevent e WHERE e.transfer_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state))",
        NO_EVENT,
    ),
    ("content_fixed", " OR ".join(f"NEW.{column} {{n}} OLD.{column}" for column in _CONTENT), FIXED),
    (
        "keeps_its_numbers",
        "(OLD.exchange_id IS NOT NULL AND NEW.exchange_id {n} OLD.exchange_id) "
        "OR (OLD.second_id IS NOT NULL AND NEW.second_id {n} OLD.second_id)",
        ONE_NUMBER,
    ),
    (
        "attempts",
        "NEW.attempt <> OLD.attempt AND NOT (NEW.attempt = OLD.attempt + 1 AND NEW.state = 'sending') "
        "OR (NEW.state = 'sending' AND OLD.state <> 'sending' AND NEW.attempt <> OLD.attempt + 1)",
        ATTEMPTS,
    ),
    (
        "quorum",
        "NEW.state = 'sending' AND NEW.kind = 'to_user' AND (SELECT COUNT(DISTINCT a.person_id) "
        "FROM exchange_ops_transferapproval a JOIN desk_stepup s ON s.id = a.confirmation_id "
        "AND s.person_id = a.person_id AND s.digest = a.digest AND s.purpose = 'approve-transfer' "
        "WHERE a.transfer_id = NEW.id AND a.digest = NEW.digest "
        "AND a.stage = 'review' AND a.verdict = 'approve') < NEW.quorum_required",
        NO_QUORUM,
    ),
)
BORN_WHEN = "NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.attempt <> 0 OR NEW.exchange_id IS NOT NULL"
NOT_BY_THE_INITIATOR = (
    "NOT EXISTS (SELECT 1 FROM exchange_ops_transfer t WHERE t.id = NEW.transfer_id "
    "AND t.initiator_id = NEW.initiator_id AND t.initiator_id <> NEW.person_id)"
)
SECOND_FACTOR = (
    "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
    "AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' "
    "AND s.purpose = 'approve-transfer' AND s.digest = NEW.digest "
    "OR NEW.stage = 'resolution' AND s.purpose = 'resolve-transfer'))"
)
_CALL_CONTENT = ("transfer_id", "attempt", "fingerprint", "watermark", "created_from", "created_until", "send_by")
CALL_EDITED = " OR ".join(f"NEW.{column} {{n}} OLD.{column}" for column in _CALL_CONTENT)
HISTORY = ("exchange_ops_transferevent", "exchange_ops_transferapproval")
KEPT = (_T, "exchange_ops_transfercall", *HISTORY)


def statements(vendor: str) -> dict[str, str]:
    """Every trigger of an engine by name."""
    rules = [(f"{_T}_{name}", "UPDATE", _T, when, says) for name, when, says in UPDATE_RULES]
    rules.append((f"{_T}_begins_as_draft", "INSERT", _T, BORN_WHEN, BORN_A_DRAFT))
    approval, call = "exchange_ops_transferapproval", "exchange_ops_transfercall"
    rules.append((f"{approval}_not_yours", "INSERT", approval, NOT_BY_THE_INITIATOR, triggers.NOT_YOURS))
    rules.append((f"{approval}_second_factor", "INSERT", approval, SECOND_FACTOR, triggers.NOT_PROVEN))
    rules.append((f"{call}_content_fixed", "UPDATE", call, CALL_EDITED, CALL_FIXED))
    rules += [(f"{table}_no_edit", "UPDATE", table, "1 = 1", triggers.NO_EDIT) for table in HISTORY]
    rules += [(f"{table}_no_removal", "DELETE", table, "1 = 1", triggers.NO_REMOVAL) for table in KEPT]
    return triggers.written(vendor, rules)


def install(connection: Any) -> None:
    """Create the triggers; used by the migration."""
    triggers.create(connection, statements(connection.vendor))


def remove(connection: Any) -> None:
    """Drop the triggers; used to migrate backwards and by tests that empty the tables."""
    triggers.drop(connection, {name: _table_of(name) for name in statements(connection.vendor)})


def _table_of(name: str) -> str:
    return next(table for table in sorted(KEPT, key=len, reverse=True) if name.startswith(f"{table}_"))
