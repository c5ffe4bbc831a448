from django.db import migrations

from exchange_ops import subaccount_triggers


def install_triggers(apps, schema_editor):
    subaccount_triggers.install(schema_editor.connection)


def remove_triggers(apps, schema_editor):
    subaccount_triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0011_deposit_addresses")]

    operations = [migrations.RunPython(install_triggers, remove_triggers)]
