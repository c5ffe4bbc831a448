from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

if TYPE_CHECKING:
    from desk.rooms import Room


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "Desk"

    def import_models(self) -> None:
        """The rows of rooms that stand above the desk's own rows are of this app as well."""
        super().import_models()
        import_module("desk.incidents.models")
        import_module("desk.actions.models")
        import_module("desk.staff.models")
        import_module("desk.restores.models")
        import_module("desk.single_sign_on.models")
        import_module("desk.notifications.models")
        import_module("desk.personal.models")
        import_module("desk.lists.models")
        import_module("desk.web.models")

    def ready(self) -> None:
        from desk import fields, rooms, sealing, signals
        from desk.actions import room as actions
        from desk.audit import witnesses
        from desk.incidents import room as incidents
        from desk.notifications import room as notifications
        from desk.processes import logs
        from desk.restores import room as restores
        from desk.single_sign_on import room as single_sign_on
        from desk.staff import room as staff

        fields.widen_context()
        signals.connect()
        logs.connect_celery()
        witnesses.register()
        incidents.register()
        actions.register()
        staff.register()
        single_sign_on.register()
        restores.register()
        notifications.register()
        rooms.declare(_room())
        post_migrate.connect(_renew_witnesses, sender=self, dispatch_uid="desk.renew_witnesses")
        try:
            sealing.ensure_ring()
        except sealing.CannotSeal as reason:
            raise SystemExit(str(reason)) from None


def _room() -> "Room":
    """What the desk declares of its own rooms."""
    from desk import dropped, health, rooms
    from desk.actions import room as actions
    from desk.audit import desk_words, triggers, witness_chain
    from desk.incidents import room as incidents
    from desk.incidents import trail_words as incident_words
    from desk.notifications import room as notifications
    from desk.people import stepup, totp
    from desk.restores import room as restores
    from desk.restores import signs
    from desk.single_sign_on import room as single_sign_on
    from desk.staff import room as staff
    from desk.web import room as web

    topics = (incidents.TOPICS, actions.TOPICS, staff.TOPICS, notifications.TOPICS, restores.TOPICS)
    threads = {"threads": actions.GUARDS.statements}
    guards = (incidents.GUARDS, threads, staff.GUARDS, restores.GUARDS, single_sign_on.GUARDS)
    return rooms.Room(
        checks={
            "database": rooms.Check(health.database),
            "broker": rooms.Check(health.broker),
            **restores.CHECKS,
        },
        rewrappers={
            "second factors": totp.rewrap_all,
            "confirmations": stepup.renew_all,
            "row entries": witness_chain.vouch_all,
            "channels": notifications.rewrap_all,
        },
        topics={name: rule for each in topics for name, rule in each.items()},
        incidents=(*restores.KINDS, *notifications.KINDS),
        actions=(*actions.SOURCES, *staff.SOURCES, *actions.APPROVALS),
        replays={**incidents.REPLAYS, **actions.REPLAYS, **staff.REPLAYS, **restores.REPLAYS},
        trail=(*desk_words.WORDS, incident_words.WORDS),
        guards={"desk": triggers.statements, **{name: text for each in guards for name, text in each.items()}},
        searches=(*web.SEARCHES, *staff.SEARCHES),
        commands=staff.COMMANDS,
        navigation=(*staff.NAVIGATION, *notifications.NAVIGATION, *web.NAVIGATION),
        retention=(*web.RETENTION, *notifications.RETENTION),
        figures=(health.Gauges(), dropped.Figures()),
        obstacles=(restores.why_nothing_leaves,),
        before_sending=signs.tell_broker,
        lost_heads=signs.lost_heads,
    )


def _renew_witnesses(**_: Any) -> None:
    """Rows that were witnessed by other columns are witnessed by those of this version."""
    from desk.audit import witness_columns

    witness_columns.renew()
