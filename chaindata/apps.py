from django.apps import AppConfig


class ChaindataConfig(AppConfig):
    name = "chaindata"

    def ready(self) -> None:
        """Says what the desk should know of this room: who may follow what, and how to tell that it is well."""
        from chaindata import health, topics, witnesses
        from chaindata.domain import broadcast_replay
        from desk import audit

        topics.register()
        witnesses.register()
        audit.register_replay(broadcast_replay.SUBJECT, broadcast_replay.check)
        health.register()
