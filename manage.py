#!/usr/bin/env python3
"""Runs one command of the project. Those of `OWN` need Django neither to start nor, some of them, to work."""

import importlib
import sys

from project import bootstrap

# Command to the module whose `main(arguments)` runs it. The first four prepare their own environment.
OWN = {
    "up": "project.supervisor.up",
    "verify": "project.verification.verify",
    "bench": "project.verification.bench",
    "lock": "project.verification.locks",
    "rehearse": "project.rehearsal.command",
    "units": "project.deployment.units",
    "sbom": "project.deployment.sbom",
    "make_secrets": "project.deployment.make_secrets",
    "sandbox": "sandbox.command",
}


def main() -> None:
    """Prepare the environment as far as the command asks for it, then run the command."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    bootstrap.enter(command)
    if command in OWN:
        sys.exit(importlib.import_module(OWN[command]).main(sys.argv[2:]))
    bootstrap.name_the_settings()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
