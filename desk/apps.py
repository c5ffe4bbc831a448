from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "Desk"

    def ready(self) -> None:
        from desk import fields, signals

        fields.widen_context()
        signals.connect()
