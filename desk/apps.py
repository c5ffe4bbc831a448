from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "Desk"

    def ready(self) -> None:
        from desk import dropped, fields, health, rooms, sealing, signals
        from desk.audit import triggers, witness_chain, witnesses
        from desk.people import stepup, totp
        from desk.processes import logs

        fields.widen_context()
        signals.connect()
        logs.connect_celery()
        witnesses.register()
        rooms.declare(
            rooms.Room(
                checks={"database": health.database, "broker": health.broker},
                rewrappers={
                    "second factors": totp.rewrap_all,
                    "confirmations": stepup.renew_all,
                    "row entries": witness_chain.vouch_all,
                },
                guards={"desk": triggers.statements},
                figures=(health.Gauges(), dropped.Figures()),
            )
        )
        post_migrate.connect(_begin_to_witness, sender=self, dispatch_uid="desk.begin_to_witness")
        try:
            sealing.ensure_ring()
        except sealing.CannotSeal as reason:
            raise SystemExit(str(reason)) from None


def _begin_to_witness(*, plan: Any = (), **_: Any) -> None:
    """Rows from before rows were witnessed are, once: only in the very run of migrations that brought the entries."""
    from desk.audit import witness_chain

    if any(migration.app_label == "desk" and migration.name.startswith("0003_") for migration, _ in plan):
        witness_chain.begin()
