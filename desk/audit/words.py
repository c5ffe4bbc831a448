"""The events of the audit trail in words: one sentence for each kind, with who did it and to what.

The rooms declare them (`desk.rooms.Room.trail`). What an object is of stands in the first event of the object and is
read from the trail itself, so a row that somebody changed can't change what the trail says.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from django.db.models import CharField, F, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from desk import models, rooms

if TYPE_CHECKING:
    from desk.models import AuditEvent

SYSTEM: Final = "System"  # the name of who acts where no person does
NONE: Final = "\u2013"  # where a fact is empty or was not recorded
THREAD: Final = "thread"  # comments of an object are events of "thread:" and its subject
EXPORTED: Final = ".exported"
ENDS: Final = 4  # characters of each end of an address

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words for the events whose actions begin with `name` and a point.

    `sentences` has one for each event, by the rest of its action. `{who}` is the person or System, `{it}` the object;
    any other name in braces is a fact that the event recorded. `noun` and `mark` make the object's name: "payout W-2".
    `first` are the events that record its content, from which `content` makes a short text. `naming` replaces noun and
    mark where objects have no number for people; it gets the keys of objects and gives the text for each.

    `subject` is the object's name in the trail where it is not `name`, `also` are other subjects about the same object.
    `decisions` are the events by which people of treasury or administrators decide. `model`, with the fields `account`
    and `key` (by which its subjects are named), says which account an object belongs to; without it, the whole desk.
    With `everywhere`, so does an object whose account is empty.
    """

    name: str
    title: str
    noun: str
    sentences: Mapping[str, str]
    mark: str = ""
    subject: str = ""
    also: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    content: Callable[[Facts], str] | None = None
    naming: Callable[[Collection[str]], Mapping[str, str]] | None = None
    decisions: tuple[str, ...] = ()
    model: Any = None
    account: str = "account"
    key: str = "pk"
    everywhere: bool = False

    @property
    def subject_name(self) -> str:
        """What the subjects of its events begin with, before the colon."""
        return self.subject or self.name

    @property
    def prefixes(self) -> tuple[str, ...]:
        """What each subject about one of these objects begins with: its own, others, and those of comments."""
        names = (self.subject_name, *self.also)
        return (*names, *(f"{THREAD}:{name}" for name in names))

    def subjects_of(self, scopes: Collection[str], prefix: str = "") -> QuerySet[Any]:
        """The subjects of the objects of these accounts, as a query; `prefix` is one of `prefixes`."""
        ours = [*scopes, ""] if self.account == "scope" else list(scopes)
        condition = Q(**{f"{self.account}__in": ours})
        if self.everywhere:
            condition |= Q(**{f"{self.account}__isnull": True})
        rows = self.model._default_manager.filter(condition)
        start = Value(f"{prefix or self.subject_name}:")
        subject = Concat(start, Cast(F(self.key), CharField()), output_field=CharField())
        subjects: QuerySet[Any] = rows.order_by().annotate(trail_subject=subject).values("trail_subject")
        return subjects


def declared() -> list[Words]:
    """The words of every room."""
    return rooms.trail()


def of_action(action: str) -> tuple[Words | None, str]:
    """The words for an action and the rest of its name."""
    name, _, event = action.partition(".")
    return next((each for each in declared() if each.name == name), None), event


def template_of(action: str) -> str:
    """The sentence for an action with its braces; empty for an action that no room declares."""
    words, event = of_action(action)
    if action.endswith(EXPORTED):
        return "{who} exported {it}."
    return words.sentences.get(event, "") if words is not None else ""


def decisions() -> list[str]:
    """The actions by which people decide."""
    return [f"{each.name}.{event}" for each in declared() for event in each.decisions]


def subjects_named(text: str) -> list[str]:
    """The subjects of the object that a text names: "W-2", or "withdrawal:2" as the trail has it; else none.

    Its comments are among them.
    """
    text = text.strip()
    for each in declared():
        number = text[len(each.mark) :]
        if each.mark and text.upper().startswith(each.mark.upper()) and number.isascii() and number.isdigit():
            return _with_comments(each, str(int(number)))
    name, colon, key = text.partition(":")
    if not colon or not key:
        return []
    words = next((each for each in declared() if each.subject_name == name), None)
    return _with_comments(words, key) if words is not None else [text]


def _with_comments(words: Words, key: str) -> list[str]:
    subject = f"{words.subject_name}:{key}"
    return [subject, f"{THREAD}:{subject}", *(f"{name}:{key}" for name in words.also)]


def name_of(subject: str) -> str:
    """The object as people call it: "W-2", or as the trail does where it has no such name."""
    bare = subject.removeprefix(f"{THREAD}:")
    name, _, key = bare.partition(":")
    words = next((each for each in declared() if name in (each.subject_name, *each.also)), None)
    return f"{words.mark}{key}" if words is not None and words.mark else bare


# Sentences ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Telling:
    """What the sentences of some events need: the names of people, and what each object is."""

    names: Mapping[int, str] = field(default_factory=dict)
    objects: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)

    def sentence(self, event: "AuditEvent") -> str:
        """What happened, in one sentence. A kind that no room declares any more is named as the trail has it."""
        it = self.objects.get(event.subject) or event.subject
        if event.action.endswith(EXPORTED):
            name = event.action.removesuffix(EXPORTED)
            it = f"the list “{self.lists.get(name, name.replace('_', ' ').capitalize())}”"
        template = template_of(event.action) or "{who} recorded “{action}” on {it}."
        facts = {**_flat(event.after), "action": event.action, "it": it, "who": self.who(event)}
        return template.format_map(defaultdict(lambda: NONE, facts))

    def who(self, event: "AuditEvent") -> str:
        """The name of who did it; a person who is no longer known has a number."""
        if event.actor_id is None:
            return SYSTEM
        return self.names.get(event.actor_id) or f"Person {event.actor_id}"


def telling(events: Sequence["AuditEvent"], *, lists: Mapping[str, str] | None = None) -> Telling:
    """What the sentences of these events need, in a few queries however many they are.

    `lists` are the titles of lists by their names, for exports.
    """
    numbers = {event.actor_id for event in events if event.actor_id is not None}
    people = models.Person.objects.filter(pk__in=numbers).values_list("pk", "username")
    return Telling(dict(people), _objects({event.subject for event in events}), lists or {})


def _objects(subjects: Collection[str]) -> dict[str, str]:
    """What each subject is, in words: "payout W-2: 0.03 BTC to bc1q…f3t4"."""
    keys: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for subject in subjects:
        name, _, key = subject.removeprefix(f"{THREAD}:").partition(":")
        keys[name][subject] = key
    of_kinds = [(each, keys[name]) for each in declared() for name in (each.subject_name, *each.also) if keys.get(name)]
    contents = _contents([(each, of.values()) for each, of in of_kinds])
    texts: dict[str, str] = {}
    for each, of in of_kinds:
        named = each.naming(set(of.values())) if each.naming else _named(each, of.values(), contents)
        texts |= {subject: named[key] for subject, key in of.items() if key in named}
    return texts


def _named(words: Words, keys: Iterable[str], contents: Mapping[str, str]) -> dict[str, str]:
    names = {key: f"{words.noun} {words.mark}{key}".strip() for key in keys}
    texts = {key: contents.get(f"{words.subject_name}:{key}", "") for key in names}
    return {key: f"{name}: {texts[key]}" if texts[key] else name for key, name in names.items()}


def _contents(of_kinds: Iterable[tuple[Words, Iterable[str]]]) -> dict[str, str]:
    """What the objects are of, by their subjects, from the first event of each: one query for all kinds."""
    with_content = [(each, keys) for each, keys in of_kinds if each.content is not None]
    actions = {f"{each.name}.{event}": each for each, _ in with_content for event in each.first}
    subjects = [f"{each.subject_name}:{key}" for each, keys in with_content for key in keys]
    events = models.AuditEvent.objects.filter(subject__in=subjects, action__in=actions).order_by("-seq")
    return {event.subject: _content(actions[event.action], event.after) for event in events}


def _content(words: Words, facts: Facts) -> str:
    return words.content(facts) if words.content is not None else ""


def _flat(facts: Facts) -> dict[str, str]:
    """The recorded facts as text, those of the evidence among them."""
    evidence = facts.get("evidence")
    inner = evidence if isinstance(evidence, Mapping) else {}
    return {name: _text(value) for name, value in {**inner, **facts}.items()}


def _text(value: Any) -> str:
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def money(facts: Facts, *, to: str = "") -> str:
    """An amount with its currency, and where it goes in short."""
    amount, currency = plain(facts.get("amount")), facts.get("currency") or ""
    target = f" to {short(to)}" if to else ""
    return f"{amount} {currency}{target}".strip()


def plain(amount: Any) -> str:
    """An amount of the trail without zeros at its end."""
    text = "" if amount is None else str(amount)
    return text.rstrip("0").rstrip(".") if "." in text else text


def short(text: str) -> str:
    """An address by its two ends."""
    return text if len(text) <= 2 * ENDS + 1 else f"{text[:ENDS]}…{text[-ENDS:]}"


def people(keys: Iterable[str]) -> dict[str, str]:
    """The names of people by their numbers as text."""
    numbers = [int(key) for key in keys if key.isascii() and key.isdigit() and len(key) < 19]
    rows = models.Person.objects.filter(pk__in=numbers).values_list("pk", "username")
    names = {str(number): name for number, name in rows}
    return {key: names.get(key, f"person {key}") for key in keys}
