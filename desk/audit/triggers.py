"""The triggers that guard the audit trail and the row entries: no change, no removal, no gap, on both engines.

`verify_audit` compares these texts with the triggers in the database; migrations contain the text that they install.
"""
# ruff: noqa: S608  these statements are put together from constants of this module alone

from typing import Any

_ONLY_NEXT = "the audit trail takes only the next event of the chain"
_NO_CHANGE = "the audit trail is never changed"
_ONLY_NEXT_ENTRY = "the row entries take only the next of the chain"
_NO_ENTRY_CHANGE = "the row entries are never changed"

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
    "rowwitness_no_update": f"""CREATE TRIGGER rowwitness_no_update BEFORE UPDATE ON desk_rowwitness
BEGIN SELECT RAISE(ABORT, '{_NO_ENTRY_CHANGE}'); END""",
    "rowwitness_no_delete": f"""CREATE TRIGGER rowwitness_no_delete BEFORE DELETE ON desk_rowwitness
BEGIN SELECT RAISE(ABORT, '{_NO_ENTRY_CHANGE}'); END""",
    "rowwitness_only_next": f"""CREATE TRIGGER rowwitness_only_next BEFORE INSERT ON desk_rowwitness
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM desk_rowwitness)
  OR NEW.prev IS NOT COALESCE((SELECT hash FROM desk_rowwitness ORDER BY seq DESC LIMIT 1), '{"0" * 64}')
BEGIN SELECT RAISE(ABORT, '{_ONLY_NEXT_ENTRY}'); END""",
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
    "desk_rows_refuse": f"""CREATE FUNCTION desk_rows_refuse() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN RAISE EXCEPTION '{_NO_ENTRY_CHANGE}' USING ERRCODE = 'integrity_constraint_violation'; END
$body$""",
    "desk_rows_only_next": f"""CREATE FUNCTION desk_rows_only_next() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE head record;
BEGIN
  SELECT seq, hash INTO head FROM desk_rowwitness ORDER BY seq DESC LIMIT 1;
  IF NEW.seq <> COALESCE(head.seq, 0) + 1 OR NEW.prev <> COALESCE(head.hash, repeat('0', 64)) THEN
    RAISE EXCEPTION '{_ONLY_NEXT_ENTRY}' USING ERRCODE = 'integrity_constraint_violation';
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
    "rowwitness_no_change": """CREATE TRIGGER rowwitness_no_change BEFORE UPDATE OR DELETE ON desk_rowwitness
FOR EACH ROW EXECUTE FUNCTION desk_rows_refuse()""",
    "rowwitness_no_truncate": """CREATE TRIGGER rowwitness_no_truncate BEFORE TRUNCATE ON desk_rowwitness
FOR EACH STATEMENT EXECUTE FUNCTION desk_rows_refuse()""",
    "rowwitness_only_next": """CREATE TRIGGER rowwitness_only_next BEFORE INSERT ON desk_rowwitness
FOR EACH ROW EXECUTE FUNCTION desk_rows_only_next()""",
}


def statements(vendor: str) -> dict[str, str]:
    """Every function and trigger of an engine by name."""
    return SQLITE if vendor == "sqlite" else POSTGRESQL_FUNCTIONS | POSTGRESQL


def install(connection: Any) -> None:
    """Create the triggers; used by tests that empty the tables."""
    with connection.cursor() as cursor:
        for statement in statements(connection.vendor).values():
            cursor.execute(statement)


def remove(connection: Any) -> None:
    """Drop the triggers; used by tests that empty the tables."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name in SQLITE:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            return
        for name, text in POSTGRESQL.items():
            table = "desk_auditevent" if "desk_auditevent" in text else "desk_rowwitness"
            cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}")
        for name in POSTGRESQL_FUNCTIONS:
            cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")
