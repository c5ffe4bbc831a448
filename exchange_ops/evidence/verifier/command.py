"""The command: reads the bundle, makes all checks and says in words what was checked and what was believed."""

import argparse
import hashlib
import sys

from exchange_ops.evidence.verifier.members import NotABundle, read_members
from exchange_ops.evidence.verifier.payout import printed, verify
from exchange_ops.evidence.verifier.period import is_period, printed_period, verify_period


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Verify an evidence bundle of a payout or of a period, offline.")
    parser.add_argument("bundle", help="the ZIP file")
    parser.add_argument("--heads", default="", help="a copy of the desk's audit-heads.log, kept elsewhere")
    parser.add_argument("--key-ring", default="", help="the desk's key ring, to recompute the digest (its owner only)")
    options = parser.parse_args(arguments)
    try:
        members = read_members(options.bundle)
        ring = ""
        if options.key_ring:
            with open(options.key_ring, encoding="ascii") as file:
                ring = file.read()
    except (NotABundle, OSError, ValueError) as problem:
        sys.stdout.write(f"NOT VERIFIED. {problem}\n")
        return 2
    is_of_period = is_period(members)
    report, manifest = (verify_period if is_of_period else verify)(members, key_ring=ring, heads=options.heads)
    text = (printed_period if is_of_period else printed)(report, manifest)
    with open(__file__, "rb") as file:
        own = hashlib.sha256(file.read()).hexdigest()
    sys.stdout.write(f"{text}\nSHA-256 of this verifier: {own}\n")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
