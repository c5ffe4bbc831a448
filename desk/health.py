"""Whether the desk is ready, as sentences. Each room registers its checks; pages, /readyz and /metrics ask them all."""

from collections.abc import Callable
from dataclasses import dataclass

import structlog

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Health:
    """One answer: whether it is well, one sentence for a person, and the age in seconds of what it is about."""

    ok: bool
    sentence: str
    age_s: float | None = None


Check = Callable[[], Health]
_checks: dict[str, Check] = {}


def register(name: str, check: Check) -> None:
    """Add a check, or replace the one of that name. It should answer within a second."""
    _checks[name] = check


def look() -> dict[str, Health]:
    """Ask every check, in the order of registration. A check that fails is itself unwell."""
    return {name: _ask(name, check) for name, check in _checks.items()}


def _ask(name: str, check: Check) -> Health:
    try:
        return check()
    except Exception as error:
        _log.warning("health.check_failed", check=name, reason=type(error).__name__)
        return Health(ok=False, sentence=f"The check of {name} itself failed ({type(error).__name__}).")
