from django.apps import AppConfig


class ChaindataConfig(AppConfig):
    name = "chaindata"

    def ready(self) -> None:
        """Says what the desk should know of this room: who may follow what, and how to tell that it is well."""
        from chaindata import health, topics, witnesses
        from chaindata.broadcasts import replay
        from desk import audit_check

        topics.register()
        witnesses.register()
        audit_check.register_replay(replay.REPLAY.subject, replay.REPLAY.check)
        health.register()
