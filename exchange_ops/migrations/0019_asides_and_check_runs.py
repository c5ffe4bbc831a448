from django.db import migrations, models


class Migration(migrations.Migration):
    """What could not be taken in is cleared by what is known of it; scheduled checks leave what they found."""

    dependencies = [("exchange_ops", "0018_release_of_open_holds")]

    operations = [
        migrations.AddField("ledgeraside", "index", models.BigIntegerField(null=True)),
        migrations.AddField("ledgeraside", "after_index", models.BigIntegerField(null=True)),
        migrations.CreateModel(
            name="CheckRun",
            fields=[
                ("name", models.CharField(max_length=60, primary_key=True, serialize=False)),
                ("tried_at", models.DateTimeField(null=True)),
                ("ran_at", models.DateTimeField(null=True)),
                ("took_ms", models.PositiveIntegerField(default=0)),
                ("held", models.BooleanField(null=True)),
                ("findings", models.JSONField(default=list)),
                ("problem", models.CharField(blank=True, default="", max_length=300)),
            ],
        ),
    ]
