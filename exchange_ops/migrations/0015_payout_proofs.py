import django.db.models.deletion
from django.db import migrations, models

from exchange_ops import triggers

STANDINGS = ("unseen", "absent", "wrong", "not_proven", "waiting", "left", "proven")


def remove_triggers(apps, schema_editor):
    triggers.remove(schema_editor.connection)


def install_triggers(apps, schema_editor):
    triggers.install(schema_editor.connection)


class Migration(migrations.Migration):
    """What the chain proves it can take back, so a proven payout has ways out; and what was seen of each payout there.

    A table that gets another constraint loses its triggers on one of the engines: all of them are taken away and put
    back.
    """

    dependencies = [("exchange_ops", "0014_told_by_streams")]

    operations = [
        migrations.RunPython(remove_triggers, install_triggers),
        migrations.RemoveConstraint(
            model_name="withdrawalevent",
            name="withdrawalevent_is_a_move_of_the_table",
        ),
        migrations.AddConstraint(
            model_name="withdrawalevent",
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('event', 'created'), ('from_state', ''), ('to_state', 'draft')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'queued')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'review')), models.Q(('event', 'checks_failed'), ('from_state', 'draft'), ('to_state', 'cancelled')), models.Q(('event', 'approval_recorded'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'quorum_reached'), ('from_state', 'review'), ('to_state', 'queued')), models.Q(('event', 'judged_again'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'judged_again'), ('from_state', 'queued'), ('to_state', 'queued')), models.Q(('event', 'judged_again'), ('from_state', 'queued'), ('to_state', 'review')), models.Q(('event', 'hold_claimed'), ('from_state', 'queued'), ('to_state', 'holding')), models.Q(('event', 'hold_accepted'), ('from_state', 'holding'), ('to_state', 'held')), models.Q(('event', 'hold_refused'), ('from_state', 'holding'), ('to_state', 'refused')), models.Q(('event', 'hold_not_sent'), ('from_state', 'holding'), ('to_state', 'queued')), models.Q(('event', 'hold_unknown'), ('from_state', 'holding'), ('to_state', 'hold_unknown')), models.Q(('event', 'hold_adopted'), ('from_state', 'hold_unknown'), ('to_state', 'held')), models.Q(('event', 'hold_not_found'), ('from_state', 'hold_unknown'), ('to_state', 'lapsed')), models.Q(('event', 'hold_ambiguous'), ('from_state', 'hold_unknown'), ('to_state', 'investigate')), models.Q(('event', 'echo_agrees'), ('from_state', 'held'), ('to_state', 'held')), models.Q(('event', 'echo_differs'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'executed_without_us'), ('from_state', 'held'), ('to_state', 'investigate')), models.Q(('event', 'executed_without_us'), ('from_state', 'committing'), ('to_state', 'investigate')), models.Q(('event', 'approval_recorded'), ('from_state', 'held'), ('to_state', 'held')), models.Q(('event', 'quorum_reached'), ('from_state', 'held'), ('to_state', 'committing')), models.Q(('event', 'rejected'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'cancelled'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'time_over'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'frozen'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'policy_changed'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'fee_drifted'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'ended_at_exchange'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'recalled'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'frozen'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'echo_differs'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'commit_claimed'), ('from_state', 'committing'), ('to_state', 'committing')), models.Q(('event', 'commit_confirmed'), ('from_state', 'committing'), ('to_state', 'committed')), models.Q(('event', 'commit_unconfirmed'), ('from_state', 'committing'), ('to_state', 'committing')), models.Q(('event', 'commit_stopped'), ('from_state', 'committing'), ('to_state', 'commit_unknown')), models.Q(('event', 'commit_confirmed'), ('from_state', 'commit_unknown'), ('to_state', 'committed')), models.Q(('event', 'commit_not_carried_out'), ('from_state', 'commit_unknown'), ('to_state', 'expired')), models.Q(('event', 'still_unclear'), ('from_state', 'commit_unknown'), ('to_state', 'investigate')), models.Q(('event', 'rollback_claimed'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'released'), ('from_state', 'rolling_back'), ('to_state', 'rolled_back')), models.Q(('event', 'rollback_unconfirmed'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'escalated'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'paid_anyway'), ('from_state', 'rolling_back'), ('to_state', 'investigate')), models.Q(('event', 'hash_seen'), ('from_state', 'committed'), ('to_state', 'sent')), models.Q(('event', 'exchange_succeeded'), ('from_state', 'sent'), ('to_state', 'settled')), models.Q(('event', 'exchange_succeeded'), ('from_state', 'committed'), ('to_state', 'settled')), models.Q(('event', 'proven'), ('from_state', 'settled'), ('to_state', 'verified')), models.Q(('event', 'proof_lost'), ('from_state', 'sent'), ('to_state', 'disputed')), models.Q(('event', 'proof_lost'), ('from_state', 'settled'), ('to_state', 'disputed')), models.Q(('event', 'proof_lost'), ('from_state', 'verified'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'settled'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'verified'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'committed'), ('to_state', 'failed')), models.Q(('event', 'exchange_failed'), ('from_state', 'sent'), ('to_state', 'failed')), models.Q(('event', 'cancelled'), ('from_state', 'draft'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'rejected'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'queued'), ('to_state', 'cancelled')), models.Q(('event', 'resolution_recorded'), ('from_state', 'investigate'), ('to_state', 'investigate')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_paid')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_not_paid')), models.Q(('event', 'resolution_recorded'), ('from_state', 'disputed'), ('to_state', 'disputed')), models.Q(('event', 'resolved'), ('from_state', 'disputed'), ('to_state', 'resolved_paid')), models.Q(('event', 'resolved'), ('from_state', 'disputed'), ('to_state', 'resolved_not_paid')), models.Q(('event', 'proven_again'), ('from_state', 'disputed'), ('to_state', 'verified')), _connector='OR'), name='withdrawalevent_is_a_move_of_the_table'),
        ),
        migrations.RunPython(install_triggers, remove_triggers),
        migrations.CreateModel(
            name="PayoutProof",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("txid", models.CharField(max_length=64)),
                ("wanted_sat", models.BigIntegerField()),
                (
                    "standing",
                    models.CharField(choices=[(name, name) for name in STANDINGS], default="unseen", max_length=12),
                ),
                ("sentence", models.CharField(blank=True, default="", max_length=500)),
                ("checks", models.JSONField(default=list)),
                ("output", models.PositiveIntegerField(null=True)),
                ("block_hash", models.CharField(blank=True, default="", max_length=64)),
                ("height", models.BigIntegerField(null=True)),
                ("depth", models.PositiveIntegerField(default=0)),
                ("tip_hash", models.CharField(blank=True, default="", max_length=64)),
                ("absent_since", models.DateTimeField(null=True)),
                ("final_at", models.DateTimeField(null=True)),
                ("looked_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(null=True)),
                ("problem", models.CharField(blank=True, default="", max_length=300)),
                ("next_look_at", models.DateTimeField(null=True)),
                (
                    "withdrawal",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="proof",
                        to="exchange_ops.withdrawal",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["next_look_at"], name="payoutproof_due")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("standing__in", STANDINGS)), name="payoutproof_known_standing"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("standing", "proven"), _negated=True),
                            models.Q(("depth__gte", 1), models.Q(("block_hash", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="payoutproof_has_a_block",
                    ),
                ],
            },
        ),
    ]
