from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from desk import clock, database_mark
from desk.people import invitations


class Command(BaseCommand):
    help = "Create an administrator and print a one-time link that is valid for a day. Not available in the demo."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", default="", help="e-mail address of the administrator")
        parser.add_argument(
            "--again", action="store_true", help="remove the password and all factors, and print a new link"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.DEMO:
            raise CommandError("Not available in the demo, which comes with its own users.")
        try:
            database_mark.prepare(now=clock.now())
            chosen = {"name": options["username"], "email": options["email"], "again": options["again"]}
            person = invitations.create_admin(**chosen, now=clock.now())
        except (database_mark.WrongDatabase, invitations.CannotInvite) as reason:
            raise CommandError(str(reason)) from None
        self.stderr.write(f"For {person.username} only. The link works once and expires after a day:")
        self.stdout.write(f"{settings.DESK_URL}{reverse('begin')}?code={invitations.code_for(person)}")
