"""Find clashes among the names that code generators derive from a .proto file.

Each function in GENERATORS yields the generated names of one file: the scope of the name, the name, and the name from
which it is derived. Two names clash if they yield the same generated name in a scope. This includes clashes that a
generator resolves with a name that no author expects (`Card_` in C#, `getPile2` in Java). A file must not have nested
types (see `clashes`).
"""

import keyword
import re
from collections.abc import Callable, Iterable, Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

# The scope, the generated name, and the name from which it is derived.
Made = Iterator[tuple[str, str, str]]

_TEXT = (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES)
# Members that all message classes have, and that could clash with the members generated for fields.
CPP_OF_ALL = """
    New CopyFrom MergeFrom Clear IsInitialized ByteSizeLong GetCachedSize GetMetadata GetTypeName GetDescriptor
    GetReflection Swap descriptor default_instance internal_default_instance unknown_fields mutable_unknown_fields
"""
JAVA_OF_ALL = """
    getClass getDescriptor getDescriptorForType getUnknownFields setUnknownFields mergeUnknownFields
    getSerializedSize getParserForType getDefaultInstance getDefaultInstanceForType getAllFields
    getInitializationErrorString isInitialized clear mergeFrom toBuilder newBuilder parser
"""
CSHARP_OF_ALL = """
    Parser Descriptor Clone Equals GetHashCode GetType ToString WriteTo CalculateSize MergeFrom Types OnConstruction
"""
GO_OF_ALL = "Reset String ProtoMessage ProtoReflect Descriptor Marshal Unmarshal ExtensionRangeArray ExtensionMap"
JAVASCRIPT_OF_ALL = "constructor hasOwnProperty toString toJSON valueOf __proto__"

_JAVASCRIPT = """
    await break case catch class const continue debugger default delete do else enum export extends false finally
    for function if implements import in instanceof interface let new null package private protected public return
    static super switch this throw true try typeof undefined var void while with yield
"""
_CPP = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const const_cast
    constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false float
    for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq NULL EOF TRUE FALSE DOMAIN OVERFLOW UNDERFLOW assert errno linux unix major
    minor signbit stderr stdin stdout
"""
_KOTLIN = """
    as break class continue do else false for fun if in interface is null object package return super this throw
    true try typealias typeof val var when while
"""
_PHP = """
    abstract and array as break callable case catch class clone const continue declare default die do echo else elseif
    empty enddeclare endfor endforeach endif endswitch endwhile eval exit extends final finally fn for foreach function
    global goto if implements include include_once instanceof insteadof interface isset list match namespace new or
    parent print private protected public readonly require require_once return self static switch throw trait try unset
    use var while xor yield bool false float int iterable mixed never null object string true void
"""

# The reserved words of each language. They are compared with names as written and in camel case. Java, C# and Go need
# no list, because their reserved words are in lower case and generated names are not.
RESERVED = {
    "Python": {*keyword.kwlist, "self"},
    "JavaScript": set(_JAVASCRIPT.split()),
    "C++": set(_CPP.split()),
    "Kotlin": set(_KOTLIN.split()),
}
# Names that are reserved for classes in PHP, regardless of case. protoc adds the prefix PB. Fields are not affected,
# because they become methods (`getList`).
PHP_CLASSES = set(_PHP.split())


def clashes(file: FileDescriptorProto) -> list[str]:
    """Return the clashes among the names of a file, one sentence for each."""
    found = [f"{message.name} has nested types" for message in file.message_type if _nested(message)]
    for language, generator in GENERATORS.items():
        origins: dict[tuple[str, str], str] = {}
        for place, name, origin in generator(file):
            first = origins.setdefault((place, name), origin)
            if first != origin:
                found.append(f"{language}: {name} in {place} is of {first} and of {origin}")
    names = [*_names(file), *(part for part in file.package.split("."))]
    for language, words in RESERVED.items():
        for name in names:
            found += [f"{language}: {word} is reserved" for word in {name, lower_camel(name)} & words]
    return list(dict.fromkeys(found))


def _nested(message: DescriptorProto) -> bool:
    return bool(message.enum_type) or any(not nested.options.map_entry for nested in message.nested_type)


def _names(file: FileDescriptorProto) -> Iterator[str]:
    """Yield all names of a file."""
    for message in file.message_type:
        yield message.name
        yield from (field.name for field in message.field)
        yield from _oneofs(message)
    for enum in file.enum_type:
        yield enum.name
        yield from (value.name for value in enum.value)
    for service in file.service:
        yield service.name
        yield from (method.name for method in service.method)


def camel(name: str) -> str:
    """Return a name in the form of class names in Java and C#, where a digit also ends a word."""
    return re.sub(r"(?:^|_|(?<=\d))([a-z])", lambda found: found[1].upper(), name).replace("_", "")


def lower_camel(name: str) -> str:
    return camel(name)[:1].lower() + camel(name)[1:]


def short_values(enum: EnumDescriptorProto) -> Iterator[tuple[str, str]]:
    """Yield each value of an enum, with the name that remains if generators drop the enum's prefix."""
    prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", enum.name).upper() + "_"
    for value in enum.value:
        yield value.name, camel(value.name.removeprefix(prefix).lower())


def _oneofs(message: DescriptorProto) -> Iterator[str]:
    """Yield the oneofs that are written in the file, without those that are generated for `optional`."""
    made = {field.oneof_index for field in message.field if field.proto3_optional}
    yield from (oneof.name for index, oneof in enumerate(message.oneof_decl) if index not in made)


def _is_list(field: FieldDescriptorProto) -> bool:
    return field.label == FieldDescriptorProto.LABEL_REPEATED


def _has_presence(field: FieldDescriptorProto) -> bool:
    is_message = field.type == FieldDescriptorProto.TYPE_MESSAGE
    return not _is_list(field) and (is_message or field.HasField("oneof_index"))


def _members(
    of_all: str, field: Callable[[FieldDescriptorProto], Iterable[str]], oneof: Callable[[str], Iterable[str]]
) -> Callable[[FileDescriptorProto], Made]:
    """Return a function that yields the members generated for every message, for each field and for each oneof."""

    def members(file: FileDescriptorProto) -> Made:
        for message in file.message_type:
            yield from ((message.name, name, "every message") for name in of_all.split())
            for one in message.field:
                yield from ((message.name, name, one.name) for name in field(one))
            for choice in _oneofs(message):
                yield from ((message.name, name, choice) for name in oneof(choice))

    return members


def _cpp_field(field: FieldDescriptorProto) -> Iterator[str]:
    name = field.name.lower()
    yield from (name, f"clear_{name}", f"set_{name}", f"mutable_{name}", f"k{camel(name)}FieldNumber")
    yield from (f"_internal_{name}", f"{name}_")
    if _is_list(field):
        yield from (f"{name}_size", f"add_{name}")
    else:
        yield from (f"has_{name}", f"release_{name}", f"set_allocated_{name}", f"unsafe_arena_release_{name}")


def _cpp_oneof(name: str) -> Iterator[str]:
    yield from (f"{name}_case", f"has_{name}", f"clear_{name}", f"{camel(name)}Case", f"{name.upper()}_NOT_SET")


def _java_field(field: FieldDescriptorProto) -> Iterator[str]:
    name = camel(field.name)
    yield from (f"get{name}", f"set{name}", f"clear{name}", f"{field.name.upper()}_FIELD_NUMBER")
    if _is_list(field):
        yield from (f"get{name}List", f"get{name}Count", f"add{name}", f"addAll{name}", f"remove{name}")
        # Accessors of maps.
        yield from (f"get{name}Map", f"contains{name}", f"get{name}OrDefault", f"get{name}OrThrow", f"put{name}")
    else:
        yield from (f"has{name}", f"merge{name}")
    if field.type in _TEXT:
        yield from (f"get{name}Bytes", f"set{name}Bytes")
    if field.type == FieldDescriptorProto.TYPE_ENUM:
        yield from (f"get{name}Value", f"set{name}Value", f"get{name}ValueList")
    if field.type == FieldDescriptorProto.TYPE_MESSAGE:
        yield from (f"get{name}Builder", f"get{name}OrBuilder", f"get{name}BuilderList", f"get{name}OrBuilderList")


def _java_oneof(name: str) -> Iterator[str]:
    yield from (f"get{camel(name)}Case", f"clear{camel(name)}", f"{camel(name)}Case")


def _csharp_field(field: FieldDescriptorProto) -> Iterator[str]:
    name = camel(field.name)
    yield from (name, f"{name}FieldNumber")
    if _has_presence(field):
        yield from (f"Has{name}", f"Clear{name}")


def _csharp_oneof(name: str) -> Iterator[str]:
    yield from (f"{camel(name)}Case", f"{camel(name)}OneofCase", f"Clear{camel(name)}")


def _csharp_members(file: FileDescriptorProto) -> Made:
    yield from _members(CSHARP_OF_ALL, _csharp_field, _csharp_oneof)(file)
    # A property cannot have the name of its class.
    yield from ((message.name, message.name, "the message itself") for message in file.message_type)


def _go_field(field: FieldDescriptorProto) -> Iterator[str]:
    name = camel(field.name)
    # Structs with the open API do not have the last two methods, and structs with the opaque API do not have the first.
    yield from (name, f"Get{name}", f"Set{name}")
    if _has_presence(field):
        yield from (f"Has{name}", f"Clear{name}")


def _go_oneof(name: str) -> Iterator[str]:
    yield from (f"{action}{camel(name)}" for action in ("", "Get", "Has", "Clear", "Which"))


def _objective_c_field(field: FieldDescriptorProto) -> Iterator[str]:
    name = lower_camel(field.name) + ("Array" if _is_list(field) else "")
    yield from (name, f"set{camel(name)}")
    yield from (f"{name}_Count",) if _is_list(field) else (f"has{camel(name)}",)


def _swift_field(field: FieldDescriptorProto) -> Iterator[str]:
    name = lower_camel(field.name)
    yield name
    if _has_presence(field):
        yield from (f"has{camel(name)}", f"clear{camel(name)}")


def _javascript_field(field: FieldDescriptorProto) -> Iterator[str]:
    # The members of a oneof are values of the oneof's property. In other generators, each member is a property.
    yield lower_camel(field.name)


def _types(file: FileDescriptorProto, of_message: str, of_enum: str, of_service: str, of_file: str) -> Made:
    """Yield the names generated for a file's types, from templates with `%`.

    Names are in lower case: types become files, and some file systems ignore case.
    """
    outer = camel(file.name.rpartition("/")[2].removesuffix(".proto"))
    for names, templates in (
        ([message.name for message in file.message_type], of_message),
        ([enum.name for enum in file.enum_type], of_enum),
        ([service.name for service in file.service], of_service),
        ([outer], of_file),
    ):
        for name in names:
            yield from (("the package", each.replace("%", name).lower(), name) for each in templates.split())


def _go_types(file: FileDescriptorProto) -> Made:
    for message in file.message_type:
        yield "the package", message.name, message.name
        for field in message.field:
            if field.HasField("oneof_index") and not field.proto3_optional:
                made = f"{message.name}_{camel(field.name)}"
                yield "the package", made, made
    for enum in file.enum_type:
        for made in (enum.name, f"{enum.name}_name", f"{enum.name}_value"):
            yield "the package", made, enum.name
        yield from (("the package", f"{enum.name}_{value.name}", value.name) for value in enum.value)
    for service in file.service:
        for made in (
            "{}Client",
            "{}Server",
            "New{}Client",
            "Register{}Server",
            "Unimplemented{}Server",
            "Unsafe{}Server",
        ):
            yield "the package", made.format(service.name), service.name


def _values(file: FileDescriptorProto) -> Made:
    """Yield the names of enum values: within the enum, and in the forms of C++, Python and TypeScript."""
    for enum in file.enum_type:
        yield from ((enum.name, short, name) for name, short in short_values(enum))
        yield from ((enum.name, "a digit", name) for name, short in short_values(enum) if not short[:1].isalpha())
        yield enum.name, "a digit", enum.name
        yield from (("the package", value.name, value.name) for value in enum.value)
        yield from (("the package", f"{enum.name}_{what}", enum.name) for what in ("MIN", "MAX", "ARRAYSIZE"))


GENERATORS: dict[str, Callable[[FileDescriptorProto], Made]] = {
    "C++": _members(CPP_OF_ALL, _cpp_field, _cpp_oneof),
    "Java": _members(JAVA_OF_ALL, _java_field, _java_oneof),
    "C#": _csharp_members,
    "Go": _members(GO_OF_ALL, _go_field, _go_oneof),
    "Objective-C": _members("", _objective_c_field, lambda name: (f"{lower_camel(name)}OneOfCase",)),
    "Swift": _members("", _swift_field, lambda name: (lower_camel(name),)),
    "JavaScript": _members(JAVASCRIPT_OF_ALL, _javascript_field, lambda name: (lower_camel(name),)),
    "Java's types": lambda file: _types(file, "% %OrBuilder %Kt", "%", "%Grpc %GrpcKt", "%Proto %ProtoKt"),
    "C#'s types": lambda file: _types(file, "%", "%", "%", "%Reflection"),
    "TypeScript's types": lambda file: _types(file, "% %Schema", "% %Schema", "%", "file_%"),
    "Go's types": _go_types,
    "Enums": _values,
}
