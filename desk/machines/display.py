"""How the rows of a machine are shown, on all pages alike: by what its table says of a state, an event by words."""

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
    """One machine as templates show it; `events` says in the words of the timeline what happened."""

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
        """What happened, in the words of the timeline; the name of an event that has none."""
        return self.events.get(name) or name.replace("_", " ").capitalize()

    def registered(self, library: Library, prefix: str = "", **names: str) -> Self:
        """Offer these to templates: `state` and `sign` as tags, `label` and `event` as filters.

        By the names that are given, or all of them by their own behind a prefix: transfer_state, transfer_sign ...
        """
        names = names or {kind: f"{prefix}_{kind}" for kind in ("state", "sign", "label", "event")}
        for kind, name in names.items():
            if kind in {"state", "sign"}:
                library.simple_tag(_function(getattr(self, kind)), name=name)
            else:
                library.filter(name, _function(getattr(self, kind)))
        return self


def _function(method: Callable[[str], str]) -> Callable[[str], str]:
    """A library reads the arguments of a method with its `self`, and marks what it registers."""

    def show(name: str) -> str:
        return method(name)

    return show
