from django.db import migrations, models

from exchange_ops import order_triggers


def renew_triggers(apps, schema_editor):
    order_triggers.remove(schema_editor.connection)
    order_triggers.install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0013_follower_lag")]

    operations = [
        migrations.AddField(
            model_name="marginaccount",
            name="reason",
            field=models.CharField(blank=True, default="", max_length=40),
        ),
        migrations.RunPython(renew_triggers, migrations.RunPython.noop),
    ]
