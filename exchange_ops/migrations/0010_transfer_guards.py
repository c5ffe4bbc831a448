from django.db import migrations

from exchange_ops import transfer_triggers


def install_triggers(apps, schema_editor):
    transfer_triggers.install(schema_editor.connection)


def remove_triggers(apps, schema_editor):
    transfer_triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0009_transfers")]

    operations = [migrations.RunPython(install_triggers, remove_triggers)]
