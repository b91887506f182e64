# SPDX-License-Identifier: Apache-2.0
"""The bundles that bench/run measures with: made once, and kept in a cache folder.

From NVIDIA's libraries, as scripts/fetch-real-drivers leaves them, or from files of the same names, sizes
and entropy. For the table of growing sizes always from the latter, since it needs sizes that no driver has.
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent
RECIPE = "1"  # another one where what is made here changes, so that no old input is measured
MEBIBYTE = 1 << 20

# The forward-compatibility set: what `extract` takes of a .run without --components.
CUDA_STEMS = ("libcuda", "libcudadebugger", "libnvidia-ptxjitcompiler", "libnvidia-nvvm",
              "libnvidia-pkcs11-openssl3")

# Debian's libraries of two branches: bytes, and bytes of a byte once xz has packed them.
LIKE_470 = ("470.256.02", {
    "libnvoptix": (168406696, 0.63), "libnvidia-rtcore": (82671032, 0.16),
    "libnvidia-compiler": (55972120, 0.25), "libnvidia-glcore": (32103664, 0.26),
    "libnvidia-eglcore": (30284944, 0.27), "libnvidia-nvvm": (26659608, 0.30),
    "libcuda": (22045960, 0.12), "libnvidia-opencl": (17819248, 0.30),
    "libnvidia-glvkspirv": (13036984, 0.32), "libnvidia-ptxjitcompiler": (11160664, 0.45),
    "libnvcuvid": (5462824, 0.21), "libnvidia-ml": (1828088, 0.33)})
LIKE_535 = ("535.261.03", {
    "libnvidia-nvvm": (86140736, 0.25), "libcuda": (29384912, 0.10),
    "libnvidia-ptxjitcompiler": (23357184, 0.30), "libcudadebugger": (10188744, 0.26),
    "libnvidia-pkcs11-openssl3": (10176, 0.30)})

GROWTH_SIZES = (50, 200, 500)  # bundles of about so many million bytes
GROWTH_RATIO = 0.40  # of the .run to what is in it, when packed with little effort
LITTLE_EFFORT = 0.9  # with xz -6 it would be so much smaller
GROWTH_SHARES = {"libcuda": 0.2, "libnvidia-nvvm": 0.2, "libnvidia-rtcore": 0.4, "libnvidia-glcore": 0.2}


class InputError(Exception):
    """An input could not be made."""


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def call(*words, **options):
    """Runs a command that must succeed."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise InputError(f"{' '.join(str(word) for word in words)}\n{done.stdout}")
    return done.stdout


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclasses.dataclass
class Bundle:
    """A bundle on disk, and what is known of it without asking compatpack."""

    path: pathlib.Path
    size: int
    unpacked: int  # bytes of all files in it
    libcuda: str  # the file's name
    libcuda_sha256: str
    payload: pathlib.Path | None = None  # of a .run, alone

    def save(self):
        facts = dataclasses.asdict(self)
        facts["path"] = self.path.name
        facts["payload"] = self.payload.name if self.payload else None
        facts_file(self.path).write_text(json.dumps(facts), encoding="utf-8")

    @staticmethod
    def load(path):
        facts = json.loads(facts_file(path).read_text(encoding="utf-8"))
        facts["path"] = path
        facts["payload"] = path.parent / facts["payload"] if facts["payload"] else None
        return Bundle(**facts)


def facts_file(path):
    return path.with_name(path.name + ".facts")


# --- libraries ---------------------------------------------------------------------------------------------


def synthetic_bytes(size, ratio, seed):
    """Blocks of bytes that xz packs to about `ratio`, with literals and matches as a library has them."""
    rng = random.Random(seed)
    # Byte values of uneven frequency: about 6.3 bits of entropy.
    skew = bytes(int(255 * (i / 255) ** 2.6) for i in range(256))
    fresh_share = min(1.0, ratio * 8 / 6.3)
    previous = rng.randbytes(MEBIBYTE).translate(skew)
    while size > 0:
        fresh = rng.randbytes(MEBIBYTE).translate(skew)
        pieces, length = [], 0
        while length < MEBIBYTE:
            source = fresh if rng.random() < fresh_share else previous
            begin = rng.randrange(MEBIBYTE - 400)
            piece = source[begin:begin + rng.randrange(16, 400)]
            pieces.append(piece)
            length += len(piece)
        previous = b"".join(pieces)[:MEBIBYTE]
        yield previous[:size]
        size -= len(previous[:size])


def make_library(folder, stem, version, size, ratio):
    """A shared library with the right soname, and behind it bytes that nobody loads."""
    path = folder / f"{stem}.so.{version}"
    soname = f"{stem}.so.{'4' if stem == 'libnvidia-nvvm' else '1'}"
    call("cc", "-shared", "-fPIC", "-DCUDA_VERSION=12020", f"-Wl,-soname,{soname}", "-o", path,
         PROJECT / "scripts/stub-library.c")
    with open(path, "ab") as file:
        for block in synthetic_bytes(size - path.stat().st_size, ratio, stem):
            file.write(block)


def synthetic_folder(folder, version, libraries):
    for stem, (size, ratio) in libraries.items():
        make_library(folder, stem, version, size, ratio)
    (folder / "LICENSE").write_text("Synthetic files, free to use.\n", encoding="utf-8")


def real_folder(folder, tree):
    """Takes one branch's libraries into the flat layout of a .run."""
    for library in sorted((tree / "usr/lib").rglob("lib*.so.*")):
        if library.is_file() and not library.is_symlink():
            shutil.copy(library, folder)
    # Debian's copyright file carries NVIDIA's licence text.
    shutil.copy(sorted((tree / "usr/share/doc").rglob("copyright"))[0], folder / "LICENSE")


def is_cuda(name):
    return name.split(".so")[0] in CUDA_STEMS


def libcuda_in(folder):
    (path,) = [one for one in folder.rglob("libcuda.so.*.*") if one.is_file() and not one.is_symlink()]
    return path


def version_of(folder):
    return libcuda_in(folder).name.removeprefix("libcuda.so.")


def write_manifest(folder):
    version = version_of(folder)
    lines = ["NVIDIA Accelerated Graphics Driver for Linux-x86_64", version, " ", "nvidia nvidia-uvm", " ", " ",
             " ", "./kernel/", "./kernel/precompiled/", "LICENSE 0644 DOCUMENTATION MODULE:installer"]
    for library in sorted(folder.glob("lib*")):
        kind = "CUDA" if is_cuda(library.name) else "OPENGL"
        lines.append(f"{library.name} 0755 {kind}_LIB NATIVE / MODULE:gpgpu")
        stem = library.name.split(".so")[0]
        soname = f"{stem}.so.{'4' if stem == 'libnvidia-nvvm' else '1'}"
        lines.append(f"{soname} 0000 {kind}_SYMLINK NATIVE / {library.name} MODULE:gpgpu")
    (folder / ".manifest").write_text("\n".join(lines) + "\n", encoding="utf-8")


# --- bundles -----------------------------------------------------------------------------------------------


def make_run(folder, path, compress, members, *options):
    """A .run of a flat folder's `members`, in this order, and its payload beside it."""
    with tempfile.NamedTemporaryFile("w", suffix=".members") as order:
        order.write("".join(f"./{name}\n" for name in members))
        order.flush()
        call(PROJECT / "scripts/make-nvidia-run", "--compress", compress, "--members", order.name, *options,
             folder, path)
    with open(path, "rb") as file:
        head = file.read(65536)
        skip = int(re.search(rb"^skip=(\d+)$", head, re.MULTILINE)[1])
        begin = [match.end() for match in re.finditer(b"\n", head)][skip - 2]
        payload = path.with_suffix(f".tar.{compress}")
        file.seek(begin)
        with open(payload, "wb") as out:
            shutil.copyfileobj(file, out, MEBIBYTE)
    libcuda = libcuda_in(folder)
    bundle = Bundle(path, path.stat().st_size, sum((folder / name).stat().st_size for name in members),
                    libcuda.name, sha256_of(libcuda), payload)
    # What is measured against `xz -dc PAYLOAD >/dev/null` is the same work.
    unpacked = call("bash", "-o", "pipefail", "-c", '"$1" -dc "$2" | tar -xOf - "$3" | sha256sum', "bash",
                    compress, payload, f"./{libcuda.name}")
    if unpacked.split()[0] != bundle.libcuda_sha256:
        raise InputError(f"{payload} does not hold the libcuda that was packed")
    return bundle


def package_root(root, folder):
    """NVIDIA's layout of cuda-compat packages. Returns the libraries' folder, relative to `root`."""
    compat = pathlib.Path("usr/local/cuda-12.2/compat")
    (root / compat).mkdir(parents=True)
    for library in sorted(folder.glob("lib*")):
        if is_cuda(library.name):
            shutil.copy(library, root / compat)
            stem = library.name.split(".so")[0]
            (root / compat / f"{stem}.so.1").symlink_to(library.name)
    return compat


def package_facts(path, root):
    libcuda = libcuda_in(root)
    unpacked = sum(one.stat().st_size for one in root.rglob("lib*") if one.is_file() and not one.is_symlink())
    return Bundle(path, path.stat().st_size, unpacked, libcuda.name, sha256_of(libcuda))


def make_deb(folder, path):
    """A .deb whose data is xz in several blocks, as dpkg-deb packs with several threads."""
    version = version_of(folder)
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary) / "root"
        package_root(root, folder)
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN/control").write_text(
            f"Package: cuda-compat-12-2\nVersion: {version}-1\nArchitecture: amd64\n"
            "Maintainer: nobody <nobody@localhost>\nDescription: an input of bench/run\n", encoding="utf-8")
        call("bash", "-c", "find usr -type f -exec md5sum {} + >DEBIAN/md5sums", cwd=root)
        call("dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=2", "-b", root, path)
        data = pathlib.Path(temporary) / "data.tar.xz"
        call("bash", "-c", 'ar p "$1" data.tar.xz >"$2"', "bash", path, data)
        blocks = int(call("xz", "--robot", "-l", data).split("totals\t")[1].split("\t")[1])
        if blocks < 2:
            raise InputError(f"dpkg-deb made {blocks} block; a .deb of several was meant")
        return package_facts(path, root)


def make_rpm(folder, path):
    """An .rpm with a zstd payload."""
    version = version_of(folder)
    with tempfile.TemporaryDirectory() as temporary:
        top = pathlib.Path(temporary)
        root = top / "root"
        compat = package_root(root, folder)
        (top / "spec").write_text(
            "%global debug_package %{nil}\n%global __os_install_post %{nil}\n%global _build_id_links none\n"
            f"AutoReqProv: no\nName: cuda-compat-12-2\nVersion: {version}\nRelease: 1.el9\n"
            "Summary: an input of bench/run\nLicense: none\n%description\nAn input of bench/run.\n"
            f"%install\nmkdir -p %{{buildroot}}\ncp -a {root}/usr %{{buildroot}}/\n%files\n/{compat}\n",
            encoding="utf-8")
        call("rpmbuild", "--quiet", "-bb", "--target", "x86_64", "--define", f"_topdir {top}/rpm",
             "--define", "_binary_payload w12.zstdio", top / "spec")
        (made,) = (top / "rpm/RPMS/x86_64").glob("*.rpm")
        shutil.move(made, path)
        return package_facts(path, root)


class Inputs:
    """Makes each bundle when it is first asked for."""

    def __init__(self, cache, real):
        self._real = real
        self._kind = "real" if real else "synthetic"
        self._cache = cache / f"inputs-{RECIPE}"
        self._cache.mkdir(parents=True, exist_ok=True)

    @property
    def source(self):
        if self._real:
            versions = [version_of(self._real / "tree" / branch) for branch in ("470", "535")]
            return f"NVIDIA's real libraries {' and '.join(versions)}, as Debian 12 packages them"
        return f"synthetic libraries of the sizes and the entropy of NVIDIA's {LIKE_470[0]} and {LIKE_535[0]}"

    def run(self, compress, order):
        """A driver, with the libraries of component cuda `early` or `late` in the archive."""
        def make(path, folder):
            names = sorted(one.name for one in folder.iterdir() if one.name != ".manifest")
            names.sort(key=lambda name: is_cuda(name) == (order == "late"))
            return make_run(folder, path, compress, [".manifest", *names])
        return self._bundle(f"{self._kind}-{order}-{compress}.run", make, "470")

    def deb(self):
        return self._bundle(f"{self._kind}.deb", lambda path, folder: make_deb(folder, path), "535")

    def rpm(self):
        return self._bundle(f"{self._kind}.rpm", lambda path, folder: make_rpm(folder, path), "535")

    def growth(self, megabytes, compress):
        """A synthetic .run of about so many million bytes."""
        def make(path, folder):
            names = sorted(one.name for one in folder.iterdir())
            return make_run(folder, path, compress, names, "--fast")
        return self._bundle(f"growth-{megabytes}-{compress}.run", make, megabytes)

    def _bundle(self, name, make, libraries):
        path = self._cache / name
        if not facts_file(path).exists():
            say(f"making {name}")
            make(path, self._folder(libraries)).save()
        return Bundle.load(path)

    def _folder(self, libraries):
        """A flat folder of libraries: of a branch, or of a size."""
        growth = isinstance(libraries, int)
        folder = self._cache / f"files-{'growth' if growth else self._kind}-{libraries}"
        if folder.exists():
            return folder
        draft = folder.with_name(folder.name + ".draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        if growth:
            total = libraries * 1_000_000 / GROWTH_RATIO
            synthetic_folder(draft, "535.54.03", {stem: (int(total * share), GROWTH_RATIO * LITTLE_EFFORT)
                                                  for stem, share in GROWTH_SHARES.items()})
        elif self._real:
            real_folder(draft, self._real / "tree" / libraries)
        else:
            synthetic_folder(draft, *(LIKE_470 if libraries == "470" else LIKE_535))
        write_manifest(draft)
        os.rename(draft, folder)
        return folder


def find_real(folder):
    """`folder` with NVIDIA's libraries in it, fetched if need be; None where they cannot be had."""
    if all((folder / "tree" / branch).is_dir() for branch in ("470", "535")):
        return folder
    say("fetching NVIDIA's libraries")
    try:
        call(PROJECT / "scripts/fetch-real-drivers", "--to", folder, "470", "535")
    except (InputError, OSError) as error:
        say(f"they cannot be had, so the inputs are synthetic: {error}")
        return None
    return folder
