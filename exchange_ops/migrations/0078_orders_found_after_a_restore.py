from django.db import migrations, models

from desk.database.operations import OnSQLite

# SQLite makes the table of events anew, and lets no trigger name one that is not there meanwhile; 0079 installs it.
TRIGGER = "exchange_ops_order_moves_with_event"


class Migration(migrations.Migration):
    dependencies = [
        ("exchange_ops", "0077_guards_of_transfers"),
    ]

    operations = [
        OnSQLite(f"DROP TRIGGER IF EXISTS {TRIGGER}"),
        migrations.RemoveConstraint(
            model_name="orderevent",
            name="orderevent_is_a_move_of_the_table",
        ),
        migrations.AddConstraint(
            model_name="orderevent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("event", "asked"), ("from_state", ""), ("to_state", "requested")),
                    models.Q(("event", "seen_elsewhere"), ("from_state", ""), ("to_state", "placed")),
                    models.Q(("event", "claimed"), ("from_state", "requested"), ("to_state", "sending")),
                    models.Q(("event", "stopped"), ("from_state", "requested"), ("to_state", "not_sent")),
                    models.Q(("event", "accepted"), ("from_state", "sending"), ("to_state", "placed")),
                    models.Q(("event", "refused"), ("from_state", "sending"), ("to_state", "refused")),
                    models.Q(("event", "not_sent"), ("from_state", "sending"), ("to_state", "not_sent")),
                    models.Q(("event", "answer_lost"), ("from_state", "sending"), ("to_state", "unknown")),
                    models.Q(("event", "found"), ("from_state", "unknown"), ("to_state", "found")),
                    models.Q(("event", "not_seen"), ("from_state", "unknown"), ("to_state", "not_seen")),
                    models.Q(("event", "found"), ("from_state", "not_seen"), ("to_state", "found")),
                    models.Q(("event", "found"), ("from_state", "refused"), ("to_state", "found")),
                    models.Q(("event", "found"), ("from_state", "not_sent"), ("to_state", "found")),
                    models.Q(("event", "found"), ("from_state", "requested"), ("to_state", "found")),
                    models.Q(("event", "found"), ("from_state", "waiting"), ("to_state", "found")),
                    models.Q(("event", "found"), ("from_state", "declined"), ("to_state", "found")),
                    models.Q(("event", "found"), ("from_state", "withdrawn"), ("to_state", "found")),
                    models.Q(("event", "found"), ("from_state", "lapsed"), ("to_state", "found")),
                    models.Q(("event", "cancel_asked"), ("from_state", "placed"), ("to_state", "cancelling")),
                    models.Q(("event", "cancel_asked"), ("from_state", "found"), ("to_state", "cancelling")),
                    models.Q(("event", "cancel_claimed"), ("from_state", "cancelling"), ("to_state", "cancelling")),
                    models.Q(("event", "cancel_unconfirmed"), ("from_state", "cancelling"), ("to_state", "cancelling")),
                    models.Q(("event", "cancel_confirmed"), ("from_state", "cancelling"), ("to_state", "placed")),
                    models.Q(("event", "cancel_refused"), ("from_state", "cancelling"), ("to_state", "placed")),
                    models.Q(("event", "replace_asked"), ("from_state", "placed"), ("to_state", "replacing")),
                    models.Q(("event", "replace_asked"), ("from_state", "found"), ("to_state", "replacing")),
                    models.Q(("event", "replaced"), ("from_state", "replacing"), ("to_state", "placed")),
                    models.Q(("event", "replace_ended"), ("from_state", "replacing"), ("to_state", "placed")),
                    models.Q(("event", "cancel_asked"), ("from_state", "replacing"), ("to_state", "cancelling")),
                    models.Q(("event", "approval_asked"), ("from_state", ""), ("to_state", "waiting")),
                    models.Q(("event", "quorum_reached"), ("from_state", "waiting"), ("to_state", "requested")),
                    models.Q(("event", "declined"), ("from_state", "waiting"), ("to_state", "declined")),
                    models.Q(("event", "withdrawn"), ("from_state", "waiting"), ("to_state", "withdrawn")),
                    models.Q(("event", "lapsed"), ("from_state", "waiting"), ("to_state", "lapsed")),
                    models.Q(("event", "asked_by_bracket"), ("from_state", ""), ("to_state", "requested")),
                    models.Q(("event", "observed"), ("version__isnull", True)),
                    _connector="OR",
                ),
                name="orderevent_is_a_move_of_the_table",
            ),
        ),
    ]
