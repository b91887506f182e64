# SPDX-License-Identifier: Apache-2.0
"""What bench/run found, as tables in Markdown. Nothing in them names the machine's paths, hosts or users."""

import dataclasses
import datetime
import os
import platform
import re
import shutil
import subprocess

from inputs import PROJECT
from measuring import Spread, peak, ratios, seconds, written

MEBIBYTE = 1 << 20
PEAK_TARGET = 48  # MiB, of a one-block stream whatever its size

HOW = """\
Each command ran once to warm the cache, and that run is thrown away; then ours and the peers ran in turn,
{pairs} times each (growth: at most 3 times). A ratio is our time divided by the peer's of the same turn: the
median, and the lowest and the highest in brackets. A target is met where the median meets it. Between two runs
what was written is removed and the disk is synced, outside the time that counts. Every command ended with
status 0, and every tree had the same libcuda, byte for byte, as was packed.

compatpack verifies all checksums and fsyncs every file within its time. `sh X.run -x` verifies CRC and MD5;
the other peers verify nothing but what the compressed stream itself carries; none of them calls fsync.

Peak memory is of the largest process of a command. Written is the kernel's count of bytes that the command
made dirty for a disk (`write_bytes` in `/proc/PID/io`); where the tree is in memory there are none, and fsync
costs nothing.
"""


def first_line(*words):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError:
        return None
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return lines[0] if lines else None


def machine():
    """(what, which) of this machine, as far as times depend on it."""
    cpu = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    rows = [("CPU", f"{cpu}, {os.cpu_count()} cores"), ("kernel", f"{platform.system()} {platform.release()}")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    rows.append(("memory", f"{memory / (1 << 30):.0f} GiB"))
    for tool, *words in (("xz", "xz", "--version"), ("zstd", "zstd", "--version"), ("tar", "tar", "--version"),
                         ("dpkg", "dpkg-deb", "--version"), ("rpm", "rpm", "--version"),
                         ("cpio", "cpio", "--version"), ("bsdtar", "bsdtar", "--version"), ("7zz", "7zz")):
        line = first_line(*words)
        found = re.search(r"\d+(\.\d+)+", line or "")
        rows.append((tool, found[0] if found else "not installed"))
    commit = first_line("git", "-C", str(PROJECT), "describe", "--always", "--dirty") if shutil.which("git") else None
    rows.append(("compatpack", f"commit {commit}, Release" if commit else "Release"))
    rows.append(("measured on", datetime.date.today().isoformat()))
    return rows


def shown_command(options):
    """The command without this machine's paths."""
    words = ["bench/run"]
    words += ["--synthetic"] if options.synthetic else ["--real $REAL"]
    words += ["--cache $CACHE"]
    words += ["--compatpack $COMPATPACK"] if options.compatpack else []
    words += [f"--pairs {options.pairs}"] if options.pairs != 5 else []
    words += [f"--only '{options.only}'"] if options.only else []
    words += ["--instructions"] if options.instructions else []
    if options.write:
        path = options.write.resolve()
        words += [f"--write {path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path.name}"]
    return " ".join(words)


def mebibytes(count):
    return "?" if count is None else f"{count / MEBIBYTE:.0f}"


def shown(spread, digits=2):
    return f"{spread.median:.{digits}f} ({spread.low:.{digits}f}..{spread.high:.{digits}f})"


def verdict(value, target):
    return "met" if value <= target else "**MISSED**"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


@dataclasses.dataclass
class Results:
    source: str
    pairs: int
    jobs: list = dataclasses.field(default_factory=list)
    moments: list = dataclasses.field(default_factory=list)
    growth: list = dataclasses.field(default_factory=list)
    counted: list = dataclasses.field(default_factory=list)

    def add_job(self, job, samples):
        self.jobs.append((job, samples))

    def add_moment(self, moment, samples):
        self.moments.append((moment, samples))

    def add_growth(self, compress, bundle, samples):
        self.growth.append((compress, bundle, samples))

    def add_instructions(self, compress, tool, ours, peer):
        self.counted.append((compress, tool, ours, peer))

    def markdown(self, machine_rows, command):
        parts = ["# Measured\n", f"By `{command}`, with {self.source}.\n", table(("", ""), machine_rows),
                 HOW.format(pairs=self.pairs), "## Targets\n", self._targets(), "## All peers\n", self._all_peers()]
        if self.growth:
            parts += ["## Cost grows as the work\n", "Synthetic bundles, all components.\n", self._growth()]
        if self.counted:
            parts += ["## Instructions\n", self._instructions()]
        return "\n".join(parts)

    def _targets(self):
        rows = []
        for job, (ours, *theirs) in self.jobs:
            for peer, samples in zip(job.peers, theirs, strict=True):
                if peer.target is not None:
                    ratio = ratios(ours, samples)
                    rows.append((job.title, peer.command.label, shown(ratio), f"<= {peer.target}",
                                 verdict(ratio.median, peer.target)))
        for title, most in self._peaks():
            rows.append((title, "", f"{most:.0f} MiB", f"<= {PEAK_TARGET} MiB", verdict(most, PEAK_TARGET)))
        for moment, samples in self.moments:
            time = Spread.of([sample.seconds * 1000 for sample in samples])
            rows.append((moment.title, "", shown(time, 1) + " ms", f"<= {moment.target_ms} ms",
                         verdict(time.median, moment.target_ms)))
        return table(("job", "against", "ratio, or what it took", "target", ""), rows)

    def _peaks(self):
        """The worst of all runs on one-block streams."""
        for compress in ("xz", "zstd"):
            runs = [sample for job, (ours, *_) in self.jobs
                    if job.title.startswith(".run") and compress in job.title for sample in ours]
            runs += [sample for kind, _, samples in self.growth if kind == compress for sample in samples]
            if runs:
                yield f"peak memory, all .run of one-block {compress}", peak(runs) / MEBIBYTE

    def _all_peers(self):
        rows = []
        for job, (ours, *theirs) in self.jobs:
            rows.append((job.title, f"`{job.ours.label}`", shown(seconds(ours)), "", mebibytes(peak(ours)),
                         mebibytes(written(ours))))
            for peer, samples in zip(job.peers, theirs, strict=True):
                rows.append(("", peer.command.label, shown(seconds(samples)), shown(ratios(ours, samples)),
                             mebibytes(peak(samples)), mebibytes(written(samples))))
        return table(("job", "command", "seconds", "our ratio to it", "peak MiB", "written MiB"), rows)

    def _growth(self):
        rows = []
        for compress, bundle, samples in self.growth:
            time = seconds(samples)
            rows.append((compress, f"{bundle.size / 1e6:.0f}", f"{bundle.unpacked / 1e6:.0f}", shown(time),
                         f"{bundle.size / 1e6 / time.median:.0f}", f"{bundle.unpacked / 1e6 / time.median:.0f}",
                         mebibytes(peak(samples)), mebibytes(written(samples))))
        return table(("compression", "bundle, MB", "unpacked, MB", "seconds", "MB/s of the bundle", "MB/s unpacked",
                      "peak MiB", "written MiB"), rows)

    def _instructions(self):
        note = "Of the growth bundle of 50 MB, all components; in thousand millions.\n"
        if any(tool == "callgrind" for _, tool, _, _ in self.counted):
            note += ("callgrind counts every thread, and shows programs a CPU without SHA instructions: hashing weighs "
                     "more here than it does in time.\n")
        rows = [(compress, tool, f"{ours / 1e9:.2f}", f"`{compress} -dc`: {peer / 1e9:.2f}", f"{ours / peer:.2f}")
                for compress, tool, ours, peer in self.counted]
        return note + "\n" + table(("compression", "counted by", "ours", "peer", "ratio"), rows)
