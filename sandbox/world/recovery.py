"""How a world is opened from its folder: begun, or resumed as far as its journal is whole and can be lived again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from sandbox.engine import journal
from sandbox.engine.journal import Header, Journal, Reading
from sandbox.settings.dialects import DOCUMENTED
from sandbox.world.control import Control
from sandbox.world.replay import replay


class Recoverable(Control, Protocol):
    """A world that can be made over a journal and lived again from it."""

    warnings: list[str]

    def control(self, name: str, arguments: Mapping[str, object]) -> object:
        """Runs one action of the control plane and journals it."""
        ...


OpenedWorld = TypeVar("OpenedWorld", bound=Recoverable)


def open_world(make: Callable[[Journal], OpenedWorld], path: Path, header: Header, *, fresh: bool) -> OpenedWorld:
    """The world of the journal at `path`, with the warnings that its opening gives; `make` makes one over a journal."""
    if fresh or not path.exists():
        return make(Journal.begin(header, path))
    reading, warning = journal.read(path)
    world = make(Journal.begin(header, path)) if reading.header is None else _resumed(make, path, reading)
    world.warnings += [sentence for sentence in (warning, _other_seed(world.journal.header, header)) if sentence]
    return world


def speak(world: Recoverable, dialect: str) -> None:
    """Lets a world speak the dialect that was asked for, or go on in its own (""); its warnings say what is special."""
    former = world.exchange.config.dialect
    if dialect and dialect != former:
        world.control("config", {"dialect": dialect})
        world.warnings.append(
            f"the saved world used the {former} dialect until now; from now on it uses the {dialect} one"
        )
    elif not dialect and former != DOCUMENTED:
        world.warnings.append(f"the saved world still uses the {former} dialect; change it with --dialect {DOCUMENTED}")


def _resumed(make: Callable[[Journal], OpenedWorld], path: Path, reading: Reading) -> OpenedWorld:
    world = make(Journal.resume(path, reading))
    stopped_at = replay(world, reading.entries)
    if stopped_at is None:
        return world
    world.journal.close()
    shorter = reading.before(stopped_at)
    warning = journal.set_aside(path, shorter, path.read_bytes())
    world = make(Journal.resume(path, shorter))
    replay(world, shorter.entries)
    world.warnings.append(warning)
    return world


def _other_seed(former: Header, header: Header) -> str:
    if former.seed == header.seed and (header.symbols is None or former.symbols == header.symbols):
        return ""
    return (
        f"the saved world has seed {former.seed} and symbols {former.symbols or 'as listed'}; --fresh starts a new one"
    )
