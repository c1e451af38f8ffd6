"""The compiled parts of Chatière: Cython kernels and protobuf code.

The other settings of the package are in pyproject.toml. `chatiere` is a namespace package with several roots:
`chatiere.engine` is in `engine/chatiere/engine/`, and `chatiere.v1` is in `proto/chatiere/v1/`. Generated code and
compiled catalogues of words (*.po) are written next to their sources. For the page, this script also writes the words
(words.js), the languages (languages.js), and the field numbers of a sealed table with the options that are sets
(shared/fields.js). docs/rules/ is copied into the games' folders.

CHATIERE_BUILD=debug builds the kernels with run-time checks, checks of the rules' invariants after every move,
sanitizers and coverage counters (see `make debug`). CHATIERE_BUILD=trial compiles only the modules whose source
changed, with little optimization (see tests/tools/mutants).
"""

import copy
import html
import json
import os
import posixpath
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from Cython.Build import cythonize
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from markdown_it import MarkdownIt
from markdown_it.token import Token
from setuptools import Extension, find_namespace_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
# Each root has a folder `chatiere` with parts of the package.
ROOTS = ("engine", "http2", "service", "clients", "proto")
PROTO = Path("proto/chatiere")
# The folder of the page. It is the package PAGE_PACKAGE and contains no Python.
WEB = Path("web")
PAGE_PACKAGE = "chatiere.web"
HTTP2 = Path("http2/chatiere/http2")
# The largest field number that the engine's codecs can read (FIELDS in engine/wire/reader.pxd).
MAX_FIELD = 31
# The files that define the status of a refusal and its details, from googleapis-common-protos.
STATUS_PROTOS = [f"google/rpc/{name}.proto" for name in ("code", "error_details", "status")]
# The oldest release of libnghttp2 that http2/ supports.
NGHTTP2_VERSION = "1.52"
# The messages needed to read a sealed table.
OF_TABLES = (
    "chatiere.v1.SealedTable",
    "chatiere.v1.TableAcknowledgement",
    "chatiere.v1.TableAmendment",
    "chatiere.v1.TableHeader",
    "chatiere.v1.TableReplacement",
    "chatiere.v1.TableSeat",
    "chatiere.v1.TableTakeBack",
    "google.protobuf.Timestamp",
)
# The files of web/ that are served.
SERVED = ("*.html", "*.js", "*.css", "*.svg", "*.png", "*.chatiere", "*.json", "*.webmanifest")
# The HTML of a page of docs/ in web/.
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{title} · Chatière</title>
<link rel="icon" href="../icon.svg">
<link rel="stylesheet" href="../style/tokens.css">
<link rel="stylesheet" href="../style/rules.css">
</head>
<body>
<header><a href="../">Chatière</a></header>
<main>
{text}</main>
</body>
</html>
"""
DEBUG = os.environ.get("CHATIERE_BUILD") == "debug"
TRIAL = os.environ.get("CHATIERE_BUILD") == "trial"
# The folder with the flags of each module at its last compilation.
FLAGS = Path("build/debug/flags" if DEBUG else "build/flags")
# The folder for the modules of an editable install. The folder that pip provides is new and empty each time.
EDITABLE = Path("build/editable")
# A source distribution has no generated files.
IS_SDIST = "sdist" in sys.argv

# The package itself cannot be imported yet.
SPEC = spec_from_file_location("scripts", ROOT / "service/chatiere/service/base/scripts.py")
scripts = module_from_spec(SPEC)
SPEC.loader.exec_module(scripts)

# NumPy's builds have had the same requirement for x86 processors since 2.4 (x86-64-v2, processors since 2009). Every
# compiler supports these old flags. Python on a Mac may build for two kinds of processors in one run.
IS_X86 = sysconfig.get_platform() in ("linux-x86_64", "win-amd64")
# A search must visit the same nodes on every processor. Without the first flag, some processors would round a product
# and a sum only once.
PROCESSOR_FLAGS = ["-ffp-contract=off", *(["-msse4.2", "-mpopcnt"] if IS_X86 else [])]
RELEASE_FLAGS = [
    "-O1" if TRIAL else "-O3",
    "-g0",
    # C++ exceptions never pass through a module.
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    # Call functions of other libraries through their addresses in one table, without a second table of jumps.
    *(["-fno-plt"] if sys.platform == "linux" else []),
    # A wheel is compressed as a whole. The result is smaller if the text in the modules is not already compressed.
    "-DCYTHON_COMPRESS_STRINGS=0",
]
# Omit the symbols for linkers and debuggers (two thirds of a module), and the hash of the rest. The linker of a Mac
# strips symbols by itself.
RELEASE_LINK_FLAGS = ["-Wl,--strip-all", "-Wl,--build-id=none"] if sys.platform == "linux" else []
# Modules that handle text, create memoryviews, run rarely, or mostly call Python's own functions. They are a third
# smaller if they are optimized for size.
SMALL = (
    *("arguments", "batch", "blocks", "events", "game", "integers", "memoryviews", "messages", "output", "phrases"),
    *("core.codec", "state", "search", "trials", "wire.columns"),
    *("chain", "conversion", "counts", "exchange", "game_service", "limits"),
    "client",
)
SMALL_FLAGS = ["-Os"]
# These are as fast with -O2, and a tenth smaller.
MEDIUM = ("codec", "position", "transcoding")
MEDIUM_FLAGS = ["-O2"]
# The module of Cython's code for memoryviews. Without it, Cython would write this code into every module that uses
# them.
MEMORYVIEWS = "chatiere.engine.core.memoryviews"
DEBUG_FLAGS = [
    # Compiling is a third faster than with -O1, and the tests are not slower.
    "-Og",
    # Include lines and functions for reports. Variables would make the compiler slower by half.
    "-g1",
    "-DCHATIERE_DEBUG=1",
    # Python's own flags would define the result of overflows and disable assertions.
    "-fno-wrapv",
    "-UNDEBUG",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "--coverage",
]
# If several threads count the same line at the same time, some counts are lost. Atomic counters prevent this, but would
# use most of a kernel's time, so only modules for several threads have them. For the other modules, `make debug` keeps
# the counts of tests with several threads separate.
THREADED = tuple(f"chatiere.engine.core.{name}" for name in ("batch", "cancellation", "parts", "threads"))
THREADED_FLAGS = ["-fprofile-update=atomic"]
# The C files, without suffix, that are compiled into each module. Other modules read only the header.
OWN_C = {"chatiere.bots.integer_network": ("net",)}
HEADERS_OF_OWN_C = dict.fromkeys((*OWN_C, "chatiere.bots.search", "chatiere.bots.simulations"), ("net",))
LINK_FLAGS = ["-fsanitize=address,undefined", "--coverage"] if DEBUG else RELEASE_LINK_FLAGS


def is_one_of(name: str, modules: tuple[str, ...]) -> bool:
    """Return true if a dotted name is that of one of the modules, which are given by the ends of their names."""
    return f".{name}".endswith(tuple(f".{each}" for each in modules))


def generate_protobuf_code() -> None:
    """Write the code for Python next to the .proto files, and the numbers of all fields into proto/chatiere/fields.

    This also writes descriptors.binpb next to the code. It contains a FileDescriptorSet of the .proto files,
    STATUS_PROTOS and all files that they import, with comments.
    """
    import grpc_tools
    from google.rpc import status_pb2
    from grpc_tools import protoc

    (PROTO / "fields").mkdir(exist_ok=True)
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    googleapis = Path(status_pb2.__file__).parents[2]
    sources = sorted(str(path) for path in (PROTO / "v1").glob("*.proto"))
    descriptors = PROTO / "v1" / "descriptors.binpb"
    imports = ["protoc", "-Iproto", f"-I{well_known}", f"-I{googleapis}"]
    described = ["--include_imports", "--include_source_info", f"--descriptor_set_out={descriptors}"]
    code = ["--python_out=proto", "--pyi_out=proto", "--grpc_python_out=proto"]
    if protoc.main([*imports, *code, *sources]) != 0:
        raise SystemExit("protoc failed")
    if protoc.main([*imports, *described, *sources, *STATUS_PROTOS]) != 0:
        raise SystemExit("protoc failed")
    found = FileDescriptorSet.FromString(descriptors.read_bytes())
    for file in found.file:
        keep_comments(file)
        if file.package == "chatiere.v1":
            write_field_numbers(file)
    descriptors.write_bytes(found.SerializeToString(deterministic=True))
    write_fields_for_page(found.file)


def keep_comments(file: FileDescriptorProto) -> None:
    """Remove source locations without comments, and the comments of other packages: together half of the bytes.

    The libraries of every language include the comments of google.protobuf and google.rpc.
    """
    kept = [
        place
        for place in file.source_code_info.location
        if place.leading_comments or place.trailing_comments or place.leading_detached_comments
    ]
    file.ClearField("source_code_info")
    if file.package == "chatiere.v1":
        file.source_code_info.location.extend(kept)


def compile_catalogues() -> None:
    """Compile each fr.po to a fr.mo next to it, for the standard library's gettext. Remove other .mo files."""
    folders = [Path(root, "chatiere") for root in ROOTS]
    for compiled in (path for folder in folders for path in folder.rglob("*.mo")):
        if not compiled.with_suffix(".po").exists():
            compiled.unlink()
    for source in sorted(path for folder in folders for path in folder.rglob("*.po")):
        target = source.with_suffix(".mo")
        if not target.exists() or target.stat().st_mtime <= source.stat().st_mtime:
            with source.open("rb") as words:
                catalogue = read_po(words, abort_invalid=True)
            # Babel would write the current time, so that no two builds would be identical.
            catalogue.creation_date = datetime.fromtimestamp(0, UTC)
            with target.open("wb") as compiled:
                write_mo(compiled, catalogue)


def compile_words_of_page() -> None:
    """Write a words.js next to each words.pot of the page: its texts, and the translations in the catalogues there.

    This also writes the list of the languages that have all catalogues.
    """
    languages: list[set[str]] = []
    for template in sorted(WEB.glob("**/words.pot")):
        words = {}
        for source in (template, *sorted(template.parent.glob("*.po"))):
            with source.open("rb") as file:
                catalogue = read_po(file, abort_invalid=True)
            is_english = source is template
            words["en" if is_english else source.stem] = {
                each.context: text_in_words_js(each.id if is_english else each.string, source.stem, is_english)
                for each in catalogue
                if each.id
            }
        languages.append(set(words))
        text = json.dumps(words, ensure_ascii=False, indent=2)
        text = f"// Generated from the catalogues in this folder.\nexport const words = {text};\n"
        write_if_changed(template.with_suffix(".js"), text)
    if languages:
        text = json.dumps(sorted(set.intersection(*languages)))
        write_if_changed(WEB / "languages.js", f"// Generated from the catalogues.\nexport const LANGUAGES = {text};\n")


def text_in_words_js(text: str | tuple[str, ...], language: str, is_english: bool) -> str | dict[str, str]:
    """Return a text, or the forms of a plural by category. The core's catalogue names the categories."""
    if isinstance(text, str):
        return text
    categories = "one other"
    if not is_english:
        with Path(f"engine/chatiere/engine/core/{language}.po").open("rb") as file:
            found = read_po(file, abort_invalid=True).get(categories, "plural.categories")
        categories = found.string
    return dict(zip(categories.split(), text, strict=True))


def write_if_changed(target: Path, text: str) -> None:
    """Write a file if its text has changed. An unchanged file keeps its modification time."""
    if not (target.exists() and target.read_text(encoding="utf-8") == text):
        target.write_text(text, encoding="utf-8")


def copy_rules() -> None:
    """Copy each game's rules file to rules.md in the game's folder, for the service."""
    for source in sorted(Path("docs/rules").glob("*.md")):
        package = Path("engine/chatiere/engine/games", source.stem)
        if package.is_dir():
            write_if_changed(package / "rules.md", source.read_text(encoding="utf-8"))


def render_pages() -> None:
    """Write the pages of docs/ that the page shows into its folder."""
    rules, games = Path("docs/rules"), Path("docs/games")
    shown = {source: f"rules/{source.stem.replace('README', 'index')}.html" for source in rules.glob("*.md")}
    shown |= {source: f"guide/{source.stem}.html" for source in games.glob("*.md")}
    shown |= {source: f"samples/{source.name}" for source in games.glob("*.chatiere")}
    for source, name in shown.items():
        text = source.read_text(encoding="utf-8")
        if source.suffix == ".md":
            text = rendered(text, source, shown)
        target = WEB / name
        target.parent.mkdir(exist_ok=True)
        write_if_changed(target, text)


def rendered(text: str, source: Path, shown: dict[Path, str]) -> str:
    """Return a page of docs/ as HTML, without its comments. `shown` maps files of docs/ to their places on the page."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    for token in tokens:
        token.children = linked(token.children or [], source, shown)
    title = html.escape(next(token.content for token in tokens if token.type == "inline"))
    return PAGE.format(title=title, text=markdown.renderer.render(tokens, markdown.options, {}))


def linked(tokens: list[Token], source: Path, shown: dict[Path, str]) -> list[Token]:
    """Point the links in text to the page's files. Links to other files of the repository become plain words."""
    found = []
    is_left_out = False
    for token in tokens:
        if token.type == "link_open" and "://" not in (target := str(token.attrs["href"])):
            path = Path(posixpath.normpath(posixpath.join(source.parent, target.partition("#")[0])))
            is_left_out = path not in shown
            if not is_left_out:
                token.attrs["href"] = posixpath.relpath(shown[path], posixpath.dirname(shown[source]))
        if not (is_left_out and token.type in ("link_open", "link_close")):
            found.append(token)
        is_left_out = is_left_out and token.type != "link_close"
    return found


def write_field_numbers(file: FileDescriptorProto) -> None:
    """Write the numbers of a file's fields for Cython: `hands` of DiscatState is STATE_HANDS in fields/discat.pxd."""
    source = Path(file.name)
    # Message names begin with the game's name. The constants omit it.
    prefix = "".join(part.title() for part in source.stem.split("_"))
    lines = [f"# Generated from {source}.", "cdef enum:"]
    for message in file.message_type:
        if any(field.number > MAX_FIELD for field in message.field):
            raise SystemExit(f"{message.name} in {source} has a field above {MAX_FIELD}: see engine/wire/reader.pxd")
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", message.name.removeprefix(prefix)).upper()
        lines += [f"    {name}_{field.name.upper()} = {field.number}" for field in message.field]
    target = PROTO / "fields" / f"{source.stem}.pxd"
    text = "\n".join([*lines, ""])
    # An unchanged file must keep its modification time, so that no module is compiled again.
    if len(lines) > 2 and not (target.exists() and target.read_text() == text):
        target.write_text(text)


def sets_among_options(files: Sequence[FileDescriptorProto]) -> dict[str, str]:
    """Map each option that is a set, as game.option, to the field of its message that lists the elements."""
    messages = {f".{file.package}.{message.name}": message for file in files for message in file.message_type}
    found = {}
    for file in files:
        game = Path(file.name).stem
        options = messages.get(f".{file.package}.{game.title().replace('_', '')}Options")
        for field in options.field if options is not None else ():
            if field.type_name:
                found[f"{game}.{field.name}"] = messages[field.type_name].field[0].name
    return found


def write_fields_for_page(files: Sequence[FileDescriptorProto]) -> None:
    """Write a module of the page: the fields of OF_TABLES, Acknowledgement's values, and the options that are sets."""
    found: dict[str, object] = {"SetOptions": sets_among_options(files)}
    for file in files:
        for message in file.message_type:
            if f"{file.package}.{message.name}" in OF_TABLES:
                found[message.name] = {field.json_name: field.number for field in message.field}
        for enum in file.enum_type:
            if f"{file.package}.{enum.name}" == "chatiere.v1.Acknowledgement":
                prefix = f"{enum.name.upper()}_"
                found[enum.name] = {each.name.removeprefix(prefix).lower(): each.number for each in enum.value}
    lines = [f"export const {name} = {json.dumps(value, indent=2)};\n" for name, value in sorted(found.items())]
    write_if_changed(WEB / "shared/fields.js", "".join(["// Generated from proto/.\n", *lines]))


def http2_extensions() -> list[Extension]:
    """Return the extensions of http2/: an empty list without epoll, or if pkg-config finds no libnghttp2."""
    asked = (os.environ.get("PKG_CONFIG", "pkg-config"), "--cflags", "--libs", f"libnghttp2 >= {NGHTTP2_VERSION}")
    try:
        found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        found = []
    if sys.platform != "linux" or not found:
        print("without HTTP/2 by libnghttp2: no --fast-address, see docs/operations.md", file=sys.stderr)
        return []
    connection = ["callbacks.c", "connection.c", "frames.c", "messages.c", "output.c", "stream.c"]
    sources = {"client": connection, "server": [*connection, "accounts.c", "endpoint.c"]}
    return [
        Extension(
            f"chatiere.http2.{name}",
            [str(HTTP2 / source) for source in (f"{name}.pyx", *more)],
            depends=[str(header) for header in sorted(HTTP2.glob("*.h"))],
            include_dirs=[str(HTTP2), *(flag[2:] for flag in found if flag.startswith("-I"))],
            extra_compile_args=["-D_GNU_SOURCE", *(DEBUG_FLAGS if DEBUG else RELEASE_FLAGS)],
            extra_link_args=[flag for flag in found if not flag.startswith("-I")] + LINK_FLAGS,
        )
        for name, more in sources.items()
    ]


def extensions() -> list[Extension]:
    """Return the extensions.

    Each .pyx file of engine/ becomes one extension, together with the C files that it needs from its folder. So does
    each .py file of service/ with C types in a .pxd file next to it. One more extension contains Cython's code for
    memoryviews. The debug build adds an extension with deliberate faults, for a test.
    """
    sources = {
        "engine": sorted(Path("engine").rglob("*.pyx")),
        "service": [types.with_suffix(".py") for types in sorted(Path("service").rglob("*.pxd"))],
    }
    modules = {
        ".".join(source.relative_to(root).with_suffix("").parts): source
        for root, found in sources.items()
        for source in found
    }
    modules[MEMORYVIEWS] = Path("engine", *MEMORYVIEWS.split(".")).with_suffix(".c")
    if DEBUG:
        modules["planted_faults"] = Path("tests/debug_build/planted_faults.pyx")
    return [
        Extension(
            name,
            [str(source), *(str(source.with_name(f"{each}.c")) for each in OWN_C.get(name, ()))],
            depends=[str(source.with_name(f"{each}.h")) for each in HEADERS_OF_OWN_C.get(name, ())],
            include_dirs=[str(source.parent)] if name in HEADERS_OF_OWN_C else [],
            extra_compile_args=PROCESSOR_FLAGS
            + (DEBUG_FLAGS if DEBUG else RELEASE_FLAGS)
            + (THREADED_FLAGS if DEBUG and name in THREADED else [])
            + (MEDIUM_FLAGS if not DEBUG and is_one_of(name, MEDIUM) else [])
            + (SMALL_FLAGS if not DEBUG and is_one_of(name, SMALL) else []),
            extra_link_args=LINK_FLAGS,
        )
        for name, source in modules.items()
    ]


def packages() -> dict[str, str]:
    """Map the names of all packages to their folders. For `chatiere`, choose the folder that has modules."""
    return (
        {"chatiere": "service/chatiere", PAGE_PACKAGE: str(WEB)}
        | {f"{PAGE_PACKAGE}.{name}": f"{WEB}/{name.replace('.', '/')}" for name in find_namespace_packages(str(WEB))}
        | {
            name: f"{root}/{name.replace('.', '/')}"
            for root in ROOTS
            for name in find_namespace_packages(root, include=["chatiere.*"])
        }
    )


def with_c(extensions: list[Extension]) -> list[Extension]:
    """Return the extensions, after translating their Cython sources to C."""
    return cythonize(
        extensions,
        nthreads=os.cpu_count(),
        # Both builds use the same C.
        build_dir="build/cython",
        shared_utility_qualified_name=MEMORYVIEWS,
        include_path=list(ROOTS),
        compiler_directives={
            "language_level": 3,
            "binding": True,
            "embedsignature": True,
            "embedsignature.format": "python",
            "boundscheck": True,
            "nonecheck": True,
            # Kernels never divide by a number that could be 0, and a division that may raise an error cannot run
            # without the GIL.
            "cdivision": True,
            # Classes that can be pickled define the methods for this themselves.
            "auto_pickle": False,
        },
    )


class BuildExtensions(build_ext):
    """Compiles the modules whose source or flags changed, one on each core."""

    def finalize_options(self) -> None:
        """See setuptools. Unlike setuptools, also compile in parallel for an editable install."""
        super().finalize_options()
        self.parallel = os.cpu_count()

    def run(self) -> None:
        """See setuptools."""
        folders = self.build_lib, self.build_temp
        if self.editable_mode:
            self.build_lib, self.build_temp = str(EDITABLE / "lib"), str(EDITABLE / "temp")
        super().run()
        # Setuptools searches for the modules of a strict editable install in the folder that it provided.
        self.build_lib, self.build_temp = folders

    def build_extensions(self) -> None:
        """See setuptools."""
        commands = (*self.compiler.compiler_so, *self.compiler.linker_so)
        for extension, made in zip(self.extensions, with_c(self.extensions), strict=True):
            flags = [*commands, *extension.extra_compile_args, *extension.extra_link_args]
            extension.sources, extension.depends = made.sources, made.depends
            stamp = FLAGS / extension.name
            if TRIAL:
                # The next release build has to compile this module again.
                stamp.unlink(missing_ok=True)
            else:
                stamp.parent.mkdir(parents=True, exist_ok=True)
                write_if_changed(stamp, "\n".join(flag for flag in flags if flag.startswith("-")))
                extension.depends = [*made.depends, str(stamp)]
        # Compile the longest source first, so that no core waits for it at the end.
        self.extensions.sort(key=lambda extension: Path(extension.sources[0]).stat().st_size, reverse=True)
        super().build_extensions()

    def build_extension(self, ext: Extension) -> None:
        """See setuptools. Modules that share a C file are compiled at the same time, so each has its own objects."""
        own = copy.copy(self)
        own.build_temp = str(Path(self.build_temp, ext.name))
        super(BuildExtensions, own).build_extension(ext)


class BuildPython(build_py):
    """Copies the packages. The page's scripts are copied without comments, as they are served."""

    def copy_file(self, infile: str, outfile: str, *args: Any, **options: Any) -> tuple[str, bool]:
        """See setuptools. A strict editable install links to the sources instead."""
        copied = super().copy_file(infile, outfile, *args, **options)
        if not options.get("link") and Path(outfile).suffix == ".js":
            Path(outfile).write_bytes(scripts.without_comments(Path(infile).read_bytes()))
        return copied


def main() -> None:
    """Generate files, and run the command given to setuptools."""
    os.chdir(ROOT)
    if not (DEBUG or TRIAL or IS_SDIST):
        # The other builds use the files that the release build has generated.
        generate_protobuf_code()
        compile_catalogues()
        compile_words_of_page()
        copy_rules()
        render_pages()
    setup(
        package_dir=packages(),
        packages=list(packages()),
        # Include only the modules of these folders. The source distribution contains the folders completely.
        include_package_data=False,
        package_data={
            "": ["*.pxd", "*.pyi", "*.proto", "*.binpb", "*.mo", "rules.md", "py.typed", "*.net.gz", *SERVED]
        },
        # Only the build of the codecs needs the numbers of the API's fields.
        exclude_package_data={"chatiere.fields": ["*.pxd"]},
        ext_modules=[] if IS_SDIST else extensions() + http2_extensions(),
        cmdclass={"build_ext": BuildExtensions, "build_py": BuildPython},
    )


if __name__ == "__main__":
    main()
