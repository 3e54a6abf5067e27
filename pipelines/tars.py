"""Examples out of tar files that are read from the front, wherever they lie."""

from __future__ import annotations

import lzma
import tarfile
import zlib
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from pipelines.remote import Patience, open_shard
from pipelines.sources import SourceError

_DAMAGE = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError)
_MOST_ZEROS = 3 * tarfile.RECORDSIZE
"""How many zero bytes a sound tar may end with. Two empty blocks and the rest of a record are usual."""
_GZIP_TRAILER = 8
_PATIENCE = Patience()


class DamagedShardError(SourceError):
    """A shard that is truncated or corrupt."""


def examples_in(shard: str, patience: Patience = _PATIENCE) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The examples of a tar file, as they come: their name, and their files by extension.

    Consecutive files whose paths agree up to the first dot of the last part make one example:
    `cats/007.jpg` and `cats/007.label.txt` are `jpg` and `label.txt` of `cats/007`, as in the WebDataset
    library. The tar may be compressed.

    Raises:
        DamagedShardError: the tar is truncated or corrupt: that may also show in what follows its end marker,
            in the marker's absence, or in there being no files. The example before the damage is left out
            too: it may lack files.
        SourceError: it cannot be read, for another reason; where a connection fails, once `patience` is at
            its end.
    """
    given = position = 0
    try:
        with (
            open_shard(shard, patience) as file,
            tarfile.open(fileobj=file, mode="r|*", tarinfo=_StrictMember) as archive,
        ):
            try:
                for name, members in groupby(_files(archive), key=lambda member: _split(member.name)[0]):
                    yield name, {_split(member.name)[1]: _content(archive, member) for member in members}
                    given += 1
            finally:
                position = archive.fileobj.tell() if archive.fileobj else 0
    except _DAMAGE as error:
        raise DamagedShardError(
            f"Shard {shard} is damaged at byte {position}, after {given} examples ({error}); fetch it anew, "
            "or leave out what is damaged with on_error='skip'."
        ) from error
    except SourceError:
        raise
    except ImportError as error:
        raise SourceError(
            f"Shard {shard} needs a package that is missing ({error}); install it with pip."
        ) from error
    except Exception as error:  # each kind of storage has errors of its own
        raise SourceError(
            f"Shard {shard} cannot be read ({type(error).__name__}: {error}); check its address and your "
            "access to it."
        ) from error


class _StrictMember(tarfile.TarInfo):
    """Takes what is no header for damage; tarfile would take it for the end, which is an empty block."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> _StrictMember:
        """See `tarfile.TarInfo`."""
        try:
            return super().fromtarfile(archive)
        except tarfile.HeaderError as error:
            if isinstance(error, tarfile.EOFHeaderError):  # type: ignore[attr-defined]  # not in the stubs
                raise
            if isinstance(error, tarfile.EmptyHeaderError):  # type: ignore[attr-defined]  # likewise
                raise tarfile.ReadError("it ends without an end marker") from error
            raise tarfile.ReadError(str(error)) from error


def _files(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """The files of a tar, and then the proof that it ends there: zeros in its midst look like its end."""
    is_empty = True
    for member in archive:
        is_empty = False
        if member.isfile():
            yield member
    stream: Any = archive.fileobj
    zeros = tarfile.BLOCKSIZE
    while block := stream.read(tarfile.BLOCKSIZE):
        if block.strip(b"\0"):
            raise tarfile.ReadError(f"data follow the end marker at byte {archive.offset}")
        zeros += len(block)
        if zeros > _MOST_ZEROS:
            raise tarfile.ReadError(f"from byte {archive.offset} on there are more zeros than end a tar")
    unpacker = getattr(stream, "cmp", None)
    if unpacker is not None and unpacker.unused_data[_GZIP_TRAILER:].strip(b"\0"):
        raise tarfile.ReadError("data follow its compressed part")
    if is_empty:
        raise tarfile.ReadError("it has no files")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    content = file.read() if file else b""
    if len(content) < member.size:
        raise tarfile.ReadError("unexpected end of data")
    return content


def _split(path: str) -> tuple[str, str]:
    """Name and extension: parted at the first dot of the last part."""
    folder, slash, file = path.rpartition("/")
    stem, _, extension = file.partition(".")
    return folder + slash + stem, extension
