"""The settings of a house under test: those of the desk, but no password takes time to hash, and no disk is waited for.

A hash that is slow on purpose costs a quarter of a second at each of some three hundred signings in. What it protects
is no matter of these tests; that the desk itself hashes slowly is held by tests/desk/people/test_sign_in.py. It stands
in the tests and is chosen by the process that starts the house: no setting of the desk makes a password weaker.
"""

from project.settings import *  # noqa: F403
from project.settings import DATABASES
from tests.prepared_database import unsynced

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if "init_command" in (options := DATABASES["default"].get("OPTIONS", {})):  # SQLite
    options["init_command"] = unsynced(options["init_command"])

# The receivers of the tests' webhooks listen on this machine.
WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
