#!/usr/bin/env python3
"""Runs one command of the project. `up` and `verify` prepare their own environment first; they need Python alone."""

import sys

from project import bootstrap


def main() -> None:
    """Prepare the environment as far as the command asks for it, then run the command."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    bootstrap.enter(command)
    if command == "up":
        from project.supervisor import up

        sys.exit(up.main(sys.argv[2:]))
    if command == "verify":
        from project.verification import verify

        sys.exit(verify.main(sys.argv[2:]))
    if command == "sandbox":
        # The outside world knows no Django, and starts without it.
        from sandbox import command as sandbox

        sys.exit(sandbox.main(sys.argv[2:]))
    bootstrap.name_the_settings()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
