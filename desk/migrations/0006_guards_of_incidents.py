from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "desk_incident_moves_with_event": "desk_incident",
    "desk_incident_content_fixed": "desk_incident",
    "desk_incident_begins": "desk_incident",
    "desk_incident_fills_once": "desk_incident",
    "desk_incidentevent_no_edit": "desk_incidentevent",
    "desk_incident_no_removal": "desk_incident",
    "desk_incidentevent_no_removal": "desk_incidentevent",
}
SQLITE = {
    "desk_incident_moves_with_event": (
        "CREATE TRIGGER desk_incident_moves_with_event BEFORE UPDATE ON desk_incident WHEN (NEW.state IS NOT OLD.state "
        "OR NEW.version IS NOT OLD.version) AND NOT (NEW.version = OLD.version + 1 AND EXISTS (SELECT 1 FROM "
        "desk_incidentevent e WHERE e.incident_id = NEW.id AND e.version = NEW.version AND e.from_state = OLD.state "
        "AND e.to_state = NEW.state)) BEGIN SELECT RAISE(ABORT, 'an incident moves only together with the event of its "
        "new version'); END"
    ),
    "desk_incident_content_fixed": (
        "CREATE TRIGGER desk_incident_content_fixed BEFORE UPDATE ON desk_incident WHEN NEW.kind IS NOT OLD.kind OR "
        "NEW.cause IS NOT OLD.cause OR NEW.scope IS NOT OLD.scope OR NEW.severity IS NOT OLD.severity OR NEW.page IS "
        "NOT OLD.page OR NEW.page_key IS NOT OLD.page_key OR NEW.created_at IS NOT OLD.created_at BEGIN SELECT "
        "RAISE(ABORT, 'what was asked for in an incident is never edited'); END"
    ),
    "desk_incident_begins": (
        "CREATE TRIGGER desk_incident_begins BEFORE INSERT ON desk_incident WHEN NEW.state <> 'open' OR NEW.version <> "
        "1 OR NEW.gone_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'an incident begins as open'); END"
    ),
    "desk_incident_fills_once": (
        "CREATE TRIGGER desk_incident_fills_once BEFORE UPDATE ON desk_incident WHEN (OLD.gone_at IS NOT NULL AND "
        "NEW.gone_at IS NOT OLD.gone_at) BEGIN SELECT RAISE(ABORT, 'an incident keeps what it was given'); END"
    ),
    "desk_incidentevent_no_edit": (
        "CREATE TRIGGER desk_incidentevent_no_edit BEFORE UPDATE ON desk_incidentevent WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'the history of money is never changed'); END"
    ),
    "desk_incident_no_removal": (
        "CREATE TRIGGER desk_incident_no_removal BEFORE DELETE ON desk_incident WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, "
        "'rows about money are never removed'); END"
    ),
    "desk_incidentevent_no_removal": (
        "CREATE TRIGGER desk_incidentevent_no_removal BEFORE DELETE ON desk_incidentevent WHEN 1 = 1 BEGIN SELECT "
        "RAISE(ABORT, 'rows about money are never removed'); END"
    ),
}
POSTGRESQL = {
    "desk_incident_moves_with_event": (
        "CREATE FUNCTION desk_incident_moves_with_event() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "(NEW.state IS DISTINCT FROM OLD.state OR NEW.version IS DISTINCT FROM OLD.version) AND NOT (NEW.version = "
        "OLD.version + 1 AND EXISTS (SELECT 1 FROM desk_incidentevent e WHERE e.incident_id = NEW.id AND e.version = "
        "NEW.version AND e.from_state = OLD.state AND e.to_state = NEW.state)) THEN RAISE EXCEPTION 'an incident moves "
        "only together with the event of its new version' USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $body$; CREATE TRIGGER desk_incident_moves_with_event BEFORE UPDATE ON desk_incident FOR EACH "
        "ROW EXECUTE FUNCTION desk_incident_moves_with_event()"
    ),
    "desk_incident_content_fixed": (
        "CREATE FUNCTION desk_incident_content_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.kind IS "
        "DISTINCT FROM OLD.kind OR NEW.cause IS DISTINCT FROM OLD.cause OR NEW.scope IS DISTINCT FROM OLD.scope OR "
        "NEW.severity IS DISTINCT FROM OLD.severity OR NEW.page IS DISTINCT FROM OLD.page OR NEW.page_key IS DISTINCT "
        "FROM OLD.page_key OR NEW.created_at IS DISTINCT FROM OLD.created_at THEN RAISE EXCEPTION 'what was asked for "
        "in an incident is never edited' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END "
        "$body$; CREATE TRIGGER desk_incident_content_fixed BEFORE UPDATE ON desk_incident FOR EACH ROW EXECUTE "
        "FUNCTION desk_incident_content_fixed()"
    ),
    "desk_incident_begins": (
        "CREATE FUNCTION desk_incident_begins() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF NEW.state <> "
        "'open' OR NEW.version <> 1 OR NEW.gone_at IS NOT NULL THEN RAISE EXCEPTION 'an incident begins as open' USING "
        "ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_incident_begins BEFORE INSERT ON desk_incident FOR EACH ROW EXECUTE FUNCTION desk_incident_begins()"
    ),
    "desk_incident_fills_once": (
        "CREATE FUNCTION desk_incident_fills_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF (OLD.gone_at "
        "IS NOT NULL AND NEW.gone_at IS DISTINCT FROM OLD.gone_at) THEN RAISE EXCEPTION 'an incident keeps what it was "
        "given' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; CREATE TRIGGER "
        "desk_incident_fills_once BEFORE UPDATE ON desk_incident FOR EACH ROW EXECUTE FUNCTION "
        "desk_incident_fills_once()"
    ),
    "desk_incidentevent_no_edit": (
        "CREATE FUNCTION desk_incidentevent_no_edit() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'the history of money is never changed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN NEW; END $body$; CREATE TRIGGER desk_incidentevent_no_edit BEFORE UPDATE ON desk_incidentevent FOR "
        "EACH ROW EXECUTE FUNCTION desk_incidentevent_no_edit()"
    ),
    "desk_incident_no_removal": (
        "CREATE FUNCTION desk_incident_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 THEN "
        "RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; END "
        "IF; RETURN OLD; END $body$; CREATE TRIGGER desk_incident_no_removal BEFORE DELETE ON desk_incident FOR EACH "
        "ROW EXECUTE FUNCTION desk_incident_no_removal()"
    ),
    "desk_incidentevent_no_removal": (
        "CREATE FUNCTION desk_incidentevent_no_removal() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF 1 = 1 "
        "THEN RAISE EXCEPTION 'rows about money are never removed' USING ERRCODE = 'integrity_constraint_violation'; "
        "END IF; RETURN OLD; END $body$; CREATE TRIGGER desk_incidentevent_no_removal BEFORE DELETE ON "
        "desk_incidentevent FOR EACH ROW EXECUTE FUNCTION desk_incidentevent_no_removal()"
    ),
}


def install(apps, schema_editor):
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        for name, table in TABLES.items():
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}; DROP FUNCTION IF EXISTS {name}()")
        for statement in (SQLITE if connection.vendor == "sqlite" else POSTGRESQL).values():
            cursor.execute(statement)


class Migration(migrations.Migration):
    """The guards of incidents, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("desk", "0005_incidents_and_comments")]

    operations = [migrations.RunPython(install)]
