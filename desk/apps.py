from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "Desk"

    def ready(self) -> None:
        from desk import dropped, fields, health, logs, sealing, signals, totp

        fields.widen_context()
        signals.connect()
        logs.connect_celery()
        health.register_own()
        dropped.register()
        sealing.register_rewrapper("second factors", totp.rewrap_all)
        try:
            sealing.ensure_ring()
        except sealing.CannotSeal as reason:
            raise SystemExit(str(reason)) from None
