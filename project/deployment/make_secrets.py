"""`manage.py make_secrets FOLDER`: the secrets of a new desk, each in a file of its own."""

import argparse
import base64
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path


def new_secrets(*, containers: bool) -> dict[str, str]:
    """Fresh secrets by the names of their files; with `containers` those of the database and the broker as well."""
    texts = {
        "secret-key": secrets.token_urlsafe(64),
        "key-ring": f"k1:{base64.b64encode(secrets.token_bytes(32)).decode()}",
    }
    if containers:
        database, broker = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        texts |= {
            "postgres-password": database,
            "database-url": f"postgres://desk:{database}@postgres/desk",
            "valkey-password": broker,
            "redis-url": f"redis://:{broker}@valkey:6379/0",
            # Filled in by hand: smtps://user:password@host:465
            "email-url": "",
            # Empty without a company directory to sign in with.
            "oidc-client-secret": "",
        }
    return texts


def main(arguments: Sequence[str]) -> int:
    """Make the folder and its files; 0 when all were made, 1 when one is there already, and then nothing is written."""
    parser = argparse.ArgumentParser(prog="manage.py make_secrets", description="Create the secrets for a new desk.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--containers", action="store_true", help="also create the secrets for docker-compose.yml")
    options = parser.parse_args(arguments)
    texts = new_secrets(containers=options.containers)
    there = [name for name in texts if (options.folder / name).exists()]
    if there:
        sys.stderr.write(f"Secrets not created: {options.folder} already contains {', '.join(there)}.\n")
        return 1
    options.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A container's user reads the file that is mounted for it, whoever owns it here; others can't enter the folder.
    mode = 0o444 if options.containers else 0o400
    for name, text in texts.items():
        descriptor = os.open(options.folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(file.fileno(), mode)
            file.write(f"{text}\n")
    sys.stdout.write(f"Created in {options.folder}: {', '.join(texts)}. Keep a copy on another machine.\n")
    return 0
