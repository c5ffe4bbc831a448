"""What templates need for watched addresses: states, the change by a movement, how many wait for a review."""

from django import template
from django.utils.safestring import SafeString

from chaindata.watching import states
from chaindata.wire import decoding
from desk.machines.display import Display
from desk.templatetags.desk import chip, figure

register = template.Library()
Display(states.ADDRESS_STATES).registered(register, state="watched_state")
Display(states.MOVEMENT_STATES).registered(register, state="movement_state")


@register.simple_tag
def sat_change(value_sat: int) -> SafeString:
    """What a movement changed, in coins, with its sign."""
    return figure(decoding.coins(value_sat), plus=True)


@register.simple_tag
def to_review(count: int) -> SafeString:
    """How many movements wait for a review; nothing if none does."""
    if not count:
        return SafeString("")
    return chip("warn", "1 movement" if count == 1 else f"{count} movements", sign="hand")
