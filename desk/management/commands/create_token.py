from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import clock, models
from desk.people import tokens


class Command(BaseCommand):
    help = "Create an API token and print it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="command line", help="what the token is for")
        parser.add_argument("--scope", choices=models.ApiToken.Scope.values, default=models.ApiToken.Scope.DRAFT)
        parser.add_argument("--days", type=int, default=tokens.DEFAULT_DAYS, help="days until it expires, 1 to 366")

    def handle(self, *args: Any, **options: Any) -> None:
        person = models.Person.objects.filter(username=options["username"], is_active=True).first()
        if person is None:
            raise CommandError(f"There is no active user named {options['username']!r}.")
        try:
            wish = {"name": options["name"][:80], "days": options["days"], "scope": options["scope"]}
            row, secret = tokens.create(person=person, now=clock.now(), **wish)
        except ValueError as reason:
            raise CommandError(str(reason)) from None
        self.stderr.write(f"Token for {person.username}, valid until {row.expires_at:%Y-%m-%d}. It is not shown again:")
        self.stdout.write(secret.reveal())
