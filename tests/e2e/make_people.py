"""Makes people of a house: `python -m tests.e2e.make_people operator=0-39 both=0-3` makes operator-0 to operator-39 ...

Without arguments it makes the crew of a prepared house. All have the published password and second factor of the demo
people. The last line that it prints is a JSON object: for each the key of a session that they have just signed in to.
"""

import json
import sys

import django

ROLES = {
    "operator": "operator",
    "treasury": "treasury",
    "both": "operator,treasury",
    "every": "operator,treasury,admin,auditor",
    "admin": "admin",
    "auditor": "auditor",
    "newcomer": "operator",
}
# About as many as one process of `make test` takes.
CREW = {"operator": 24, "treasury": 24, "both": 2, "every": 4, "admin": 6, "auditor": 12, "newcomer": 2}
# They have signed in while the house was prepared, and come when they are needed: idle from so many seconds later on.
_UNTIL_NEEDED = 7_200


def main() -> None:
    """People, and a session of each."""
    django.setup()
    from django.contrib.auth.hashers import make_password
    from django.db import transaction

    from desk.people import demo

    password, sessions = make_password(demo.DEMO_PASSWORD), {}
    places = dict(argument.split("=") for argument in sys.argv[1:]) or {
        role: f"0-{number - 1}" for role, number in CREW.items()
    }
    with transaction.atomic():
        for role, numbers in places.items():
            first, last = map(int, numbers.split("-"))
            for number in range(first, last + 1):
                sessions[f"{role}-{number}"] = _signed_in(f"{role}-{number}", ROLES[role].split(","), password)
    print(json.dumps(sessions))


def _signed_in(name: str, roles: list[str], password: str) -> str:
    from django.contrib.auth.models import Group
    from django.test import Client

    from desk.models import Person
    from desk.people import demo, own_sessions, session_life, totp
    from desk.personal.models import PersonalSettings
    from desk.web import tours
    from wire.values import Secret

    person = Person.objects.create(username=name, password=password)
    person.groups.set(Group.objects.filter(name__in=roles))
    # Their first day is over: the tour has tests of its own, with people whom it waits for.
    over = {} if name.startswith("newcomer") else dict.fromkeys(roles, tours.OVER)
    PersonalSettings.objects.create(person=person, tours=over)
    totp.enrol(person, Secret(demo.DEMO_TOTP_SECRET))
    client = Client()
    client.force_login(person)
    session = client.session
    session[session_life.SEEN_AT] += _UNTIL_NEEDED
    session[session_life.DEVICE] = own_sessions.device_of("Chrome/ Linux")
    session.save()
    return str(session.session_key)


if __name__ == "__main__":
    main()
