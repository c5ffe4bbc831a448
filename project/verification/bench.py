"""`manage.py bench`: every measurement of `tools/bench/` in turn, each line a ratio against a named peer; then a
minute of fuzzing, `manage.py bench fuzz_chain`."""

import subprocess
import sys
from collections.abc import Sequence

from project.bootstrap import ROOT


def main(arguments: Sequence[str]) -> int:
    """Run the measurements (those named, or all); 1 when one of them could not be taken."""
    measurements = [
        path.stem for kind in ("measure_*.py", "fuzz_*.py") for path in sorted((ROOT / "tools" / "bench").glob(kind))
    ]
    chosen = [name for name in measurements if not arguments or name.removeprefix("measure_") in arguments]
    if not chosen:
        names = ", ".join(name.removeprefix("measure_") for name in measurements)
        print(f"Unknown measurement. Available: {names}.")
        return 1
    commands = {name: [sys.executable, "-m", f"tools.bench.{name}"] for name in chosen}
    failed = [name for name in chosen if subprocess.run(commands[name], cwd=ROOT, check=False).returncode]
    for name in failed:
        print(f"{name} failed; see the output above.")
    return 1 if failed else 0
