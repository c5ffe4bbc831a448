"""Ways of doing the same, measured in turns, so that what disturbs one disturbs the others."""

import statistics
import time
from collections.abc import Callable

Work = Callable[[], None]


def spend(*ways: Work, pieces: int, rounds: int = 9, watch: Callable[[], float] = time.process_time) -> list[float]:
    """Milliseconds for one piece of work, each way: medians over the rounds, the first not counted.

    Every call of a way does `pieces` pieces. It is this process's own time, unless another `watch` counts what is done
    for it elsewhere as well.
    """
    spent: list[list[float]] = [[] for _ in ways]
    for number in range(rounds + 1):
        for place, work in enumerate(ways):
            began = watch()
            work()
            if number:
                spent[place].append((watch() - began) * 1_000 / pieces)
    return [statistics.median(times) for times in spent]


def line(*, what: str, ours_ms: float, peer: str, peer_ms: float, target: float) -> str:
    """The one line of a measurement: both figures, the ratio, and whether the target holds."""
    ratio = peer_ms / ours_ms
    verdict = "holds" if ratio >= target else "MISSED"
    return f"{what}: {ours_ms:.3f} ms, {peer} {peer_ms:.3f} ms: {ratio:.1f}x (target {target:g}x: {verdict})"
