from django.apps import AppConfig


class ChaindataConfig(AppConfig):
    name = "chaindata"

    def ready(self) -> None:
        """Says what the desk should know of this room: who may follow what."""
        from chaindata import topics

        topics.register()
