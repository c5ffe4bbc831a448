import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Each trigger that is made or taken away here, and its table.
TABLES = {
    "chaindata_chainbroadcast_begins": "chaindata_chainbroadcast",
    "chaindata_chainbroadcast_content_fixed": "chaindata_chainbroadcast",
    "chaindata_chainbroadcast_moves_with_event": "chaindata_chainbroadcast",
    "chaindata_chainbroadcast_no_removal": "chaindata_chainbroadcast",
    "chaindata_chainbroadcast_sent_once": "chaindata_chainbroadcast",
    "chaindata_chainbroadcastevent_no_edit": "chaindata_chainbroadcastevent",
    "chaindata_chainbroadcastevent_no_removal": "chaindata_chainbroadcastevent",
}
SQLITE = {
    "chaindata_chainbroadcast_begins": (
        "CREATE TRIGGER chaindata_chainbroadcast_begins BEFORE INSERT ON chaindata_chainbroadcast WHEN NEW.state "
        "<> 'requested' OR NEW.version <> 1 OR NEW.sends <> 0 BEGIN SELECT RAISE(ABORT, 'a transaction to be sent "
        "begins as requested'); END"
    ),
    "chaindata_chainbroadcast_content_fixed": (
        "CREATE TRIGGER chaindata_chainbroadcast_content_fixed BEFORE UPDATE ON chaindata_chainbroadcast WHEN "
        "NEW.txid IS NOT OLD.txid OR NEW.raw IS NOT OLD.raw OR NEW.size IS NOT OLD.size OR NEW.digest IS NOT "
        "OLD.digest OR NEW.explained IS NOT OLD.explained OR NEW.reason IS NOT OLD.reason OR NEW.requested_by_id "
        "IS NOT OLD.requested_by_id OR NEW.confirmation_id IS NOT OLD.confirmation_id OR NEW.created_at IS NOT "
        "OLD.created_at BEGIN SELECT RAISE(ABORT, 'what was asked for in a transaction to be sent is never "
        "edited'); END"
    ),
    "chaindata_chainbroadcast_moves_with_event": (
        "CREATE TRIGGER chaindata_chainbroadcast_moves_with_event BEFORE UPDATE ON chaindata_chainbroadcast WHEN "
        "(NEW.state IS NOT OLD.state OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND "
        "EXISTS (SELECT 1 FROM chaindata_chainbroadcastevent e WHERE e.broadcast_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'a "
        "transaction to be sent moves only together with the event of its new version'); END"
    ),
    "chaindata_chainbroadcast_no_removal": (
        "CREATE TRIGGER chaindata_chainbroadcast_no_removal BEFORE DELETE ON chaindata_chainbroadcast WHEN 1 = 1 "
        "BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
    "chaindata_chainbroadcast_sent_once": (
        "CREATE TRIGGER chaindata_chainbroadcast_sent_once BEFORE UPDATE ON chaindata_chainbroadcast WHEN "
        "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) BEGIN SELECT "
        "RAISE(ABORT, 'a transaction is sent once at most'); END"
    ),
    "chaindata_chainbroadcastevent_no_edit": (
        "CREATE TRIGGER chaindata_chainbroadcastevent_no_edit BEFORE UPDATE ON chaindata_chainbroadcastevent WHEN "
        "1 = 1 BEGIN SELECT RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "chaindata_chainbroadcastevent_no_removal": (
        "CREATE TRIGGER chaindata_chainbroadcastevent_no_removal BEFORE DELETE ON chaindata_chainbroadcastevent "
        "WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "chaindata_chainbroadcast_begins": (
        "CREATE FUNCTION chaindata_chainbroadcast_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.state <> 'requested' OR NEW.version <> 1 OR NEW.sends <> 0 THEN RAISE EXCEPTION 'a transaction to be "
        "sent begins as requested' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER chaindata_chainbroadcast_begins BEFORE INSERT ON chaindata_chainbroadcast FOR EACH "
        "ROW EXECUTE FUNCTION chaindata_chainbroadcast_begins()"
    ),
    "chaindata_chainbroadcast_content_fixed": (
        "CREATE FUNCTION chaindata_chainbroadcast_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF NEW.txid IS DISTINCT FROM OLD.txid OR NEW.raw IS DISTINCT FROM OLD.raw OR NEW.size IS DISTINCT FROM "
        "OLD.size OR NEW.digest IS DISTINCT FROM OLD.digest OR NEW.explained IS DISTINCT FROM OLD.explained OR "
        "NEW.reason IS DISTINCT FROM OLD.reason OR NEW.requested_by_id IS DISTINCT FROM OLD.requested_by_id OR "
        "NEW.confirmation_id IS DISTINCT FROM OLD.confirmation_id OR NEW.created_at IS DISTINCT FROM "
        "OLD.created_at THEN RAISE EXCEPTION 'what was asked for in a transaction to be sent is never edited' "
        "USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcast_content_fixed BEFORE UPDATE ON chaindata_chainbroadcast FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcast_content_fixed()"
    ),
    "chaindata_chainbroadcast_moves_with_event": (
        "CREATE FUNCTION chaindata_chainbroadcast_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF (NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT "
        "(NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM chaindata_chainbroadcastevent e WHERE "
        "e.broadcast_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state AND e.to_state = "
        "NEW.state)) THEN RAISE EXCEPTION 'a transaction to be sent moves only together with the event of its new "
        "version' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcast_moves_with_event BEFORE UPDATE ON chaindata_chainbroadcast FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcast_moves_with_event()"
    ),
    "chaindata_chainbroadcast_no_removal": (
        "CREATE FUNCTION chaindata_chainbroadcast_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcast_no_removal BEFORE DELETE ON chaindata_chainbroadcast FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcast_no_removal()"
    ),
    "chaindata_chainbroadcast_sent_once": (
        "CREATE FUNCTION chaindata_chainbroadcast_sent_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.sends < OLD.sends OR NEW.sends > 1 OR (NEW.state = 'requested' AND NEW.sends > 0) THEN RAISE "
        "EXCEPTION 'a transaction is sent once at most' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER chaindata_chainbroadcast_sent_once BEFORE UPDATE ON "
        "chaindata_chainbroadcast FOR EACH ROW EXECUTE FUNCTION chaindata_chainbroadcast_sent_once()"
    ),
    "chaindata_chainbroadcastevent_no_edit": (
        "CREATE FUNCTION chaindata_chainbroadcastevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
        "IF 1 = 1 THEN RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcastevent_no_edit BEFORE UPDATE ON chaindata_chainbroadcastevent FOR EACH ROW EXECUTE "
        "FUNCTION chaindata_chainbroadcastevent_no_edit()"
    ),
    "chaindata_chainbroadcastevent_no_removal": (
        "CREATE FUNCTION chaindata_chainbroadcastevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ "
        "BEGIN IF 1 = 1 THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = "
        "'integrity_constraint_violation'; END IF; RETURN OLD; END $body$; CREATE TRIGGER "
        "chaindata_chainbroadcastevent_no_removal BEFORE DELETE ON chaindata_chainbroadcastevent FOR EACH ROW "
        "EXECUTE FUNCTION chaindata_chainbroadcastevent_no_removal()"
    ),
}


def install(apps, schema_editor):
    _replace(schema_editor.connection, SQLITE if schema_editor.connection.vendor == "sqlite" else POSTGRESQL)


def remove(apps, schema_editor):
    _replace(schema_editor.connection, {})


def _replace(connection, texts):
    with connection.cursor() as cursor:
        for name, table in TABLES.items():
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}; DROP FUNCTION IF EXISTS {name}()")
        for statement in texts.values():
            cursor.execute(statement)


class Migration(migrations.Migration):
    """Transactions that are sent from here have events, and the guards of every machine."""

    dependencies = [
        ("chaindata", "0002_broadcasts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ChainBroadcastEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("event", models.CharField(max_length=40)),
                ("from_state", models.CharField(blank=True, default="", max_length=20)),
                ("to_state", models.CharField(max_length=20)),
                ("evidence", models.JSONField(default=dict)),
                (
                    "audit_number",
                    models.BigIntegerField(help_text="number of the row of the audit trail written with it"),
                ),
                ("at", models.DateTimeField()),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "broadcast",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="events", to="chaindata.chainbroadcast"
                    ),
                ),
            ],
            options={
                "ordering": ["version"],
                "constraints": [
                    models.UniqueConstraint(fields=("broadcast", "version"), name="chainbroadcastevent_one_per_version"),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(('event', 'asked'), ('from_state', ''), ('to_state', 'requested')), models.Q(('event', 'found'), ('from_state', 'requested'), ('to_state', 'found')), models.Q(('event', 'claimed'), ('from_state', 'requested'), ('to_state', 'sending')), models.Q(('event', 'stopped'), ('from_state', 'requested'), ('to_state', 'not_sent')), models.Q(('event', 'accepted'), ('from_state', 'sending'), ('to_state', 'sent')), models.Q(('event', 'refused'), ('from_state', 'sending'), ('to_state', 'refused')), models.Q(('event', 'found'), ('from_state', 'sending'), ('to_state', 'found')), models.Q(('event', 'not_sent'), ('from_state', 'sending'), ('to_state', 'not_sent')), models.Q(('event', 'answer_lost'), ('from_state', 'sending'), ('to_state', 'unknown')), models.Q(('event', 'found'), ('from_state', 'unknown'), ('to_state', 'found')), models.Q(('event', 'not_seen'), ('from_state', 'unknown'), ('to_state', 'not_seen')), _connector="OR"),
                        name="chainbroadcastevent_is_a_move_of_the_table",
                    ),
                ],
            },
        ),
        migrations.RunPython(install, remove),
    ]
