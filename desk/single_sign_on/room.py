"""What this room declares to the desk."""

from typing import Final

from django.db.models.signals import post_save

from desk.models import Person
from desk.rows import witnessed
from desk.single_sign_on import accounts
from desk.single_sign_on.models import CompanyAccount, CompanyAccountEnd

GUARDS: Final = {"single_sign_on": accounts.GUARDS.statements}


def register() -> None:
    """Declare the tables; called once at the start."""
    witnessed.register(CompanyAccount)
    witnessed.register(CompanyAccountEnd)
    post_save.connect(accounts.end_with_access, sender=Person, dispatch_uid="desk.end_company_accounts")
    never_read = "a table of the sign-in library that stays empty and is never read"
    witnessed.decides_nothing(
        {
            "socialaccount.socialaccount": never_read,
            "socialaccount.socialapp": never_read,
            "socialaccount.socialtoken": never_read,
        }
    )
