"""Protobuf's wire format and JSON, read and written without an object for each message and number.

This package does not depend on the games. It converts message objects by `SerializeToString` and `MergeFromString`,
which are fast.
"""

from chatiere.engine.wire.columns import cut, cut_list, head, pieces_of
from chatiere.engine.wire.plain import Form
from chatiere.engine.wire.reader import Reader
from chatiere.engine.wire.transcoding import Transcoder
from chatiere.engine.wire.weighing import Scales
from chatiere.engine.wire.writer import Writer, fill, written, written_in, written_text

Buffer = bytes | memoryview
"""Bytes, or a view of bytes in the memory of another object."""

__all__ = [
    "Buffer",
    "Form",
    "Reader",
    "Scales",
    "Transcoder",
    "Writer",
    "cut",
    "cut_list",
    "fill",
    "head",
    "pieces_of",
    "written",
    "written_in",
    "written_text",
]
