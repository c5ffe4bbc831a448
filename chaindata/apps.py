from importlib import import_module
from typing import Final

from django.apps import AppConfig

# Each declares itself in its `room.py`. The lowest floor comes first (`.importlinter`).
ROOMS: Final = ("headers", "cache", "tokens", "explorer", "tools", "cash_accounts", "broadcasts", "watching")


class ChaindataConfig(AppConfig):
    name = "chaindata"

    def ready(self) -> None:
        from chaindata.shared import belongings, owned_addresses
        from chaindata.watching import requests
        from desk import rooms

        owned_addresses.register("watched addresses", requests.owners)
        belongings.register("watched addresses", requests.belongings)
        for name in ROOMS:
            rooms.declare(import_module(f"chaindata.{name}.room").ROOM)
