"""Every file declares its names in other languages, as the files of Google's APIs do."""

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.json_format import MessageToDict

from .descriptors import api_files
from .names import camel


@pytest.mark.parametrize("file", api_files(), ids=lambda file: file.name)
def test_a_file_has_the_options_of_all_languages(file: FileDescriptorProto) -> None:
    name = file.name.removeprefix("chatiere/v1/").removesuffix(".proto")
    assert MessageToDict(file.options, preserving_proto_field_name=True) == {
        "csharp_namespace": "Chatiere.V1",
        # The folder of the .proto files in the repository, and the package's name.
        "go_package": "github.com/chatiere/chatiere/proto/chatiere/v1;chatierev1",
        "java_multiple_files": True,
        "java_outer_classname": f"{camel(name)}Proto",
        "java_package": "io.github.chatiere.v1",
        "objc_class_prefix": "CHT",
        "php_namespace": "Chatiere\\V1",
        "ruby_package": "Chatiere::V1",
    }
