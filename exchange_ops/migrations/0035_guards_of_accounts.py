from django.db import migrations

# Each trigger that is made here, or taken away because it is no longer declared, and its table.
TABLES = {
    "exchange_ops_account_place_fixed": "exchange_ops_account",
}
SQLITE = {
    "exchange_ops_account_place_fixed": (
        "CREATE TRIGGER exchange_ops_account_place_fixed BEFORE UPDATE ON exchange_ops_account WHEN NEW.place IS NOT "
        "OLD.place BEGIN SELECT RAISE(ABORT, 'an account stays at its exchange: its ledger and its keys belong "
        "there'); END"
    ),
}
POSTGRESQL = {
    "exchange_ops_account_place_fixed": (
        "CREATE FUNCTION exchange_ops_account_place_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN IF "
        "NEW.place IS DISTINCT FROM OLD.place THEN RAISE EXCEPTION 'an account stays at its exchange: its ledger and "
        "its keys belong there' USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NEW; END $body$; "
        "CREATE TRIGGER exchange_ops_account_place_fixed BEFORE UPDATE ON exchange_ops_account FOR EACH ROW EXECUTE "
        "FUNCTION exchange_ops_account_place_fixed()"
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
    """The guards of accounts, made anew. There is no way back: what held a row is not taken away from it."""

    dependencies = [("exchange_ops", "0034_account_places")]

    operations = [migrations.RunPython(install)]
