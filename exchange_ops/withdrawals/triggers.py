"""What the database itself refuses about money, on both engines, whoever asks.

A row changes state, version or decision only together with the event of that version; a decision is latched; what was
asked for is never edited; a hold is told to be paid or to be released, never both; nobody approves their own request.
Kept as data, so that the migration installs exactly what a check can look for later.
"""

from typing import Any

from exchange_ops.shared.triggers import NO_EDIT, NO_REMOVAL, NOT_PROVEN, NOT_YOURS, create, drop, written

_T = "exchange_ops_withdrawal"
_CONTENT = (
    "account_id",
    "initiator_id",
    "request_key",
    "currency",
    "amount",
    "include_fee",
    "address",
    "payment_id",
    "reason",
    "created_at",
)

NO_EVENT = "a withdrawal moves only together with the event of its new version"
LATCHED = "the decision on a withdrawal is made once"
FIXED = "what was asked for is never edited"
ONE_HOLD = "a withdrawal keeps the number the exchange gave it"
ONE_VERB = "a hold is told to be paid or to be released, never both"
BORN_A_DRAFT = "a withdrawal begins as a draft"

# Each rule: its name, when it is broken (SQL of both engines; {n} stands for "is not the same as"), what it says.
UPDATE_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "moves_with_event",
        "(NEW.state {n} OLD.state OR NEW.version {n} OLD.version OR NEW.decision {n} OLD.decision) AND NOT ("
        "NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM exchange_ops_withdrawalevent e WHERE "
        "e.withdrawal_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state "
        "AND e.decision = NEW.decision))",
        NO_EVENT,
    ),
    (
        "decision_latched",
        "OLD.decision <> 'none' AND NEW.decision {n} OLD.decision AND NOT ("
        "OLD.decision = 'commit' AND NEW.decision = 'rollback' AND OLD.put_count = 0 AND NEW.put_count = 0)",
        LATCHED,
    ),
    ("content_fixed", " OR ".join(f"NEW.{column} {{n}} OLD.{column}" for column in _CONTENT), FIXED),
    ("one_hold", "OLD.exchange_id IS NOT NULL AND NEW.exchange_id {n} OLD.exchange_id", ONE_HOLD),
    (
        "one_verb",
        "NEW.put_count < OLD.put_count OR NEW.delete_count < OLD.delete_count "
        "OR (NEW.put_count > 0 AND NEW.delete_count > 0) "
        "OR (NEW.put_count > OLD.put_count AND NEW.decision <> 'commit') "
        "OR (NEW.delete_count > OLD.delete_count AND NEW.decision <> 'rollback')",
        ONE_VERB,
    ),
)
INSERT_RULES = (
    (
        _T,
        "begins_as_draft",
        "NEW.state <> 'draft' OR NEW.version <> 1 OR NEW.decision <> 'none' "
        "OR NEW.put_count <> 0 OR NEW.delete_count <> 0",
        BORN_A_DRAFT,
    ),
    (
        "exchange_ops_approval",
        "not_by_the_initiator",
        "NOT EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id "
        "AND w.initiator_id = NEW.initiator_id AND w.initiator_id <> NEW.person_id)",
        NOT_YOURS,
    ),
    (
        "exchange_ops_approval",
        "second_factor",
        "NEW.verdict <> 'reject' AND NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
        "AND s.person_id = NEW.person_id AND s.at = NEW.at AND (NEW.stage <> 'resolution' "
        "AND s.purpose = 'approve-withdrawal' AND s.digest = NEW.digest "
        "OR NEW.stage = 'resolution' AND s.purpose = 'resolve-withdrawal'))",
        NOT_PROVEN,
    ),
    (
        "exchange_ops_thawvote",
        "second_factor",
        "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id "
        "AND s.person_id = NEW.person_id AND s.at = NEW.at AND s.purpose = 'thaw-freeze')",
        NOT_PROVEN,
    ),
)
HISTORY = (
    "exchange_ops_withdrawalevent",
    "exchange_ops_approval",
    "exchange_ops_thawvote",
    "exchange_ops_ledgerversion",
    "exchange_ops_policyversion",
    "exchange_ops_quorumtier",
)
KEPT = (_T, "exchange_ops_externalcall", "exchange_ops_freeze", "exchange_ops_ledgerentry", *HISTORY)


def statements(vendor: str) -> dict[str, str]:
    """Every trigger of an engine by name."""
    rules = [(f"{_T}_{name}", "UPDATE", _T, when, says) for name, when, says in UPDATE_RULES]
    rules += [(f"{table}_{name}", "INSERT", table, when, says) for table, name, when, says in INSERT_RULES]
    rules += [(f"{table}_no_edit", "UPDATE", table, "1 = 1", NO_EDIT) for table in HISTORY]
    rules += [(f"{table}_no_removal", "DELETE", table, "1 = 1", NO_REMOVAL) for table in KEPT]
    return written(vendor, rules)


def table_of(name: str) -> str:
    """The table a trigger guards."""
    return next(table for table in sorted(KEPT, key=len, reverse=True) if name.startswith(f"{table}_"))


def install(connection: Any) -> None:
    """Create the triggers; used by the migration."""
    create(connection, statements(connection.vendor))


def remove(connection: Any) -> None:
    """Drop the triggers; used to migrate backwards and by tests that empty the tables."""
    drop(connection, {name: table_of(name) for name in statements(connection.vendor)})
