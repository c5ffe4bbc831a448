from django.db import migrations, models

from desk.database.operations import AlterLabels, OnSQLite

# SQLite makes the tables anew, and lets no trigger name one that is not there meanwhile; 0074 installs all of them.
TRIGGERS = (
    "exchange_ops_payee_moves_with_event",
    "exchange_ops_payee_quorum",
    "exchange_ops_payeeapproval_not_yours",
)


class Migration(migrations.Migration):
    dependencies = [
        ("exchange_ops", "0072_guards_of_payout_schedules"),
    ]

    operations = [
        OnSQLite(*(f"DROP TRIGGER IF EXISTS {name}" for name in TRIGGERS)),
        migrations.RemoveConstraint(
            model_name="payee",
            name="payee_known_state",
        ),
        migrations.RemoveConstraint(
            model_name="payee",
            name="payee_one_open_per_recipient",
        ),
        migrations.RemoveConstraint(
            model_name="payeeevent",
            name="payeeevent_is_a_move",
        ),
        AlterLabels(
            migrations.AlterField(
                model_name="payee",
                name="state",
                field=models.CharField(
                    choices=[
                        ("review", "Waiting for approvals"),
                        ("cooling", "Cooling-off period"),
                        ("active", "Approved"),
                        ("expired", "Expired"),
                        ("renewed", "Renewed"),
                        ("lapsed", "Not approved in time"),
                        ("rejected", "Rejected"),
                        ("withdrawn", "Withdrawn"),
                        ("removed", "Removed"),
                    ],
                    max_length=20,
                ),
            )
        ),
        migrations.AddConstraint(
            model_name="payee",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
                            "review",
                            "cooling",
                            "active",
                            "expired",
                            "renewed",
                            "lapsed",
                            "rejected",
                            "withdrawn",
                            "removed",
                        ],
                    )
                ),
                name="payee_known_state",
            ),
        ),
        migrations.AddConstraint(
            model_name="payee",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "review")),
                fields=("account", "currency", "address", "payment_id"),
                name="payee_one_review_per_recipient",
            ),
        ),
        migrations.AddConstraint(
            model_name="payee",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "cooling")),
                fields=("account", "currency", "address", "payment_id"),
                name="payee_one_cooling_per_recipient",
            ),
        ),
        migrations.AddConstraint(
            model_name="payee",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "active")),
                fields=("account", "currency", "address", "payment_id"),
                name="payee_one_active_per_recipient",
            ),
        ),
        migrations.AddConstraint(
            model_name="payeeevent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("event", "added"), ("from_state", ""), ("to_state", "review")),
                    models.Q(("event", "approval_recorded"), ("from_state", "review"), ("to_state", "review")),
                    models.Q(("event", "quorum_reached"), ("from_state", "review"), ("to_state", "cooling")),
                    models.Q(("event", "rejected"), ("from_state", "review"), ("to_state", "rejected")),
                    models.Q(("event", "withdrawn"), ("from_state", "review"), ("to_state", "withdrawn")),
                    models.Q(("event", "lapsed"), ("from_state", "review"), ("to_state", "lapsed")),
                    models.Q(("event", "activated"), ("from_state", "cooling"), ("to_state", "active")),
                    models.Q(("event", "removed"), ("from_state", "cooling"), ("to_state", "removed")),
                    models.Q(("event", "removed"), ("from_state", "active"), ("to_state", "removed")),
                    models.Q(("event", "expired"), ("from_state", "active"), ("to_state", "expired")),
                    models.Q(("event", "renewed"), ("from_state", "active"), ("to_state", "renewed")),
                    _connector="OR",
                ),
                name="payeeevent_is_a_move",
            ),
        ),
    ]
