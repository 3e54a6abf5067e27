"""Fetching from each kind of origin: a real web server, a real pip, stand-ins for apt and npm on the path."""

import errno
import fcntl
import functools
import hashlib
import http.server
import io
import os
import shutil
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest

from study.data.catalogue import DataSet, Part
from study.data.fetch import fetch_data_set
from study.data.origins import DebianPackage, NpmPackage, PipPackage, Web, WebFile
from study.errors import UserError

TEXTS = {"a.txt": b"Dear", "b.txt": b"Yours"}


class Letters(DataSet):
    """Two letters with known checksums."""

    def checksums(self):
        return {name: f"sha256:{hashlib.sha256(text).hexdigest()}" for name, text in TEXTS.items()}


def letters(*origins, size=9, **changes):
    return Letters(
        name="letters",
        summary="two letters",
        licence="CC0",
        home="https://letters.invalid",
        size_bytes=size,
        parts=(Part("*.txt", 2, "letters"),),
        origins=origins,
        by_hand="a.txt and b.txt",
        **changes,
    )


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty data root."""
    folder = tmp_path / "root"
    monkeypatch.setenv("ECHOSTUDY_DATA", str(folder))
    return folder


@pytest.fixture
def site(tmp_path):
    """A folder, and its address on a web server on the loopback interface."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    folder = tmp_path / "site"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Makes shell scripts that stand for the package managers; nothing else is on the path but a shell's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cp", "mkdir", "cat"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))

    def make(name, script):
        (folder / name).write_text(f"#!{folder}/sh\nset -e\n{script}\n")
        (folder / name).chmod(0o755)

    return make


def tar_of(files, mode="w:gz"):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return content.getvalue()


def zip_of(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def is_complete(root):
    """The set is in its place, and nothing is left of the work on it."""
    assert {file.name: file.read_bytes() for file in (root / "letters").iterdir()} == TEXTS
    assert [file.name for file in (root / ".fetching").iterdir()] == ["letters.lock"]
    return True


def refusal(data_set):
    with pytest.raises(UserError) as refused:
        fetch_data_set(data_set)
    return str(refused.value)


def nothing_is_there(root):
    return not (root / "letters").exists()


def test_plain_files_come_from_a_web_site(root, site):
    folder, url = site
    for name, text in TEXTS.items():
        (folder / name).write_bytes(text)
    origin = Web(tuple(WebFile(f"{url}/{name}") for name in TEXTS))
    fetched = fetch_data_set(letters(origin))
    assert is_complete(root)
    assert fetched.origin is origin
    assert fetched.check.folder == root / "letters"
    assert fetched.check.parts[0].verified == 2


@pytest.mark.parametrize(("name", "pack"), [("all.tar.gz", tar_of), ("all.zip", zip_of)])
def test_archives_are_unpacked(root, site, name, pack):
    folder, url = site
    archive = pack(TEXTS)
    (folder / name).write_bytes(archive)
    md5 = hashlib.md5(archive).hexdigest()
    fetch_data_set(letters(Web((WebFile(f"{url}/{name}", f"md5:{md5}", unpack=True),))))
    assert is_complete(root)


@pytest.mark.parametrize("cut", [0, 10, -30])
def test_an_archive_that_cannot_be_unpacked_is_named_and_not_kept(root, site, cut):
    folder, url = site
    (folder / "all.tar.gz").write_bytes(tar_of(TEXTS)[:cut])
    sentence = refusal(letters(Web((WebFile(f"{url}/all.tar.gz", unpack=True),))))
    assert "gave all.tar.gz, which cannot be unpacked" in sentence
    assert nothing_is_there(root)
    (folder / "all.tar.gz").write_bytes(tar_of(TEXTS))
    fetch_data_set(letters(Web((WebFile(f"{url}/all.tar.gz", unpack=True),))))
    assert is_complete(root)


def test_an_archive_cannot_write_outside_its_folder(root, site, tmp_path):
    folder, url = site
    (folder / "all.tar.gz").write_bytes(tar_of(TEXTS | {"../../../../outside.txt": b"!"}))
    assert "cannot be unpacked" in refusal(letters(Web((WebFile(f"{url}/all.tar.gz", unpack=True),))))
    assert not [*tmp_path.rglob("outside.txt")]


def test_the_next_origin_is_tried_where_one_gives_something_else(root, site):
    folder, url = site
    for place, texts in (("old", TEXTS | {"b.txt": b"Hers"}), ("new", TEXTS)):
        (folder / place).mkdir()
        (folder / place / "all.zip").write_bytes(zip_of(texts))
    sites = [Web((WebFile(f"{url}/{place}/all.zip", unpack=True),)) for place in ("gone", "old", "new")]
    sentence = refusal(letters(*sites[:2]))
    assert f"{url}/gone answered 404" in sentence
    assert f"{url}/old gave something else" in sentence
    assert "b.txt is not what was published" in sentence
    (root / ".fetching" / "letters" / "downloads" / "all.zip").unlink()
    assert fetch_data_set(letters(sites[0], sites[2])).origin is sites[2]
    assert is_complete(root)


def test_where_nothing_works_one_sentence_says_what_was_tried_and_what_to_do(root, site, programs):
    _, url = site
    sentence = refusal(
        letters(
            DebianPackage("letters", "*.txt"),
            NpmPackage("letters@1", "*.txt"),
            Web((WebFile(f"{url}/a.txt"),)),
        )
    )
    assert sentence == (
        "letters was found nowhere: the Debian package letters needs apt-get, which is not installed; the "
        "npm package letters@1 needs npm, which is not installed; "
        f"{url} answered 404 File not found; put a.txt and b.txt into {root / 'letters'} (its home: "
        "https://letters.invalid)."
    )
    assert nothing_is_there(root)


def test_what_no_program_can_fetch_is_said_so_at_once(root):
    assert "letters cannot be fetched by a program; put a.txt and b.txt into" in refusal(letters(size=10**18))
    assert not root.exists()


def test_the_wanted_files_of_an_npm_package_are_taken(root, programs, tmp_path):
    package = {f"package/mail/{name}": text for name, text in TEXTS.items()}
    (tmp_path / "made.tgz").write_bytes(
        tar_of(package | {"package/mail/x.json": b"{}", "package/c.txt": b"c"})
    )
    programs("npm", f'test "$*" = "pack --ignore-scripts letters@1"\ncp {tmp_path}/made.tgz letters-1.tgz')
    fetch_data_set(letters(NpmPackage("letters@1", "package/mail/*.txt")))
    assert is_complete(root)


@pytest.fixture
def debian(programs, tmp_path):
    """Stand-ins for apt-get, which knows the package only once lists are loaded where asked, and dpkg-deb."""

    def make(knows_at_once):
        files = tmp_path / "files"
        (files / "usr/share/letters").mkdir(parents=True)
        for name, text in TEXTS.items():
            (files / "usr/share/letters" / name).write_bytes(text)
        known = (
            "true"
            if knows_at_once
            else 'case "$*" in *Dir::State::Lists=*) cat lists/known;; *) false;; esac'
        )
        programs(
            "apt-get",
            'if test "$1" = update; then cat > lists/known; exit; fi\n'
            f'if ! {{ {known}; }}; then echo "E: Unable to locate package letters"; exit 100; fi\n'
            "cat > letters_1_all.deb",
        )
        programs("dpkg-deb", f'test "$1" = --extract\ntest -e "$2"\ncp -R {files} "$3"')
        return letters(DebianPackage("letters", "usr/share/letters/*.txt"))

    return make


@pytest.mark.parametrize("knows_at_once", [True, False])
def test_the_wanted_files_of_a_debian_package_are_taken_without_lists_of_the_system(
    root, debian, knows_at_once
):
    fetch_data_set(debian(knows_at_once))
    assert is_complete(root)


def test_a_program_that_fails_is_quoted(root, programs):
    programs(
        "npm", 'echo "npm notice"; echo "npm error code E404: no letters"; echo "npm notice log"; exit 1'
    )
    sentence = refusal(letters(NpmPackage("letters@1", "*.txt")))
    assert "npm package letters@1 failed: npm pack letters@1: npm error code E404: no letters" in sentence
    programs("npm", "exit 3")
    assert "npm pack letters@1: no word why" in refusal(letters(NpmPackage("letters@1", "*.txt")))
    programs("npm", "exit 0")
    assert "gave 0 files *.tgz, not one" in refusal(letters(NpmPackage("letters@1", "*.txt")))


def write_letters(package, folder):
    for name in TEXTS:
        shutil.copy(package / name, folder)


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """A folder of wheels that pip looks into instead of an index: the package `some_letters` 1.0."""
    info = "some_letters-1.0.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {f"some_letters/{name}": text for name, text in TEXTS.items()} | {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: some-letters\nVersion: 1.0\n",
        f"{info}/WHEEL": wheel.encode(),
        f"{info}/RECORD": b"",
    }
    (tmp_path / "some_letters-1.0-py3-none-any.whl").write_bytes(zip_of(files))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))


def test_the_files_are_made_of_a_python_package(root, wheels):
    fetch_data_set(letters(PipPackage("some-letters==1.0", "some_letters", write_letters)))
    assert is_complete(root)


def test_a_python_package_that_does_not_exist_is_said_so(root, wheels):
    sentence = refusal(letters(PipPackage("no-letters==1.0", "no_letters", write_letters)))
    assert f"{Path(sys.executable).name} pip download no-letters==1.0: ERROR: No matching" in sentence


def unreachable():
    """An origin that would fail loudly if it were asked."""
    return Web((WebFile("http://127.0.0.1:9/never"),))


def test_a_set_that_is_there_is_only_checked(root):
    (root / "letters").mkdir(parents=True)
    for name, text in TEXTS.items():
        (root / "letters" / name).write_bytes(text)
    fetched = fetch_data_set(letters(unreachable()))
    assert fetched.origin is None
    assert fetched.check.parts[0].verified == 2
    (root / "letters" / "a.txt").write_bytes(b"Deer")
    (root / "letters" / "b.txt").unlink()
    sentence = refusal(letters(unreachable()))
    assert f"not sound ({root / 'letters' / 'b.txt'} is missing, and 1 more)" in sentence


@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_where_the_set_is_not_is_left_alone(root, tmp_path, there):
    elsewhere = tmp_path / "elsewhere"
    if there:
        elsewhere.mkdir()
    root.mkdir(exist_ok=True)
    (root / "letters").symlink_to(elsewhere)
    sentence = refusal(letters(unreachable()))
    assert f"is a link, but letters is not where it leads to, {elsewhere}; put it there, or" in sentence
    assert not (root / ".fetching").exists()


def test_a_file_in_the_place_of_a_set_is_left_alone(root):
    root.mkdir(exist_ok=True)
    (root / "letters").write_text("mine")
    assert "letters is no folder; move it away and fetch again." in refusal(letters(unreachable()))


def test_a_folder_with_something_else_in_it_is_left_alone(root):
    (root / "letters").mkdir(parents=True)
    (root / "letters" / "notes.md").write_text("mine")
    assert "holds only a part of letters, or something else" in refusal(letters(unreachable()))
    assert (root / "letters" / "notes.md").read_text() == "mine"


def test_an_empty_folder_in_its_place_is_filled(root, site):
    folder, url = site
    (folder / "all.zip").write_bytes(zip_of(TEXTS))
    (root / "letters").mkdir(parents=True)
    fetch_data_set(letters(Web((WebFile(f"{url}/all.zip", unpack=True),))))
    assert is_complete(root)


def test_a_disk_that_is_too_small_is_noticed_before_anything_is_loaded(root):
    assert "letters takes 1e+09 GB, but" in refusal(letters(unreachable(), size=10**18))


def test_only_one_process_at_a_time_fetches_a_set(root):
    (root / ".fetching").mkdir(parents=True)
    with (root / ".fetching" / "letters.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert (
            refusal(letters(unreachable())) == "Another process is fetching letters; wait until it is done."
        )


def test_a_root_that_cannot_be_written_is_said_so(root):
    root.write_text("a file")
    assert f"cannot be written ({os.strerror(errno.ENOTDIR)}); set ECHOSTUDY_DATA" in refusal(
        letters(unreachable())
    )


def test_a_python_package_with_other_files_than_expected_is_said_so(root, wheels):
    def write_more(package, folder):
        shutil.copy(package / "c.txt", folder)

    sentence = refusal(letters(PipPackage("some-letters==1.0", "some_letters", write_more)))
    assert "the pip package some-letters==1.0 gave something else" in sentence
    assert "c.txt" in sentence
