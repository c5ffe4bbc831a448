from django.apps import AppConfig


class ChaindataConfig(AppConfig):
    name = "chaindata"

    def ready(self) -> None:
        """Says what the desk should know of this room: who may follow what, and how to tell that it is well."""
        from chaindata import health, incidents, rules, searches, topics, witnesses
        from chaindata.broadcasts import guards, replay
        from chaindata.shared import belongings, owned_addresses
        from chaindata.watching import belongings as watched_belongings
        from chaindata.watching import guards as watching
        from chaindata.watching import replay as watching_replay
        from chaindata.watching import requests as watched
        from desk import rooms
        from desk.web.search import Command, Search

        witnesses.register()
        owned_addresses.register("watched addresses", watched.owners)
        belongings.register("watched addresses", watched_belongings.of)
        replays = (replay.REPLAY, *watching_replay.REPLAYS)
        rooms.declare(
            rooms.Room(
                topics=topics.TOPICS,
                checks={"chain": rooms.Check(health.chain, order=160)},
                replays={each.subject: each.check for each in replays},
                guards={
                    "broadcasts": guards.GUARDS.statements,
                    "watched": watching.WATCHED.statements,
                    "movements": watching.MOVED.statements,
                },
                figures=(health.Figures(),),
                incidents=incidents.KINDS,
                searches=(Search(searches.places, 150),),
                commands=(
                    Command(
                        "Send a transaction to the network", "chain-broadcast-new", "send", rules.may_broadcast, 100
                    ),
                ),
            )
        )
