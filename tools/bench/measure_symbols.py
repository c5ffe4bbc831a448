"""What a question about all of 1,000 symbols costs the sandbox: `python -m tools.bench.measure_symbols`.

The peer is the standard library's `json.dumps` of the very same answer, in the same run: what any server pays at least
to say that much. First means that nothing was asked before, again that nothing has changed since. Processor time, so a
busy machine does not disturb it.
"""

import json
import time

from sandbox.exchange.handlers.market import LISTINGS
from sandbox.world.world import World

SYMBOLS = 1000
NOW_MS = 1_795_000_000_000
QUESTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("get_tickers", {}),
    ("get_trades", {}),
    ("get_orderbooks", {}),
    *(("get_candles", {"period": period}) for period in ("M1", "M30", "D1", "1M")),
)


def answered(world: World, operation: str, arguments: dict[str, object]) -> tuple[float, str]:
    """Seconds of processor time for one answer, and the answer."""
    began = time.process_time()
    listing = LISTINGS[operation](world.exchange, arguments)
    text = listing.join(map(listing.part, listing.symbols))
    return time.process_time() - began, text


def dumped(text: str) -> float:
    """Seconds of processor time that `json.dumps` takes for the same content."""
    content = json.loads(text)
    began = time.process_time()
    json.dumps(content)
    return time.process_time() - began


def main() -> None:
    """A world of its own, and every question twice."""
    began = time.process_time()
    world = World.open(None, seed=1, symbols=SYMBOLS, now_ms=lambda: NOW_MS)
    print(f"A world of {SYMBOLS} symbols is there after {time.process_time() - began:.2f} s of processor time.")
    for operation, arguments in QUESTIONS:
        first, text = answered(world, operation, arguments)
        again, _ = answered(world, operation, arguments)
        peer = max(dumped(text), 0.0001)
        label = f"{operation} {arguments.get('period', '')}".strip()
        print(
            f"{label:<18} {len(text) / 1e6:5.1f} MB   first {first:5.2f} s = {first / peer:6.1f}x json.dumps   "
            f"again {again:5.3f} s = {again / peer:5.2f}x"
        )


if __name__ == "__main__":
    main()
