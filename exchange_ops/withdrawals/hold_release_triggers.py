"""What the database itself refuses about orders to release a hold of a closed request, on both engines, whoever asks.

Such an order is given with a second factor of the same person for exactly this, never by the one who asked for the
payment, and stays as it is.
"""

from typing import Any

from exchange_ops.shared import triggers

_T = "exchange_ops_holdreleasevote"
NOT_CONFIRMED = "a release is ordered with a second factor of the person for exactly this hold"
NOT_YOURS = triggers.NOT_YOURS
_INSERT_RULES = (
    (
        "is_confirmed",
        "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id "
        "AND s.purpose = 'release-hold' AND s.digest = NEW.digest)",
        NOT_CONFIRMED,
    ),
    (
        "not_by_the_initiator",
        "EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id "
        "AND w.initiator_id = NEW.person_id)",
        NOT_YOURS,
    ),
)


def statements(vendor: str) -> dict[str, str]:
    """Every trigger of an engine by name."""
    rules = [(f"{_T}_{name}", "INSERT", _T, when, says) for name, when, says in _INSERT_RULES]
    rules.append((f"{_T}_no_edit", "UPDATE", _T, "1 = 1", triggers.NO_EDIT))
    rules.append((f"{_T}_no_removal", "DELETE", _T, "1 = 1", triggers.NO_REMOVAL))
    return triggers.written(vendor, rules)


def install(connection: Any) -> None:
    """Create the triggers; used by tests that empty the tables."""
    triggers.create(connection, statements(connection.vendor))


def remove(connection: Any) -> None:
    """Drop the triggers; used by tests that empty the tables."""
    triggers.drop(connection, dict.fromkeys(statements(connection.vendor), _T))
