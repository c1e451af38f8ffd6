"""The API definition as written by `chatiere protos`."""

from functools import cache
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from chatiere import v1


@cache
def api_files() -> list[FileDescriptorProto]:
    """Return the files of chatiere.v1."""
    described = FileDescriptorSet.FromString((Path(v1.__path__[0]) / "descriptors.binpb").read_bytes())
    return [file for file in described.file if file.package == "chatiere.v1"]
