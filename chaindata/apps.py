from django.apps import AppConfig


class ChaindataConfig(AppConfig):
    name = "chaindata"

    def ready(self) -> None:
        """Says what the desk should know of this room: who may follow what, and how to tell that it is well."""
        from chaindata import health, incidents, topics, witnesses
        from chaindata.broadcasts import guards, replay
        from desk import rooms

        witnesses.register()
        rooms.declare(
            rooms.Room(
                topics=topics.TOPICS,
                checks={"chain": health.chain},
                replays={replay.REPLAY.subject: replay.REPLAY.check},
                guards={"broadcasts": guards.GUARDS.statements},
                figures=(health.Figures(),),
                incidents=incidents.KINDS,
            )
        )
