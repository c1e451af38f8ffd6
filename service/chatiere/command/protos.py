"""chatiere protos."""

from importlib.resources import files
from pathlib import Path

import click

from chatiere.command.common import CommandError

DESCRIPTORS = "descriptors.binpb"
# The files of google.rpc that define the status of an error.
_STATUS = ("code.proto", "error_details.proto", "status.proto")


@click.command("protos")
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def command(directory: Path) -> None:
    """Write the definition of the API into DIR, to generate code for clients.

    Tools that read descriptor sets, such as buf, protoc and grpcurl, need only the file DIR/descriptors.binpb. It
    contains chatiere.v1, the details of errors (google.rpc) and all files that these import, with comments. For other
    tools, DIR contains the same definition as .proto files. They import each other relative to DIR. Compilers provide
    the files of google/protobuf.
    """
    ours = files("chatiere.v1")
    found = {Path(DESCRIPTORS): ours / DESCRIPTORS}
    found |= {Path("chatiere/v1", each.name): each for each in ours.iterdir() if each.name.endswith(".proto")}
    found |= {Path("google/rpc", name): files("google.rpc") / name for name in _STATUS}
    try:
        for path, source in sorted(found.items()):
            target = directory / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
            click.echo(target)
    except OSError as error:
        raise CommandError(f"{directory}: {error}") from error
