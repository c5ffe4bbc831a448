"""The pages of a person's own settings and of their tour."""

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_http_methods, require_POST

from desk import clock
from desk.models import Person
from desk.personal import choices, formats
from desk.personal.models import Density, Grouping, PersonalSettings, Theme
from desk.views.rendering import show
from desk.web import context, personal, tours
from desk.web.requests import DeskRequest

_COLUMNS = ("zone", "grouping", "density", "theme", "quote_currency", "start_page")


class PersonalForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings. Only pages that this person may open can be their start page."""

    zone = forms.ChoiceField(label="Time zone")
    grouping = forms.ChoiceField(label="Number format", choices=Grouping.choices)
    density = forms.ChoiceField(label="Density", choices=Density.choices)
    theme = forms.ChoiceField(label="Theme", choices=Theme.choices, required=False)
    quote_currency = forms.ChoiceField(label="Currency for totals", required=False)
    start_page = forms.ChoiceField(label="Start page", required=False)

    class Meta:
        model = PersonalSettings
        fields = _COLUMNS

    def __init__(self, person: Person, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        pages = [(entry.url_name, entry.label) for entry in context.pages_of(person) if entry.url_name != "overview"]
        self._choose("zone", [(name, name) for name in formats.zones()])
        self._choose("quote_currency", [("", "The account's currency"), *((code, code) for code in choices.quotes())])
        self._choose("start_page", [("", "Overview"), *pages])

    def _choose(self, name: str, offered: list[tuple[str, str]]) -> None:
        cast(forms.ChoiceField, self.fields[name]).choices = offered


@require_http_methods(["GET", "HEAD", "POST"])
def own(request: DeskRequest) -> HttpResponse:
    """Show and save the settings."""
    person = request.user
    row = personal.settings_of(request) or PersonalSettings(person=person)
    if request.method != "POST":
        return _page(request, PersonalForm(person, instance=row))
    form = PersonalForm(person, request.POST, instance=row)
    if not form.is_valid():
        return _page(request, form, status=422)
    PersonalSettings.objects.update_or_create(
        person=person, defaults={name: form.cleaned_data[name] for name in _COLUMNS}
    )
    messages.success(request, "Settings saved.")
    answer = redirect("personal-settings")
    answer.delete_cookie(personal.THEME_COOKIE)
    return answer


@require_POST
def tour(request: DeskRequest) -> HttpResponse:
    """Go a step on or back, end the tour, or begin it anew; then to the page of the step or the start page."""
    action = request.POST.get("action", "")
    if action not in tours.ACTIONS:
        return HttpResponse("Step not found.", status=422, content_type="text/plain; charset=utf-8")
    person = request.user
    step = tours.move(person, action)
    if action == tours.AGAIN or step is None:
        return redirect("overview") if action == tours.AGAIN else redirect(personal.start_page(person))
    return redirect(reverse(step.url_name))


def _page(request: DeskRequest, form: PersonalForm, *, status: int = 200) -> HttpResponse:
    person = request.user
    settings = personal.settings_of(request)
    has_tour = any(tours.steps_of(role) for role in person.roles)
    context = {
        "form": form,
        "now": clock.now(),
        "has_tour": has_tour,
        "is_tour_over": SimpleLazyObject(lambda: not tours.open_role(person, settings.tours if settings else {})),
    }
    return show(request, "account/personal.html", context, status=status)
