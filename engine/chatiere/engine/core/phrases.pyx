"""Phrases, the contents of labels and refusals. They are written as text in each language, or as messages."""

from string import Formatter

from chatiere.engine.core.game import COMMON_FAULTS
from chatiere.engine.core.languages import CORE, LANGUAGES, SMALL_NUMBERS, Plural, catalogue, language_number

from chatiere.engine.core.operations cimport MAX_SEATS

cimport chatiere.fields.game as fields

cdef enum:
    # Used instead of the argument that determines a template's form if the template has only one form.
    ONE_FORM = 0xFF
    # Used instead of the place of a value for arguments that are not a single value of the event.
    SEAT_OF_EVENT = 0xFF
    ALL_VALUES = 0xFE

# The phrases that all games share: the texts of faults, the words for a seat, and the separators of a list.
COMMON = {fault.key: fault.message for fault in COMMON_FAULTS.values()} | {
    "argument.seat": "seat {number}",
    "list.two": " and ",
    "list.middle": ", ",
    "list.last": ", and ",
}


cdef class Phrases:
    """The phrases of a game.

    A phrase has a key and a template with placeholders in braces. A Phrase message contains the key and the numbers of
    the arguments. The first word of a key names the subject of the phrase: "action", "outcome", "prompt", "event",
    "end", "rule" (for a move's fault) or "state" (for a state's fault). A template that is a Plural has several forms.
    """

    def __init__(self, package, templates, events, ends, faults, kinds, pieces, values=None, lists=()):
        """Compile the templates in all languages.

        Args:
            package: The package that contains the catalogues.
            templates: The templates in English, by key.
            events: A mapping of kinds of events to a name, the template, and the template for viewers who may not see
                the values, if it differs.
            ends: A mapping of numbers from 1 on to a name and the template. The argument of the template can be the
                seat.
            faults: FaultTexts. Their messages are phrases with the keys of the FaultTexts.
            kinds: A mapping of names of arguments to the Piece.kind of their numbers, or to "seat". Other arguments are
                plain numbers.
            pieces: All pieces of the game.
            values: A mapping of kinds of events to the names of their values. None means that no values have names. An
                argument that is not among the names, or is one of `lists`, has all values.
            lists: The names of arguments that have all values of an event.
        """
        english = dict(templates)
        for name, template, *hidden in events.values():
            english[f"event.{name}"] = template
            if hidden:
                english[f"event.{name}_hidden"] = hidden[0]
        english |= {f"end.{name}": template for name, template in ends}
        english |= {fault.key: fault.message for fault in faults} | COMMON
        self.kinds = kinds
        self.keys = tuple(english)
        self.numbers = {key: number for number, key in enumerate(english)}
        self.arguments = tuple(_arguments_of(_whole(template)) for template in english.values())
        self.plurals = bytes(
            names.index(template.argument) if isinstance(template, Plural) else ONE_FORM
            for template, names in zip(english.values(), self.arguments)
        )
        self.heads = tuple(_text_field(fields.PHRASE_KEY, key) for key in self.keys)
        self.argument_heads = tuple(
            tuple(_text_field(fields.PHRASE_ARGUMENT_NAME, name) for name in names) for names in self.arguments
        )
        self.texts = [self.translated(package, english, language) for language in LANGUAGES]
        self.templates = tuple(
            tuple(_compiled(text, names) for text, names in zip(texts.values(), self.arguments))
            for texts in self.texts
        )
        common = [
            {key: catalogue(CORE, language)(key, text) for key, text in COMMON.items()} for language in LANGUAGES
        ]
        self.separators = tuple(
            tuple(texts[f"list.{place}"].encode() for place in ("two", "middle", "last")) for texts in common
        )
        self.seats = tuple(
            tuple(texts["argument.seat"].format(number=seat).encode() for seat in range(MAX_SEATS)) for texts in common
        )
        self.forms = tuple(_forms(catalogue(package, language)) for language in LANGUAGES)
        named = tuple(
            _names_of(pieces, catalogue(package, language)) | {"seat": seats}
            for language, seats in zip(LANGUAGES, self.seats)
        )
        self.names = tuple(
            tuple(tuple(names.get(kinds.get(argument)) for argument in each) for each in self.arguments)
            for names in named
        )
        self.of_event = self.laid(events, values or {}, lists, "")
        self.of_hidden_event = self.laid(events, values or {}, lists, "_hidden")
        self.of_end = tuple(self.numbers[f"end.{name}"] for name, _ in ends)

    def translated(self, package, english, language):
        """Return the templates in a language.

        Args:
            package: The package that contains the catalogues.
            english: The templates in English, by key.
            language: The language, such as "fr".

        Returns:
            The templates by key. A Plural becomes a dict that maps each category to a form.

        Raises:
            ValueError: If a template does not have the same placeholders as in English.
        """
        own, common = catalogue(package, language), catalogue(CORE, language)
        texts = {}
        for key, text in english.items():
            translate = common if key in COMMON else own
            texts[key] = translate.forms(key, text) if isinstance(text, Plural) else translate(key, text)
            if set(_arguments_of(_whole(texts[key]))) != set(_arguments_of(_whole(text))):
                raise ValueError(f"{key} in {language} has other placeholders: {texts[key]}")  # uncovered: none has
        return texts

    def laid(self, events, values, lists, ending):
        """Return the phrase whose key ends with `ending`, and the places of its arguments, for each kind of event."""
        found = []
        for kind in range(max(events) + 1):
            number = self.numbers.get(f"event.{events[kind][0]}{ending}") if kind in events else None
            if number is None:
                found.append(None)
                continue
            order = values.get(kind, ())
            places = {name: place for place, name in enumerate(order) if name not in lists} | {"seat": SEAT_OF_EVENT}
            found.append((number, bytes(places.get(name, ALL_VALUES) for name in self.arguments[number])))
        return tuple(found)

    def number(self, key):
        """Return the number of a phrase. Raises KeyError."""
        return self.numbers[key]

    def text(self, key, language):
        """Return the template of a phrase in a language. For a Plural, return the form for most numbers.

        Args:
            key: The key of the phrase.
            language: The language, such as "fr".

        Raises:
            KeyError: If there is no phrase with this key.
            ValueError: If the language is not supported.
        """
        return _whole(self.texts[language_number(language)][key])

    def infos(self, language):
        """Return the phrases in a language as the values of PhraseInfo messages, by key. Raises ValueError."""
        texts = self.texts[language_number(language)]
        return [
            {
                "key": key,
                "text": _whole(texts[key]),
                "arguments": [
                    {"name": name, "kind": self.kinds.get(name, "")} for name in self.arguments[self.numbers[key]]
                ],
                **self.forms_info(key, texts[key]),
            }
            for key in sorted(texts)
        ]

    def forms_info(self, key, text):
        """Return the fields of a PhraseInfo about a template's forms. Empty if the template has only one form."""
        if isinstance(text, str):
            return {}
        number = self.numbers[key]
        return {
            "plural_argument": self.arguments[number][self.plurals[number]],
            "forms": [{"category": category, "text": form} for category, form in sorted(text.items())],
        }

    cdef int say_event(self, const Event* event, Said* said) except -1:
        cdef tuple found = self.of_event[event.kind]
        cdef bytes order
        cdef const uint8_t* places
        cdef int i, place
        if event.count == 0 and self.of_hidden_event[event.kind] is not None:
            found = self.of_hidden_event[event.kind]
        order = found[1]
        places = order
        say(said, found[0])
        for i in range(len(order)):
            place = places[i]
            if place == SEAT_OF_EVENT:
                add_number(said, event.seat)
            elif place == ALL_VALUES:
                add_numbers(said, event.values, event.count)
            else:
                add_number(said, event.values[place])
        return 0

    cdef int say_end(self, int end, int seat, Said* said) except -1:
        say(said, self.of_end[end - 1])
        if self.arguments[said.phrase]:
            add_number(said, seat)
        return 0

    cdef int put_text(self, Writer out, const Said* said, int language, tuple seats) except -1:
        cdef int plural = (<const uint8_t*> <const char*> self.plurals)[said.phrase]
        cdef object text = (<tuple> self.templates[language])[said.phrase]
        cdef bytes template = text if plural == ONE_FORM else self.form_of(text, said, plural, language)
        cdef tuple names = (<tuple> self.names[language])[said.phrase]
        cdef tuple known
        cdef const char* begin = template
        cdef const char* end = begin
        cdef int argument
        while True:
            while <uint8_t> end[0] > MAX_ARGUMENTS:
                end += 1
            out.characters(begin, end)
            if end[0] == 0:
                return 0
            argument = end[0] - 1
            known = names[argument]
            if seats is not None and known is self.seats[language]:
                known = seats
            self.put_argument(out, said, argument, known, language)
            end += 1
            begin = end

    cdef int put_argument(self, Writer out, const Said* said, int argument, tuple names, int language) except -1:
        cdef int i, first = said.ends[argument - 1] if argument else 0, end = said.ends[argument]
        for i in range(first, end):
            if i > first:
                out.fields((<tuple> self.separators[language])[0 if end - first == 2 else 2 if i == end - 1 else 1])
            if names is None:
                out.decimal(said.numbers[i])
            else:
                out.fields(names[said.numbers[i]])
        return 0

    cdef bytes form_of(self, tuple forms, const Said* said, int argument, int language):
        # Return the form of a template for an argument. For pieces and seats, the form depends on the number of
        # elements.
        cdef int first = said.ends[argument - 1] if argument else 0
        cdef int number = said.ends[argument] - first
        if (<tuple> self.names[language])[said.phrase][argument] is None:
            number = abs(said.numbers[first])
        if number >= SMALL:
            number = SMALL // 2 + number % (SMALL // 2)  # uncovered: no game says such a number
        return forms[(<const uint8_t*> <const char*> (<bytes> self.forms[language]))[number]]

    cdef int put_message(self, Writer out, int field, const Said* said) except -1:
        cdef size_t begun = out.begin(field), inner, numbers
        cdef tuple heads = self.argument_heads[said.phrase]
        cdef int argument, i = 0
        out.fields(self.heads[said.phrase])
        for argument in range(said.count):
            inner = out.begin(fields.PHRASE_ARGUMENTS)
            out.fields(heads[argument])
            if i < said.ends[argument]:
                numbers = out.begin(fields.PHRASE_ARGUMENT_NUMBERS)
                while i < said.ends[argument]:
                    out.signed(said.numbers[i])
                    i += 1
                out.end(numbers)
            out.end(inner)
        return out.end(begun)


def phrases_of(description):
    """Return the Phrases of a game's Description."""
    actions = {f"action.{kind.name}": kind.phrase for kind in description.action_kinds if kind.phrase}
    events = {
        int(kind): (kind.name.lower(), event.phrase, *((event.hidden,) if event.hidden else ()))
        for kind, event in description.events.items()
    }
    return Phrases(
        description.package,
        actions | dict(description.phrases),
        events,
        [(end.name.lower(), phrase) for end, phrase in sorted(description.end_phrases.items())],
        description.faults.values(),
        description.argument_kinds,
        description.pieces,
        description.event_values(),
        description.lists,
    )


cdef int SMALL = SMALL_NUMBERS


def _whole(template):
    # Return a template. If it has several forms, return the form for most numbers.
    if isinstance(template, Plural):
        return template.other
    return template["other"] if isinstance(template, dict) else template


def _compiled(text, names):
    # Return a template in the form of Phrases.templates. If the template has several forms, return a tuple of them in
    # the order of the categories.
    if isinstance(text, dict):
        return tuple(_compiled(form, names) for _, form in sorted(text.items()))
    return text.format(**{name: chr(1 + place) for place, name in enumerate(names)}).encode()


def _forms(texts):
    # Return the index of each number's category in the language's list of categories.
    categories = [texts.category(number) for number in range(SMALL_NUMBERS)]
    places = sorted(set(categories))
    return bytes(places.index(category) for category in categories)


def _arguments_of(template):
    # Return the placeholders in order, without duplicates.
    return tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(template) if name is not None))


def _text_field(field, text):
    cdef Writer out = Writer()
    out.text(field, text)
    return bytes(out)


def _names_of(pieces, say):
    # Return the names of each kind's pieces, by number, in the language to which `say` translates.
    found = {}
    for piece in pieces:
        found.setdefault(piece.kind, {})[piece.number] = piece.name.text(say).encode()
    return {kind: tuple(names.get(number, b"") for number in range(max(names) + 1)) for kind, names in found.items()}
