"""Makes people of a running house: `python -m tests.e2e.make_people crew1:operator crew2:operator,treasury ...`.

All of them have the published password and second factor of the demo people.
"""

import sys

import django


def main() -> None:
    """One person for each argument; one who is there already stays."""
    django.setup()
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import Group

    from desk.models import Person
    from desk.people import demo, totp
    from desk.personal.models import PersonalSettings
    from desk.web import tours
    from wire.values import Secret

    password = make_password(demo.DEMO_PASSWORD)
    for argument in sys.argv[1:]:
        name, _, roles = argument.partition(":")
        person, _ = Person.objects.get_or_create(username=name, defaults={"password": password})
        person.groups.set(Group.objects.filter(name__in=roles.split(",")))
        # Their first day is over: the tour has tests of its own, with people whom it waits for.
        over = {} if name.startswith("newcomer") else dict.fromkeys(roles.split(","), tours.OVER)
        PersonalSettings.objects.get_or_create(person=person, defaults={"tours": over})
        totp.enrol(person, Secret(demo.DEMO_TOTP_SECRET))


if __name__ == "__main__":
    main()
