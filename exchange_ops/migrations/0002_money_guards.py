from django.db import migrations

from exchange_ops import triggers


def install_triggers(apps, schema_editor):
    triggers.install(schema_editor.connection)


def remove_triggers(apps, schema_editor):
    triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0001_accounts_money_and_rules")]

    operations = [migrations.RunPython(install_triggers, remove_triggers)]
