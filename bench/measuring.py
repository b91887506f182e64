# SPDX-License-Identifier: Apache-2.0
"""Runs commands in turn, checks that each did its job, and keeps what they took."""

import dataclasses
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

from inputs import InputError, say, sha256_of

SHARED_MEMORY = pathlib.Path("/dev/shm")
MEMORY_NEEDED = 2 << 30  # for the largest tree that is made there


class CommandFailed(Exception):
    """A command that was to be measured did not do its job."""


@dataclasses.dataclass(frozen=True)
class Proof:
    """What a command must leave: a tree with this libcuda, or its digest on stdout."""

    libcuda: str
    sha256: str
    where: str  # "tree" or "stdout"


@dataclasses.dataclass(frozen=True)
class Command:
    """`words` are run as they are; {out} in them is a path where nothing is."""

    label: str
    words: tuple[str, ...]
    proof: Proof | None = None
    in_memory: bool = False  # {out} is on a file system without a disk


@dataclasses.dataclass(frozen=True)
class Sample:
    """What one run of a command took."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    written_bytes: int | None  # None where the kernel does not count


@dataclasses.dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float

    @staticmethod
    def of(values):
        return Spread(statistics.median(values), min(values), max(values))


def ratios(ours, peers):
    """Of the runs that followed each other: what disturbed the machine for a while disturbed both."""
    return Spread.of([mine.seconds / theirs.seconds for mine, theirs in zip(ours, peers, strict=True)])


def seconds(samples):
    return Spread.of([sample.seconds for sample in samples])


def peak(samples):
    return max(sample.peak_bytes for sample in samples)


def written(samples):
    counts = [sample.written_bytes for sample in samples]
    return None if None in counts else statistics.median(counts)


class Bench:
    """Measures commands in a work folder, which stands where the bundles do: on a disk."""

    def __init__(self, work):
        self._work = work
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        self._measure = work / "measure"
        source = pathlib.Path(__file__).with_name("measure.c")
        subprocess.run(["cc", "-O2", "-o", self._measure, source], check=True)
        self.has_memory = SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > MEMORY_NEEDED
        self._memory = tempfile.TemporaryDirectory(dir=SHARED_MEMORY) if self.has_memory else None

    @property
    def work(self):
        return self._work

    def in_turn(self, commands, rounds):
        """Runs A B A B ...: `rounds` samples of each command, after a round that is thrown away."""
        samples = [[] for _ in commands]
        for number in range(rounds + 1):
            for command, kept in zip(commands, samples, strict=True):
                sample = self.once(command)
                if number > 0:
                    kept.append(sample)
        return samples

    def once(self, command):
        out = (pathlib.Path(self._memory.name) if command.in_memory else self._work) / "out"
        words = [word.replace("{out}", str(out)) for word in command.words]
        report = self._work / "report"
        # A proof on stdout takes a file; else nothing is written that need not be.
        stdout_path = self._work / "stdout" if command.proof and command.proof.where == "stdout" else os.devnull
        with open(stdout_path, "wb") as stdout, open(self._work / "stderr", "wb") as stderr:
            measured = subprocess.run([self._measure, report, *words], stdin=subprocess.DEVNULL, stdout=stdout,
                                      stderr=stderr, check=False)
        if measured.returncode != 0:
            raise CommandFailed(f"cannot measure: {' '.join(words)}")
        status, nanoseconds, cpu, rss, bytes_written = (int(word) for word in report.read_text().split())
        if status != 0:
            said = (self._work / "stderr").read_text(errors="replace")
            raise CommandFailed(f"exit status {status}: {' '.join(words)}\n{said}")
        self._prove(command, out)
        shutil.rmtree(out, ignore_errors=True)
        # What is left to write for this one is not to be written during the next.
        os.sync()
        return Sample(nanoseconds / 1e9, cpu / 1e6, rss * 1024, None if bytes_written < 0 else bytes_written)

    def _prove(self, command, out):
        proof = command.proof
        if proof is None:
            return
        if proof.where == "stdout":
            done = proof.sha256 in (self._work / "stdout").read_text(errors="replace")
        else:
            found = [one for one in out.rglob(proof.libcuda) if one.is_file() and not one.is_symlink()]
            done = len(found) == 1 and sha256_of(found[0]) == proof.sha256
        if not done:
            raise CommandFailed(f"{command.label} did not give {proof.libcuda} as it was packed")


def _counted_by_perf(event, words):
    """None where perf cannot count here."""
    done = subprocess.run(["perf", "stat", "-x", ",", "-e", event, "--", *words], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    count = re.search(r"^(\d+),", done.stderr, re.MULTILINE)
    return int(count[1]) if done.returncode == 0 and count else None


def instructions(words):
    """How many instructions a command takes, and which tool said so. The tool is chosen by what works; the command
    itself runs once, as what it leaves would make a second run another one."""
    if shutil.which("perf"):
        for event in ("instructions", "instructions:u"):
            if _counted_by_perf(event, ("true",)) is not None:
                count = _counted_by_perf(event, words)
                if count is None:
                    raise CommandFailed(f"perf: {' '.join(words)}")
                return count, f"perf stat -e {event}"
    if not shutil.which("valgrind"):
        raise InputError("instructions: perf cannot count here, and valgrind is not installed")
    say(f"callgrind: {words[0]}")
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--", *words],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    count = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not count:
        raise CommandFailed(f"callgrind: {' '.join(words)}\n{done.stderr}")
    return int(count[1]), "callgrind"
