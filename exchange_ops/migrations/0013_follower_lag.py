from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("exchange_ops", "0012_subaccount_guards")]

    operations = [
        migrations.AddField("followerstate", "message_at", models.DateTimeField(null=True)),
        migrations.AddField("followerstate", "lag_ms", models.PositiveIntegerField(null=True)),
    ]
