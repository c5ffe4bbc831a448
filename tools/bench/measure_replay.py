"""What a start with a long journal costs: `python -m tools.bench.measure_replay`.

10,000 inputs of four kinds are written, and replayed. The peer is the standard library's `json.loads` over the same
lines, in the same run: what reading them costs before anything is done with them. Processor time.
"""

import json
import tempfile
import time
from pathlib import Path

from sandbox.world.world import Caller, World

TURNS = 2_500
START_MS = 1_795_000_000_000
DESK = Caller("demo-full", "desk@demo.test")


def opened(folder: Path) -> World:
    """The world of this folder, on a standing clock and without traders."""
    return World.open(folder, seed=1, still=True, now_ms=lambda: START_MS)


def write(folder: Path) -> int:
    """Holds, their ends, transfers and steps of the clock; how many inputs were journaled."""
    world = opened(folder)
    address = world.perform("get_deposit_address", Caller("other-full", "other@demo.test"), {"currency": "DOGE"})
    for turn in range(TURNS):
        withdrawal = {"currency": "DOGE", "amount": "20", "address": address["address"], "autoCommit": False}  # type: ignore[index]
        held = world.perform("create_withdrawal", DESK, withdrawal)
        ending = "rollback_withdrawal" if turn % 2 else "commit_withdrawal"
        world.perform(ending, DESK, {"id": held["id"]})  # type: ignore[index]
        world.perform("transfer_funds", DESK, {"currency": "USD", "amount": "0.01", "type": "bankToExchange"})
        world.control("clock", {"advance_ms": 60_000})
    length = world.journal.length
    world.close()
    return length


def main() -> None:
    """Write, read with json alone, replay."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        length = write(folder)
        lines = (folder / "journal.jsonl").read_bytes().splitlines()
        began = time.process_time()
        for line in lines:
            json.loads(line)
        read = time.process_time() - began
        began = time.process_time()
        opened(folder).close()
        replayed = time.process_time() - began
        print(
            f"{length} inputs: replayed in {replayed:.2f} s of processor time ({length / replayed:,.0f} a second), "
            f"{replayed / read:.1f}x what json.loads takes for their lines"
        )


if __name__ == "__main__":
    main()
