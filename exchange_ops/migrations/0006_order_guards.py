from django.db import migrations

from exchange_ops import order_triggers


def install_triggers(apps, schema_editor):
    order_triggers.install(schema_editor.connection)


def remove_triggers(apps, schema_editor):
    order_triggers.remove(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0005_orders_and_margin")]

    operations = [migrations.RunPython(install_triggers, remove_triggers)]
