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
    from wire.values import Secret

    password = make_password(demo.DEMO_PASSWORD)
    for argument in sys.argv[1:]:
        name, _, roles = argument.partition(":")
        person, _ = Person.objects.get_or_create(username=name, defaults={"password": password})
        person.groups.set(Group.objects.filter(name__in=roles.split(",")))
        totp.enrol(person, Secret(demo.DEMO_TOTP_SECRET))


if __name__ == "__main__":
    main()
