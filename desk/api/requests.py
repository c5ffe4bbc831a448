"""What a resource of the interface is asked with."""

from rest_framework.request import Request

from desk.models import Person


class ApiRequest(Request):
    """A request as the methods of a resource have it: its permission let a person through.

    A type alone. The framework makes the requests.
    """

    user: Person
