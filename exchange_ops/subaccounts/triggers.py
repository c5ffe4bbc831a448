"""What the database itself refuses about actions on sub-accounts, on both engines, whoever asks.

An action changes state or version only together with the event of that version; what was asked for is never edited; it
begins as requested; its history and its calls stay.
"""

from typing import Any

from exchange_ops.shared import triggers

_T = "exchange_ops_subaccountaction"
_CONTENT = (
    "sub_account_id",
    "kind",
    "lane",
    "wanted_payout",
    "wanted_description",
    "reason",
    "requested_by_id",
    "request_key",
    "confirmation_id",
    "digest",
    "created_at",
)
NO_EVENT = "an action on a sub-account moves only together with the event of its new version"
FIXED = "what was asked for a sub-account is never edited"
BORN = "an action on a sub-account begins as requested"

UPDATE_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "moves_with_event",
        "(NEW.state {n} OLD.state OR NEW.version {n} OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS ("
        "SELECT 1 FROM exchange_ops_subaccountevent e WHERE e.action_id = NEW.id AND e.version = NEW.version "
        "AND e.from_state = OLD.state AND e.to_state = NEW.state))",
        NO_EVENT,
    ),
    ("content_fixed", " OR ".join(f"NEW.{column} {{n}} OLD.{column}" for column in _CONTENT), FIXED),
)
BORN_WHEN = "NEW.version <> 1 OR NEW.state <> 'requested' OR NEW.attempt <> 0"
HISTORY = ("exchange_ops_subaccountevent",)
KEPT = (_T, "exchange_ops_subaccountcall", *HISTORY)


def statements(vendor: str) -> dict[str, str]:
    """Every trigger of an engine by name."""
    rules = [(f"{_T}_{name}", "UPDATE", _T, when, says) for name, when, says in UPDATE_RULES]
    rules.append((f"{_T}_begins", "INSERT", _T, BORN_WHEN, BORN))
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
