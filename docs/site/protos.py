"""The reference of the API as Markdown, from the comments of the protos."""

import re
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from grpc_tools import protoc

PACKAGE = "chatiere.v1"
# The field numbers in descriptor.proto that occur in the paths of comments.
_MESSAGES, _ENUMS, _SERVICES = 4, 5, 6
_FIELDS, _NESTED, _NESTED_ENUMS = 2, 3, 4
_VALUES = _METHODS = 2


def write(protos: Path, folder: Path) -> None:
    """Write a page for each file of the API into a folder, and an index."""
    folder.mkdir(exist_ok=True)
    described = [file for file in _described(protos) if file.package == PACKAGE and _has_content(file)]
    pages = {Path(file.name).stem: file for file in described}
    places = {name: stem for stem, file in pages.items() for name in _names(file)}
    for stem, file in pages.items():
        text = "\n".join(_Page(stem, file, places).lines())
        (folder / f"{stem}.md").write_text(text + "\n", "utf-8")
    toc = "\n".join(sorted(pages, key=lambda stem: (not stem.endswith("_service"), stem)))
    index = f"# API reference\nAll of `{PACKAGE}`, from the comments of its protos.\n\n```{{toctree}}\n{toc}\n```\n"
    (folder / "api.md").write_text(index, "utf-8")


def _described(protos: Path) -> list[FileDescriptorProto]:
    sources = sorted((protos / "chatiere/v1").glob("*.proto"))
    with tempfile.NamedTemporaryFile() as found:
        arguments = ["protoc", f"-I{protos}", f"-I{files('grpc_tools') / '_proto'}", "--include_source_info"]
        if protoc.main([*arguments, f"--descriptor_set_out={found.name}", *map(str, sources)]) != 0:
            raise RuntimeError("the protos cannot be compiled")
        return list(FileDescriptorSet.FromString(Path(found.name).read_bytes()).file)


def _has_content(file: FileDescriptorProto) -> bool:
    return bool(file.message_type or file.enum_type or file.service)


def _names(file: FileDescriptorProto) -> Iterator[str]:
    def inside(prefix: str, message: DescriptorProto) -> Iterator[str]:
        name = f"{prefix}{message.name}"
        yield name
        yield from (f"{name}.{enum.name}" for enum in message.enum_type)
        for nested in message.nested_type:
            yield from inside(f"{name}.", nested)

    for message in file.message_type:
        yield from inside("", message)
    yield from (enum.name for enum in file.enum_type)


def _anchor(name: str) -> str:
    return re.sub(r"[^\w-]", "", name.lower())


class _Page:
    """The page of a file."""

    def __init__(self, stem: str, file: FileDescriptorProto, places: dict[str, str]) -> None:
        """Describe a file. `places` maps each message and enum to the file that contains it."""
        self._stem, self._file, self._places = stem, file, places
        self._comments = {
            tuple(each.path): each.leading_comments or each.trailing_comments for each in file.source_code_info.location
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines of the page."""
        yield f"# {self._stem}.proto"
        for number, service in enumerate(self._file.service):
            yield from ("", f"## {service.name}", self._comment(_SERVICES, number))
            for index, method in enumerate(service.method):
                asked, answer = (self._type(each) for each in (method.input_type, method.output_type))
                streams = ["stream " * each for each in (method.client_streaming, method.server_streaming)]
                yield from ("", f"### {service.name}.{method.name}")
                yield f"{streams[0]}{asked} → {streams[1]}{answer}"
                yield from ("", self._comment(_SERVICES, number, _METHODS, index))
        for number, message in enumerate(self._file.message_type):
            yield from self._message("", message, (_MESSAGES, number))
        for number, enum in enumerate(self._file.enum_type):
            yield from self._enum("", enum, (_ENUMS, number))

    def _message(self, prefix: str, message: DescriptorProto, path: tuple[int, ...]) -> Iterator[str]:
        if message.options.map_entry:
            return
        name = f"{prefix}{message.name}"
        yield from ("", f"## {name}", self._comment(*path), "")
        for number, field in enumerate(message.field):
            what = f"{self._kind(message, field)}, field {field.number}"
            yield f"- `{field.name}` ({what}): {self._comment(*path, _FIELDS, number)}"
        for number, nested in enumerate(message.nested_type):
            yield from self._message(f"{name}.", nested, (*path, _NESTED, number))
        for number, enum in enumerate(message.enum_type):
            yield from self._enum(f"{name}.", enum, (*path, _NESTED_ENUMS, number))

    def _enum(self, prefix: str, enum: EnumDescriptorProto, path: tuple[int, ...]) -> Iterator[str]:
        yield from ("", f"## {prefix}{enum.name}", self._comment(*path), "")
        for number, value in enumerate(enum.value):
            yield f"- `{value.name}` = {value.number}: {self._comment(*path, _VALUES, number)}"

    def _kind(self, message: DescriptorProto, field: FieldDescriptorProto) -> str:
        inside = {f".{message.name}.{nested.name}": nested for nested in message.nested_type}
        entry = next((nested for name, nested in inside.items() if field.type_name.endswith(name)), None)
        if entry is not None and entry.options.map_entry:
            key, value = entry.field
            return f"map from {self._scalar(key)} to {self._scalar(value)}"
        label = ""
        if field.label == FieldDescriptorProto.LABEL_REPEATED:
            label = "repeated "
        elif field.proto3_optional:
            label = "optional "
        elif field.HasField("oneof_index"):
            label = f"one of {message.oneof_decl[field.oneof_index].name}, "
        return label + self._scalar(field)

    def _scalar(self, field: FieldDescriptorProto) -> str:
        if field.type_name:
            return self._type(field.type_name)
        return FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()

    def _type(self, name: str) -> str:
        name = name.removeprefix(f".{PACKAGE}.").removeprefix(".")
        stem = self._places.get(name)
        return f"`{name}`" if stem is None else f"[{name}]({stem}.md#{_anchor(name)})"

    def _comment(self, *path: int) -> str:
        """Return a comment as one line of Markdown, without the lines for `buf:lint`."""
        lines = [line for line in self._comments.get(path, "").splitlines() if "buf:lint" not in line]
        text = re.sub(r"\s+", " ", " ".join(lines)).strip()
        parts = re.split(r"(`[^`]*`)", text)
        return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]#])", r"\\\1", part) for part in parts)


if __name__ == "__main__":
    here = Path(__file__).parent
    write(here.parents[1] / "proto", here / "generated")
