from django.core.management import call_command
from django.db import migrations

from desk import triggers


def install_triggers(apps, schema_editor):
    triggers.install(schema_editor.connection)


def remove_triggers(apps, schema_editor):
    triggers.remove(schema_editor.connection)


def make_cache_table(apps, schema_editor):
    call_command("createcachetable", database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):
    dependencies = [("desk", "0001_people_and_audit")]

    operations = [
        migrations.RunPython(install_triggers, remove_triggers),
        migrations.RunPython(make_cache_table, migrations.RunPython.noop),
    ]
