"""A journal lived again: every input at its own instant, with what it met then."""

import logging
from collections.abc import Iterable, Mapping

from sandbox.chain.node.terms import Refused
from sandbox.engine.clock import Setting
from sandbox.engine.journal import Entry
from sandbox.exchange import handlers
from sandbox.exchange.funds import chain_blocks
from sandbox.exchange.schedule import JOURNALED_EVENTS, live_until
from sandbox.exchange.terms import Caller, NoHandler, Refusal
from sandbox.settings.dialects import DOCUMENTED, OBSERVED
from sandbox.world import controls
from sandbox.world.control import Control

log = logging.getLogger(__name__)
_BARE = "chain_sends_bare"  # what the part of the dialect was called that came first


def replay(control: Control, entries: Iterable[Entry]) -> int | None:
    """Lives the entries again; the number of the first that can't be applied, None when all can."""
    outcomes = control.exchange.recorded_fills
    outcomes.replaying = True
    for number, entry in enumerate(entries):
        try:
            chain_blocks.leap_when_replaying(control.exchange, entry.at_ms)
            live_until(control.exchange, entry.at_ms)
            outcomes.give(entry.outcomes)
            _apply(control, entry)
            outcomes.must_be_used_up()
        except (Refusal, Refused, NoHandler, KeyError, TypeError, ValueError):
            log.exception("entry %d of the journal can't be applied", number + 1)
            return number
    outcomes.replaying = False
    control.clock.restore(control.clock.setting, control.exchange.moment_ms)
    return None


def _apply(control: Control, entry: Entry) -> None:
    if entry.action == controls.CLOCK:
        control.clock.restore(_setting(entry.arguments), entry.at_ms)
    elif entry.account:
        handler = handlers.EVERY.get(entry.action)
        if handler is None:
            raise NoHandler(entry.action)
        handler(control.exchange, Caller(entry.login, entry.account), entry.arguments)
    elif entry.action in JOURNALED_EVENTS:
        JOURNALED_EVENTS[entry.action](control.exchange, entry.arguments)
    else:
        controls.CONTROLS[entry.action](control, _in_present_names(entry))


def _in_present_names(entry: Entry) -> Mapping[str, object]:
    """The arguments of a control action; what older journals call otherwise by its present name."""
    if _BARE not in entry.arguments:
        return entry.arguments
    others = {name: value for name, value in entry.arguments.items() if name != _BARE}
    return others | {"dialect": OBSERVED if entry.arguments[_BARE] else DOCUMENTED}


def _setting(recorded: Mapping[str, object]) -> Setting:
    offset_ms, frozen_at_ms = recorded.get("offset_ms"), recorded.get("frozen_at_ms")
    if not isinstance(offset_ms, int) or not isinstance(frozen_at_ms, int | None):
        raise ValueError("not a setting of the clock")
    return Setting(offset_ms, frozen_at_ms)
