"""How pages show the rows of a machine: states by its table, events by words that the room gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from django.template import Library
from django.utils.safestring import SafeString

from desk.machines.table import State
from desk.templatetags.desk import chip


def state_chip(state: State) -> SafeString:
    """An icon and the label, in the state's colour."""
    return chip(state.tone, state.label, sign=state.icon)


@dataclass(frozen=True)
class Display:
    """One machine as templates show it. `events` gives the words of the timeline for each event."""

    states: Mapping[str, State]
    events: Mapping[str, str] = field(default_factory=dict)

    def state(self, name: str) -> SafeString:
        """The state in one chip."""
        return state_chip(self.states[name])

    def sign(self, name: str) -> str:
        """The icon of a state, for the timeline."""
        return self.states[name].icon

    def label(self, name: str) -> str:
        """The words of a state."""
        return self.states[name].label

    def event(self, name: str) -> str:
        """The words of the timeline for an event; without any, they are made from its name."""
        return self.events.get(name) or name.replace("_", " ").capitalize()

    def registered(self, library: Library, prefix: str = "", **names: str) -> Self:
        """Register them in a library: `state` and `sign` as tags, `label` and `event` as filters.

        Their names are those given, or else all four behind a prefix: transfer_state, transfer_sign ...
        """
        names = names or {kind: f"{prefix}_{kind}" for kind in ("state", "sign", "label", "event")}
        for kind, name in names.items():
            if kind in {"state", "sign"}:
                library.simple_tag(_function(getattr(self, kind)), name=name)
            else:
                library.filter(name, _function(getattr(self, kind)))
        return self


def _function(method: Callable[[str], str]) -> Callable[[str], str]:
    """A function that a library can register: of a method it would read `self` as an argument."""

    def show(name: str) -> str:
        return method(name)

    return show
