from django.db import migrations, models


class Migration(migrations.Migration):
    """Accounts know which exchange they are at; those from before are at the one of EXCHANGE_URL."""

    dependencies = [('exchange_ops', '0033_guards_of_policy')]

    operations = [
        migrations.AddField(
            model_name="account", name="place", field=models.CharField(default="default", max_length=40)
        ),
    ]
