"""The database's own guard of the audit trail: no change, no removal, no gap, on both engines.

Kept as data so that the migration installs exactly what `verify_audit` expects to find later.
"""
# ruff: noqa: S608  these statements are put together from constants of this module alone

from typing import Any

_ONLY_NEXT = "the audit trail takes only the next event of the chain"
_NO_CHANGE = "the audit trail is never changed"

SQLITE = {
    "audit_no_update": f"""CREATE TRIGGER audit_no_update BEFORE UPDATE ON desk_auditevent
BEGIN SELECT RAISE(ABORT, '{_NO_CHANGE}'); END""",
    "audit_no_delete": f"""CREATE TRIGGER audit_no_delete BEFORE DELETE ON desk_auditevent
BEGIN SELECT RAISE(ABORT, '{_NO_CHANGE}'); END""",
    # Also stops INSERT OR REPLACE, whose hidden delete fires no delete trigger unless recursive triggers are on.
    "audit_only_next": f"""CREATE TRIGGER audit_only_next BEFORE INSERT ON desk_auditevent
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM desk_auditevent)
  OR NEW.prev IS NOT COALESCE((SELECT hash FROM desk_auditevent ORDER BY seq DESC LIMIT 1), '{"0" * 64}')
BEGIN SELECT RAISE(ABORT, '{_ONLY_NEXT}'); END""",
}

POSTGRESQL_FUNCTIONS = {
    "desk_audit_refuse": f"""CREATE FUNCTION desk_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN RAISE EXCEPTION '{_NO_CHANGE}' USING ERRCODE = 'integrity_constraint_violation'; END
$body$""",
    "desk_audit_only_next": f"""CREATE FUNCTION desk_audit_only_next() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE head record;
BEGIN
  SELECT seq, hash INTO head FROM desk_auditevent ORDER BY seq DESC LIMIT 1;
  IF NEW.seq <> COALESCE(head.seq, 0) + 1 OR NEW.prev <> COALESCE(head.hash, repeat('0', 64)) THEN
    RAISE EXCEPTION '{_ONLY_NEXT}' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$body$""",
}

POSTGRESQL = {
    "audit_no_change": """CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON desk_auditevent
FOR EACH ROW EXECUTE FUNCTION desk_audit_refuse()""",
    # Row triggers do not see TRUNCATE: without this one the owner of the table could empty it unnoticed.
    "audit_no_truncate": """CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON desk_auditevent
FOR EACH STATEMENT EXECUTE FUNCTION desk_audit_refuse()""",
    "audit_only_next": """CREATE TRIGGER audit_only_next BEFORE INSERT ON desk_auditevent
FOR EACH ROW EXECUTE FUNCTION desk_audit_only_next()""",
}

# What the catalogue of PostgreSQL says of each: its kind (bits: 1 row, 2 before, 4 insert, 8 delete, 16 update, 32
# truncate) and the function it runs.
POSTGRESQL_SHAPES = {
    "audit_no_change": (1 + 2 + 8 + 16, "desk_audit_refuse"),
    "audit_no_truncate": (2 + 32, "desk_audit_refuse"),
    "audit_only_next": (1 + 2 + 4, "desk_audit_only_next"),
}


def install(connection: Any) -> None:
    """Create the triggers; used by the migration."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for statement in SQLITE.values():
                cursor.execute(statement)
            return
        for statement in (*POSTGRESQL_FUNCTIONS.values(), *POSTGRESQL.values()):
            cursor.execute(statement)


def remove(connection: Any) -> None:
    """Drop the triggers; used to migrate backwards and by tests that empty the tables."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name in SQLITE:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            return
        for name in POSTGRESQL:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON desk_auditevent")
        for name in POSTGRESQL_FUNCTIONS:
            cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")
