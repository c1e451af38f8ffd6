"""No two names of the API clash in any language for which code is generated."""

import re

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

from .descriptors import api_files
from .names import PHP_CLASSES, clashes


@pytest.mark.parametrize("file", api_files(), ids=lambda file: file.name)
def test_no_names_of_the_api_clash(file: FileDescriptorProto) -> None:
    assert clashes(file) == []


def test_no_types_of_different_files_clash() -> None:
    """All files share one package. In Java, each type becomes a file, and some file systems ignore case."""
    whole = FileDescriptorProto(name="whole.proto", package="chatiere.v1")
    for file in api_files():
        whole.message_type.extend(file.message_type)
        whole.enum_type.extend(file.enum_type)
        whole.service.extend(file.service)
    assert clashes(whole) == []


def test_one_class_has_another_name_in_php() -> None:
    """Only `Include` becomes `PBInclude`. All other languages keep the name, because it reads well."""
    files = list(api_files())
    types = [each.name for file in files for each in file.message_type]
    types += [each.name for file in files for each in file.enum_type]
    assert [name for name in types if name.lower() in PHP_CLASSES] == ["Include"]


def fields(text: str) -> list[FieldDescriptorProto]:
    """Return the given fields, written as `repeated hand, optional hand_size`. The default type is TYPE_UINT32."""
    made = []
    for number, field in enumerate(text.split(", "), 1):
        words = field.split()
        kinds = {word for word in words if word in ("repeated", "optional", "chosen")}
        types = [word for word in words[:-1] if word not in kinds]
        made.append(
            FieldDescriptorProto(
                name=words[-1],
                number=number,
                label=(
                    FieldDescriptorProto.LABEL_REPEATED if "repeated" in kinds else FieldDescriptorProto.LABEL_OPTIONAL
                ),
                type=FieldDescriptorProto.Type.Value(f"TYPE_{(types or ['uint32'])[0].upper()}"),
                oneof_index=0 if "chosen" in kinds else 1 if "optional" in kinds else None,
                proto3_optional="optional" in kinds or None,
            )
        )
    return made


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("repeated hand, hand_size", "C++: hand_size"),
        ("optional card, has_card", "C++: has_card"),
        ("card, clear_card", "C++: clear_card"),
        ("message card, mutable_card", "C++: mutable_card"),
        ("card, set_card", "C++: set_card"),
        ("repeated card, add_card", "C++: add_card"),
        ("message card, release_card", "C++: release_card"),
        ("card, card_", "C++: card_"),
        ("Card, card", "C++: card"),
        ("chosen card, choice_case", "C++: choice_case"),
        ("chosen card, clear_choice", "C++: clear_choice"),
        ("descriptor", "C++: descriptor"),
        ("repeated card, card_count", "Java: getCardCount"),
        ("repeated card, card_list", "Java: getCardList"),
        ("string card, card_bytes", "Java: getCardBytes"),
        ("enum card, card_value", "Java: getCardValue"),
        ("message card, card_builder", "Java: getCardBuilder"),
        ("class", "Java: getClass"),
        ("serialized_size", "Java: getSerializedSize"),
        ("card_a, cardA", "Java: getCardA"),
        ("card_2a, card_2_a", "C#: Card2A"),
        ("planted", "C#: Planted"),
        ("types", "C#: Types"),
        ("chosen card, choice_oneof_case", "C#: ChoiceOneofCase"),
        ("optional card, clear_card", "C#: ClearCard"),
        ("card, get_card", "Go: GetCard"),
        ("string", "Go: String"),
        ("chosen card, which_choice", "Go: WhichChoice"),
        ("repeated card, card_array", "Objective-C: cardArray"),
        ("optional card, has_card", "Swift: hasCard"),
        ("card_x, cardX", "JavaScript: cardX"),
        ("constructor", "JavaScript: constructor"),
        ("from", "Python: from is reserved"),
        ("self", "Python: self is reserved"),
        ("function", "JavaScript: function is reserved"),
        ("type_of, typeof", "JavaScript: typeof"),
        ("delete", "C++: delete is reserved"),
        ("when", "Kotlin: when is reserved"),
    ],
)
def test_a_planted_clash_of_fields_is_found(text: str, found: str) -> None:
    file = FileDescriptorProto(name="planted.proto")
    message = file.message_type.add(name="Planted", field=fields(text))
    message.oneof_decl.add(name="choice")
    if "optional" in text:
        message.oneof_decl.add(name="_optional")
    assert any(re.match(rf"{re.escape(found)}\b", clash) for clash in clashes(file)), clashes(file)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('message_type { name: "Cat" } message_type { name: "CatOrBuilder" }', "Java's types: catorbuilder"),
        ('message_type { name: "Cat" } message_type { name: "CAT" }', "Java's types: cat"),
        ('message_type { name: "PlantedProto" }', "Java's types: plantedproto"),
        ('message_type { name: "CatsGrpc" } service { name: "Cats" }', "Java's types: catsgrpc"),
        ('message_type { name: "PlantedReflection" }', "C#'s types: plantedreflection"),
        ('message_type { name: "Cat" } enum_type { name: "CatSchema" }', "TypeScript's types: catschema"),
        ('message_type { name: "CatsClient" } service { name: "Cats" }', "Go's types: CatsClient"),
        ('message_type { name: "Cat_name" } enum_type { name: "Cat" }', "Go's types: Cat_name"),
        (
            'enum_type { name: "CatCoat" value { name: "CAT_COAT_RED" } value { name: "RED" number: 1 } }',
            "Enums: Red in CatCoat",
        ),
        ('enum_type { name: "CatCoat" value { name: "CAT_COAT_2" } }', "Enums: a digit in CatCoat"),
        ('enum_type { name: "Cat" value { name: "Cat_MAX" } }', "Enums: Cat_MAX"),
        ('enum_type { name: "Cat" value { name: "EOF" } }', "C++: EOF is reserved"),
        ('message_type { name: "None" }', "Python: None is reserved"),
        ('service { name: "Cats" method { name: "delete" } }', "JavaScript: delete is reserved"),
        ('package: "cats.import.v1"', "Python: import is reserved"),
        ('message_type { name: "Cat" nested_type { name: "Paw" } }', "Cat has nested types"),
    ],
)
def test_a_planted_clash_of_types_is_found(text: str, found: str) -> None:
    file = text_format.Parse(f'name: "planted.proto" {text}', FileDescriptorProto())
    assert any(clash.startswith(found) for clash in clashes(file)), clashes(file)


def test_similar_names_are_no_clash() -> None:
    file = FileDescriptorProto(name="planted.proto", package="cats.v1")
    alike = "hand_size, repeated hand_cards, card, repeated cards, optional last, lasts, chosen play, chosen draw"
    message = file.message_type.add(name="Planted", field=fields(alike))
    message.oneof_decl.add(name="choice")
    message.oneof_decl.add(name="_last")
    message.field.extend(fields("repeated message labels"))
    message.nested_type.add(name="LabelsEntry").options.map_entry = True
    assert clashes(file) == []
