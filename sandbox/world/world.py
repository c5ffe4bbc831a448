"""The world of the sandbox: one seed, one clock, one journal, and the exchange that lives by them.

Everything that changes the world comes in through `perform` (calls of the exchange) or `control` (the control plane)
and is journaled; the same seed and the same journal always give the same world. All of it is synchronous: on an event
loop each call runs to its end before the next one begins, which makes it atomic.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from sandbox.chain import handlers as chain_handlers
from sandbox.chain.full_node import FullNode
from sandbox.chain.state import Chain
from sandbox.engine import journal
from sandbox.engine.clock import Clock
from sandbox.engine.journal import Entry, Header, Journal, Lock
from sandbox.exchange import handlers
from sandbox.exchange.funds import chain_blocks
from sandbox.exchange.handlers import arguments
from sandbox.exchange.handlers.market import LISTINGS, Listing
from sandbox.exchange.schedule import live_until
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import UNAVAILABLE, Caller, Event, Listener, NoHandler, Refusal, Wait
from sandbox.settings import keys
from sandbox.settings.config import Config
from sandbox.settings.dialects import DOCUMENTED
from sandbox.world import controls, recovery, seeding
from sandbox.world.figures import beginning, reading

__all__ = ["Caller", "Event", "NoHandler", "Refusal", "World"]

log = logging.getLogger(__name__)
Reading = TypeVar("Reading")


class World:
    """One world. Open it with `World.open`, end it with `close`."""

    def __init__(
        self, world_journal: Journal, *, still: bool, now_ms: Callable[[], int], lock: Lock | None = None
    ) -> None:
        self.journal = world_journal
        self.warnings: list[str] = []
        self.broken = ""
        self._still = still
        self._lock = lock
        self._listeners: list[Listener] = []
        self.clock = Clock(now_ms, self._clock_changed)
        self._populate()

    @classmethod
    def open(
        cls,
        data_dir: Path | None,
        *,
        seed: int = 1,
        symbols: int | None = None,
        dialect: str = "",
        fresh: bool = False,
        still: bool = False,
        figures: dict[str, object] | None = None,
        now_ms: Callable[[], int],
    ) -> "World":
        """The world kept in `data_dir`, replayed from its journal, or a fresh one; None keeps it in memory only.

        A journal that was begun with another seed or number of symbols keeps its own, and `warnings` says so; `fresh`
        begins again. A `dialect` that is given holds from now on; without one a kept world goes on in its own, and a
        fresh one speaks as documented; `warnings` says what is special about that. A fresh world begins from `figures`
        (`sandbox.world.figures.reading.read`) where there are any. Raises `CannotOpenJournal` when
        another sandbox uses the folder.
        """
        header = Header(seed, symbols, now_ms(), dialect or DOCUMENTED, figures)
        if data_dir is None:
            return cls(Journal.begin(header), still=still, now_ms=now_ms)
        lock = Lock(data_dir)
        try:
            make = partial(cls, still=still, now_ms=now_ms, lock=lock)
            world = recovery.open_world(make, data_dir / journal.FILE_NAME, header, fresh=fresh)
            recovery.speak(world, dialect)
            return world
        except BaseException:
            lock.release()
            raise

    def _populate(self) -> None:
        header = self.journal.header
        self.config = Config(dialect=header.dialect)
        if header.figures is None:
            self.keys = keys.seeded()
            self.exchange = seeding.exchange(
                seed=header.seed,
                symbols=header.symbols,
                started_ms=header.started_ms,
                config=self.config,
                still=self._still,
            )
        else:
            self._begin_from(reading.of_header(header.figures))
        self.exchange.has_listeners = bool(self._listeners)
        self.clock.restore(self.clock.setting, header.started_ms)

    def _begin_from(self, figures: reading.Figures) -> None:
        header = self.journal.header
        self.keys = keys.of_figures(beginning.accounts_of(figures))
        self.exchange, sentences = beginning.exchange(
            figures, seed=header.seed, started_ms=header.started_ms, config=self.config, still=self._still
        )
        self.warnings += sentences

    # What comes in ---------------------------------------------------------------------------------------------------

    def perform(self, operation: str, caller: Caller | None, params: Mapping[str, object]) -> object:
        """Runs one operation and journals it when it may have changed something; what was due happens before it.

        Raises `Refusal` (nothing was changed) or `NoHandler`.
        """
        handler = handlers.EVERY.get(operation)
        if handler is None:
            raise NoHandler(operation)
        plain = arguments.plain_arguments(params)
        self._must_be_sound()
        at_ms = self._live()
        answer = self._done(lambda: handler(self.exchange, caller, plain))
        if operation in handlers.CHANGING and caller is not None:
            outcomes = self.exchange.recorded_fills.recorded()
            self._keep(Entry(at_ms, operation, plain, caller.login, caller.account, outcomes))
        self._notify_listeners()
        return answer

    def listing(self, operation: str, params: Mapping[str, object]) -> Listing:
        """What a public operation tells about many symbols, to be written one by one; raises `Refusal`.

        It goes on with the exchange as it is now, also when the world is begun again meanwhile.
        """
        self._must_be_sound()
        self._live()
        return LISTINGS[operation](self.exchange, arguments.plain_arguments(params))

    def observe(self, read: Callable[[Exchange], Reading]) -> Reading:
        """What `look` sees of the exchange at the present moment; what the market does under its eyes is journaled.

        Raises `Refusal` while the world takes nothing in.
        """
        self._must_be_sound()
        self._live()
        self.exchange.recorded_fills.begin()
        reading = read(self.exchange)
        self._keep_happened()
        self._notify_listeners()
        return reading

    @property
    def chain(self) -> Chain:
        """The sandbox's own chain."""
        return self.exchange.chain

    def ask_chain(self, operation: str, params: Mapping[str, object]) -> object:
        """What the chain-data service answers at the present moment. Raises `sandbox.chain.node.terms.Refused`,
        `NoHandler`, or `Refusal` while the world takes nothing in."""
        handler = chain_handlers.find(operation)
        if handler is None:
            raise NoHandler(operation)
        self._must_be_sound()
        self._live()
        return handler(FullNode(self.chain, self.config, self.broadcast), params)

    def broadcast(self, raw: bytes) -> str:
        """Takes a transaction into the mempool and the journal; its id. One that waits already is only told again.

        Raises `sandbox.chain.node.terms.Refused`, and then nothing was changed.
        """
        exchange, waiting = self.exchange, len(self.exchange.chain.mempool)
        transaction = chain_blocks.broadcast(exchange, raw)
        if len(exchange.chain.mempool) != waiting:
            self._keep(Entry(exchange.moment_ms, chain_blocks.BROADCAST, {"hex": raw.hex()}))
        self._notify_listeners()
        return transaction.txid

    def _done(self, work: Callable[[], object]) -> object:
        """The answer of an input's work; what the simulated market did meanwhile is journaled, also when it refuses."""
        self.exchange.recorded_fills.begin()
        try:
            answer = work()
        except Refusal:
            self._keep_happened()
            self._notify_listeners()
            raise
        self._keep_happened()
        return answer

    def wait_for(self, operation: str, caller: Caller | None, params: Mapping[str, object]) -> Wait | None:
        """Whether, how long, and for which change an operation wants to be waited for before it is performed.

        None means not at all, also when the call is going to be refused.
        """
        find = handlers.WAITING.get(operation)
        if find is None:
            return None
        self._live()
        try:
            return find(self.exchange, caller, arguments.plain_arguments(params))
        except Refusal:
            return None

    def control(self, name: str, params: Mapping[str, object]) -> object:
        """Runs one action of the control plane (`controls.CONTROLS`), journals it; raises `Refusal` or `NoHandler`."""
        action = controls.CONTROLS.get(name)
        if action is None:
            raise NoHandler(name)
        plain = arguments.plain_arguments(params)
        if name != controls.RESET:
            self._must_be_sound()
        at_ms = self._live()
        answer = self._done(lambda: action(self, plain))
        if name in controls.JOURNALED:
            self._keep(Entry(at_ms, name, plain, outcomes=self.exchange.recorded_fills.recorded()))
        self._notify_listeners()
        return answer

    def begin_again(self, seed: int | None = None, symbols: int | None = None) -> None:
        """A fresh world in place of this one, at the real time, as listeners hear; the old journal is kept as the
        previous one. What operations it serves and its dialect do not change."""
        old, framework = self.journal, self.config.non_js_framework
        self.clock.restart()
        header = Header(
            old.header.seed if seed is None else seed,
            old.header.symbols if symbols is None else symbols,
            self.clock.now_ms(),
            self.config.dialect,
            old.header.figures,
        )
        old.close()
        self.journal = Journal.begin(header, old.path)
        self.warnings, self.broken = [], ""
        self._populate()
        self.config.non_js_framework = framework
        if self.exchange.has_listeners:
            self.exchange.events.append(Event("begun", "", None))

    # Time ------------------------------------------------------------------------------------------------------------

    def due(self) -> int | None:
        """When the next timer goes off, in sandbox milliseconds; None when none waits."""
        return self.exchange.next_due_ms()

    def run_due(self) -> None:
        """Lets everything happen that is due by now, each at its own instant, and tells the listeners."""
        self._live()

    def _live(self) -> int:
        self._live_until(self.clock.now_ms())
        self._notify_listeners()
        return self.exchange.moment_ms

    def _live_until(self, until_ms: int) -> None:
        is_due = self.exchange.pace.due_ms <= until_ms
        gap_ms = chain_blocks.gap_before(self.exchange, until_ms) if is_due else None
        if gap_ms is not None:
            live_until(self.exchange, gap_ms)
            chain_blocks.leap_to(self.exchange, until_ms)
        live_until(self.exchange, until_ms)
        self._keep_happened()

    def _clock_changed(self, before_ms: int) -> None:
        setting = self.clock.setting
        self._live_until(before_ms)
        self._keep(
            Entry(before_ms, controls.CLOCK, {"offset_ms": setting.offset_ms, "frozen_at_ms": setting.frozen_at_ms})
        )
        self._live()

    # The journal -----------------------------------------------------------------------------------------------------

    def _keep(self, entry: Entry) -> None:
        try:
            self.journal.append(entry)
        except OSError as problem:
            self.broken = f"The journal can't be written ({problem.strerror}); start the sandbox again."
            self.exchange.forget_events()
            raise Refusal(UNAVAILABLE, self.broken) from problem

    def _keep_happened(self) -> None:
        for entry in self.exchange.take_happened():
            self._keep(entry)

    def _must_be_sound(self) -> None:
        if self.broken:
            raise Refusal(UNAVAILABLE, self.broken)

    def close(self) -> None:
        """Brings the journal to the disk and lets its folder go."""
        self.journal.close()
        if self._lock is not None:
            self._lock.release()

    # What goes out ---------------------------------------------------------------------------------------------------

    def listen(self, callback: Listener) -> Callable[[], None]:
        """Calls `callback` with each later change, after it is in the journal; the returned function ends that."""
        self._listeners.append(callback)
        self.exchange.has_listeners = True

        def stop() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)
            self.exchange.has_listeners = bool(self._listeners)

        return stop

    def _notify_listeners(self) -> None:
        for event in self.exchange.take_events():
            for listener in tuple(self._listeners):
                try:
                    listener(event)
                except Exception:  # the change stands, whatever becomes of its news
                    log.exception("a listener failed on a %s event", event.kind)

    def state(self) -> dict[str, object]:
        """Sandbox time, length of the journal, counts and configuration, as the control plane shows them."""
        self._live()
        return controls.state_json(self)

    def ledger(self) -> dict[str, object]:
        """The double-entry ledger as the control plane shows it, with `balanced`."""
        self._live()
        return self.exchange.ledger.as_json()
