from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "Desk"

    def ready(self) -> None:
        from desk import fields, health, logs, sealing, signals

        fields.widen_context()
        signals.connect()
        logs.connect_celery()
        health.register_own()
        try:
            sealing.ensure_ring()
        except sealing.CannotSeal as reason:
            raise SystemExit(str(reason)) from None
