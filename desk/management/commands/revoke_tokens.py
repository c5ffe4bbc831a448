from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from desk import clock, models
from desk.people import tokens


class Command(BaseCommand):
    help = "Revoke all of a person's API tokens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        person = models.Person.objects.filter(username=options["username"]).first()
        if person is None:
            raise CommandError(f"There is no user named {options['username']!r}.")
        ended = tokens.revoke_all(person=person, now=clock.now())
        self.stdout.write(f"{ended} tokens for {person.username} revoked.")
