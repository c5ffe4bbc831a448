"""How a follower spends its time: how often it looks, and how long it waits before it tries again."""

from dataclasses import dataclass, field

from exchange_ops.wire.conversation import Pace

MOST_STEPS = 20  # of doubling; every bound is reached long before


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Milliseconds: the session's own, between pings, the longest wait for a message, and the pauses between tries.

    `away_pause_ms` is the longest pause while nobody answers at the address: asking costs an exchange that is away
    nothing, and when it is back it is to be followed again within five seconds. `longest_pause_ms` is for one that
    takes connections and does not keep them, `turned_down_pause_ms` for one that refuses the key.
    """

    pace: Pace = field(default_factory=Pace)
    ping_ms: int = 10_000
    look_ms: int = 500
    first_pause_ms: int = 500
    away_pause_ms: int = 3_000
    longest_pause_ms: int = 30_000
    turned_down_pause_ms: int = 60_000

    def pause_ms(self, *, failures: int, away: bool = False, turned_down: bool = False, dice: float) -> int:
        """The pause after so many failures in a row: doubled each time up to its bound, and a half of it by the dice.

        `dice` is from 0 up to 1, so that not all followers come back in one moment.
        """
        longest = min(self.away_pause_ms, self.longest_pause_ms) if away else self.longest_pause_ms
        pause = min(self.first_pause_ms << min(max(failures, 1) - 1, MOST_STEPS), longest)
        if turned_down:
            pause = self.turned_down_pause_ms
        return pause // 2 + int(pause // 2 * dice)
