"""Who may come to the chain's part of the interface."""

from collections.abc import Callable

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from chaindata import rules
from desk.models import Person


class MaySeeChain(BasePermission):
    """Every role reads the chain."""

    message = "Your roles don't allow this."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.user, Person) and rules.may_see(request.user)


def reading_or(rule: Callable[[Person], bool], sentence: str) -> type[MaySeeChain]:
    """Everybody who may see reads; what is sent takes more, and who may not reads `sentence`."""

    class MayAct(MaySeeChain):
        message = sentence

        def has_permission(self, request: Request, view: APIView) -> bool:
            person = request.user
            if not (isinstance(person, Person) and super().has_permission(request, view)):
                return False
            return request.method in SAFE_METHODS or rule(person)

    return MayAct
