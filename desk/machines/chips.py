"""How the state of a row is shown: by what its machine's table says of it, on all pages alike."""

from django.utils.safestring import SafeString

from desk.machines.table import State
from desk.templatetags.desk import chip


def state_chip(state: State) -> SafeString:
    """An icon and the label, in the state's colour."""
    return chip(state.tone, state.label, sign=state.icon)
