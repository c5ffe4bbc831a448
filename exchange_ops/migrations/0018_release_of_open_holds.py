import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

_T = "exchange_ops_holdreleasevote"
_PARTS = ("is_confirmed", "not_by_the_initiator", "no_edit", "no_removal")
_WHEN = {
    "is_confirmed": "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id "
    "AND s.purpose = 'release-hold' AND s.digest = NEW.digest)",
    "not_by_the_initiator": "EXISTS (SELECT 1 FROM exchange_ops_withdrawal w WHERE w.id = NEW.withdrawal_id "
    "AND w.initiator_id = NEW.person_id)",
    "no_edit": "1 = 1",
    "no_removal": "1 = 1",
}
_SAYS = {
    "is_confirmed": "a release is ordered with a second factor of the person for exactly this hold",
    "not_by_the_initiator": "nobody decides on their own request",
    "no_edit": "the history of money is never changed",
    "no_removal": "rows about money are never removed",
}
_KIND = {"is_confirmed": "INSERT", "not_by_the_initiator": "INSERT", "no_edit": "UPDATE", "no_removal": "DELETE"}
_kept: list[str] = []


def take_triggers_away(apps, schema_editor):
    """A table that gets another constraint is made anew on SQLite, and triggers that name it stand in the way."""
    if schema_editor.connection.vendor != "sqlite":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
        found = cursor.fetchall()
        _kept[:] = [sql for _, sql in found]
        for name, _ in found:
            cursor.execute(f'DROP TRIGGER "{name}"')


def put_triggers_back(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for sql in _kept:
            cursor.execute(sql)
    _kept.clear()


def guard_votes(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for part in _PARTS:
            cursor.execute(_statement(schema_editor.connection.vendor, part))


def leave_votes(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        for part in _PARTS:
            if schema_editor.connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {_T}_{part}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {_T}_{part} ON {_T}; DROP FUNCTION IF EXISTS {_T}_{part}()")


def _statement(vendor, part):
    kind, when, says = _KIND[part], _WHEN[part], _SAYS[part]
    if vendor == "sqlite":
        return (
            f"CREATE TRIGGER {_T}_{part} BEFORE {kind} ON {_T} WHEN {when} BEGIN SELECT RAISE(ABORT, '{says}'); END"
        )
    kept = "OLD" if kind == "DELETE" else "NEW"
    return (
        f"CREATE FUNCTION {_T}_{part}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF {when} THEN "
        f"RAISE EXCEPTION '{says}' USING ERRCODE = 'integrity_constraint_violation'; "
        f"END IF; RETURN {kept}; END $body$; "
        f"CREATE TRIGGER {_T}_{part} BEFORE {kind} ON {_T} FOR EACH ROW EXECUTE FUNCTION {_T}_{part}()"
    )


class Migration(migrations.Migration):
    """Two people order the release of a hold that outlived its request; an order to pay that was never told ends."""

    dependencies = [
        ("desk", "0002_guards_and_cache"),
        ("exchange_ops", "0016_words_with_their_second_factor"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(take_triggers_away, put_triggers_back),
        migrations.RemoveConstraint(model_name="withdrawalevent", name="withdrawalevent_is_a_move_of_the_table"),
        migrations.AddConstraint(
            model_name="withdrawalevent",
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('event', 'created'), ('from_state', ''), ('to_state', 'draft')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'queued')), models.Q(('event', 'submitted'), ('from_state', 'draft'), ('to_state', 'review')), models.Q(('event', 'checks_failed'), ('from_state', 'draft'), ('to_state', 'cancelled')), models.Q(('event', 'approval_recorded'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'quorum_reached'), ('from_state', 'review'), ('to_state', 'queued')), models.Q(('event', 'judged_again'), ('from_state', 'review'), ('to_state', 'review')), models.Q(('event', 'judged_again'), ('from_state', 'queued'), ('to_state', 'queued')), models.Q(('event', 'judged_again'), ('from_state', 'queued'), ('to_state', 'review')), models.Q(('event', 'hold_claimed'), ('from_state', 'queued'), ('to_state', 'holding')), models.Q(('event', 'hold_accepted'), ('from_state', 'holding'), ('to_state', 'held')), models.Q(('event', 'hold_refused'), ('from_state', 'holding'), ('to_state', 'refused')), models.Q(('event', 'hold_not_sent'), ('from_state', 'holding'), ('to_state', 'queued')), models.Q(('event', 'hold_unknown'), ('from_state', 'holding'), ('to_state', 'hold_unknown')), models.Q(('event', 'hold_adopted'), ('from_state', 'hold_unknown'), ('to_state', 'held')), models.Q(('event', 'hold_not_found'), ('from_state', 'hold_unknown'), ('to_state', 'lapsed')), models.Q(('event', 'hold_ambiguous'), ('from_state', 'hold_unknown'), ('to_state', 'investigate')), models.Q(('event', 'echo_agrees'), ('from_state', 'held'), ('to_state', 'held')), models.Q(('event', 'echo_differs'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'executed_without_us'), ('from_state', 'held'), ('to_state', 'investigate')), models.Q(('event', 'executed_without_us'), ('from_state', 'committing'), ('to_state', 'investigate')), models.Q(('event', 'approval_recorded'), ('from_state', 'held'), ('to_state', 'held')), models.Q(('event', 'quorum_reached'), ('from_state', 'held'), ('to_state', 'committing')), models.Q(('event', 'rejected'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'cancelled'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'time_over'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'frozen'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'policy_changed'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'fee_drifted'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'ended_at_exchange'), ('from_state', 'held'), ('to_state', 'rolling_back')), models.Q(('event', 'recalled'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'frozen'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'time_over'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'echo_differs'), ('from_state', 'committing'), ('to_state', 'rolling_back')), models.Q(('event', 'commit_claimed'), ('from_state', 'committing'), ('to_state', 'committing')), models.Q(('event', 'commit_confirmed'), ('from_state', 'committing'), ('to_state', 'committed')), models.Q(('event', 'commit_unconfirmed'), ('from_state', 'committing'), ('to_state', 'committing')), models.Q(('event', 'commit_stopped'), ('from_state', 'committing'), ('to_state', 'commit_unknown')), models.Q(('event', 'commit_confirmed'), ('from_state', 'commit_unknown'), ('to_state', 'committed')), models.Q(('event', 'commit_not_carried_out'), ('from_state', 'commit_unknown'), ('to_state', 'expired')), models.Q(('event', 'still_unclear'), ('from_state', 'commit_unknown'), ('to_state', 'investigate')), models.Q(('event', 'rollback_claimed'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'released'), ('from_state', 'rolling_back'), ('to_state', 'rolled_back')), models.Q(('event', 'rollback_unconfirmed'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'escalated'), ('from_state', 'rolling_back'), ('to_state', 'rolling_back')), models.Q(('event', 'paid_anyway'), ('from_state', 'rolling_back'), ('to_state', 'investigate')), models.Q(('event', 'hash_seen'), ('from_state', 'committed'), ('to_state', 'sent')), models.Q(('event', 'exchange_succeeded'), ('from_state', 'sent'), ('to_state', 'settled')), models.Q(('event', 'exchange_succeeded'), ('from_state', 'committed'), ('to_state', 'settled')), models.Q(('event', 'proven'), ('from_state', 'settled'), ('to_state', 'verified')), models.Q(('event', 'proof_lost'), ('from_state', 'sent'), ('to_state', 'disputed')), models.Q(('event', 'proof_lost'), ('from_state', 'settled'), ('to_state', 'disputed')), models.Q(('event', 'proof_lost'), ('from_state', 'verified'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'settled'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'verified'), ('to_state', 'disputed')), models.Q(('event', 'exchange_failed'), ('from_state', 'committed'), ('to_state', 'failed')), models.Q(('event', 'exchange_failed'), ('from_state', 'sent'), ('to_state', 'failed')), models.Q(('event', 'cancelled'), ('from_state', 'draft'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'rejected'), ('from_state', 'review'), ('to_state', 'cancelled')), models.Q(('event', 'cancelled'), ('from_state', 'queued'), ('to_state', 'cancelled')), models.Q(('event', 'resolution_recorded'), ('from_state', 'investigate'), ('to_state', 'investigate')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_paid')), models.Q(('event', 'resolved'), ('from_state', 'investigate'), ('to_state', 'resolved_not_paid')), models.Q(('event', 'resolution_recorded'), ('from_state', 'disputed'), ('to_state', 'disputed')), models.Q(('event', 'resolved'), ('from_state', 'disputed'), ('to_state', 'resolved_paid')), models.Q(('event', 'resolved'), ('from_state', 'disputed'), ('to_state', 'resolved_not_paid')), models.Q(('event', 'proven_again'), ('from_state', 'disputed'), ('to_state', 'verified')), _connector='OR'), name='withdrawalevent_is_a_move_of_the_table'),
        ),
        migrations.RunPython(put_triggers_back, take_triggers_away),
        migrations.CreateModel(
            name="HoldReleaseVote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("reason", models.CharField(max_length=500)),
                ("at", models.DateTimeField()),
                (
                    "confirmation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="desk.stepup"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "withdrawal",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="release_votes",
                        to="exchange_ops.withdrawal",
                    ),
                ),
            ],
            options={
                "ordering": ["at", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=["withdrawal", "person"], name="holdreleasevote_one_per_person")
                ],
            },
        ),
        migrations.RunPython(guard_votes, leave_votes),
    ]
