#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What is no bundle, or none for this job, is refused: it says what it is, and nothing is written.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir in work
# refuse STATUS TEXT FILE OPTION...: extract refuses FILE for that reason, and leaves nothing.
refuse() {
  wanted=$1
  text=$2
  file=$3
  shift 3
  # A FIFO must not be waited for.
  expect_error "$wanted" "$text" -- timeout 20 "$COMPATPACK" extract "$file" --out work/tree "$@"
  expect_stdout ''
  expect_equal "$(ls -A work)" ''
}

# --- other files ---

cp "$COMPATPACK" in/program.run
refuse 3 'an ELF program or library' in/program.run
printf 'MZ\220\0\3\0\0\0\4\0\0\0' >in/windows.run
refuse 3 'a Windows program' in/windows.run
printf '#!/bin/sh\necho hello\n' >in/script.run
refuse 3 'a script that is no makeself bundle' in/script.run
if command -v gzexe >/dev/null; then
  cp in/script.run in/gzexe.run
  chmod 755 in/gzexe.run
  gzexe in/gzexe.run >/dev/null 2>&1
  rm -f in/gzexe.run~
  grep -q '^skip=' in/gzexe.run || fail gzexe 'a line skip=' "$(head -n 5 in/gzexe.run)"
  refuse 3 'a program compressed with gzexe' in/gzexe.run
fi
printf '\n\n<!DOCTYPE html>\n<html><body>Please log in</body></html>\n' >in/page.run
refuse 3 'a web page' in/page.run
expect_stderr 'fetch it again'
printf '{"error": "not found"}\n' >in/json.run
refuse 3 'JSON text' in/json.run
: >in/empty.run
refuse 3 'an empty file' in/empty.run
head -c 5000 /dev/zero >in/zeros.run
refuse 3 'not a bundle that compatpack reads' in/zeros.run
tar -c -f - -C in script.run | gzip >in/archive.tar.gz
refuse 3 'bundle has no libcuda' in/archive.tar.gz
printf 'PK\003\004rest' >in/some.zip
refuse 3 'a zip archive' in/some.zip

refuse 1 'No such file' in/absent.run
mkdir in/folder
refuse 3 'a folder' in/folder
mkfifo in/fifo
refuse 3 'expected: a regular file' in/fifo
refuse 3 'expected: a regular file' /dev/null
"$FIXTURE_TOOL" nvidia-run --out in/unreadable.run
chmod 000 in/unreadable.run
refuse 1 'Permission denied' in/unreadable.run

# --- bundles without a libcuda ---

"$FIXTURE_TOOL" elf --out library --filler 1000
"$FIXTURE_TOOL" nvidia-run --out in/vgpu.run --version 550.144.02 --file libnvidia-ml.so.550.144.02=library \
  --file libnvidia-vgpu.so.550.144.02=library --text is_vgpu_host_package.txt=yes
refuse 3 'a vGPU host (hypervisor) package' in/vgpu.run
# Wherever the file stands that marks it.
mkdir -p many/kernel
seq 300 | while read -r number; do : >"many/kernel/a$number.c"; done
"$FIXTURE_TOOL" nvidia-run --out in/vgpu2.run --from many --text is_vgpu_host_package.txt=yes
refuse 3 'a vGPU host (hypervisor) package' in/vgpu2.run
"$FIXTURE_TOOL" nvidia-run --out in/kernel.run --text kernel/nvidia/nv.c=code --text kernel/Kbuild=make
refuse 3 'kernel' in/kernel.run
"$FIXTURE_TOOL" upstream-run --out in/cuda_12.4.0_550.54.14_linux.run \
  --text builds/cuda_nvcc/bin/nvcc=x --text builds/NVIDIA-Linux-x86_64-550.54.14.run=x --text cuda-installer=x
refuse 3 'CUDA toolkit' in/cuda_12.4.0_550.54.14_linux.run
"$FIXTURE_TOOL" upstream-run --out in/game.run --text data/game.sh=x
refuse 3 'no libcuda for' in/game.run
expect_stderr '--include'
# But files that are asked for by name are taken.
expect_status 0 -- "$COMPATPACK" extract in/vgpu.run --out vgpu --include '*vgpu.so*'
expect_file vgpu/libnvidia-vgpu.so.550.144.02 0755
"$FIXTURE_TOOL" nvidia-run --out in/arm.run --arch aarch64
refuse 3 'libcuda for aarch64' in/arm.run --arch x86_64
expect_stderr '--arch aarch64'
expect_status 0 -- "$COMPATPACK" extract in/arm.run --out arm --arch aarch64

# --- targets ---

"$FIXTURE_TOOL" nvidia-run --out driver.run
# target STATUS TEXT PATH: extract refuses that target.
target() {
  expect_error "$1" "$2" -- "$COMPATPACK" extract driver.run --out "$3"
  expect_stdout ''
}

# shellcheck disable=SC2016 # no expansion is meant
for path in 'work/a:b' 'work/a;b' 'work/a$b'; do
  target 2 'LD_LIBRARY_PATH cannot carry this path' "$path"
  expect_no "$path"
done
expect_error 2 'LD_LIBRARY_PATH cannot carry' -- "$COMPATPACK" extract driver.run --out x --prefix /opt/a:b
for path in /usr/lib /usr/lib/compat /lib64/compat /usr/lib/x86_64-linux-gnu/compat /usr/local/lib/x; do
  target 1 "refusing to write into the system's library folders" "$path"
  expect_no /usr/lib/compat
done
expect_error 1 "system's library folders" -- "$COMPATPACK" extract driver.run --out x --prefix /usr/lib64
expect_no x
# A link, or a way around, leads there as well.
ln -s /usr/lib in/lib
target 1 "system's library folders" in/lib/compat
target 1 "system's library folders" /usr/share/../lib/compat
target 2 'not a folder that can be made' /
target 2 'is empty' ''
echo text >in/file
target 1 'is not a folder' in/file/tree
target 1 'Not a directory' in/file/below/tree

mkdir work/closed
chmod 555 work/closed
target 1 'Permission denied' work/closed/tree
expect_equal "$(ls -A work/closed)" ''
chmod 755 work/closed
rmdir work/closed

echo mine >work/file
target 1 'target holds something that compatpack did not make' work/file
expect_error 1 'did not make' -- "$COMPATPACK" extract driver.run --out work/file --force
expect_equal "$(cat work/file)" mine
mkdir work/foreign
echo mine >work/foreign/notes
cp -a work/foreign copy
for force in --jobs=1 --force; do
  expect_error 1 'did not make' -- "$COMPATPACK" extract driver.run --out work/foreign "$force"
  expect_same work/foreign copy
done
printf '{"format": 1}\n' >work/foreign/compatpack.json
expect_error 1 'did not make' -- "$COMPATPACK" extract driver.run --out work/foreign --force
expect_equal "$(cat work/foreign/notes)" mine
ln -s nowhere work/dangling
target 1 '' work/dangling
expect_link work/dangling nowhere
mkfifo work/fifo
expect_error 1 'did not make' -- timeout 20 "$COMPATPACK" extract driver.run --out work/fifo --force
expect_equal "$(ls -A work)" 'dangling
fifo
file
foreign'
# An empty folder is nobody's.
mkdir empty
expect_status 0 -- "$COMPATPACK" extract driver.run --out empty/
expect_file empty/env.sh
rm -r work
mkdir work

# --- a file that may not grow ---

"$FIXTURE_TOOL" nvidia-run --out large.run --filler 300000 --no-compat32
(
  ulimit -f 200 # blocks of 512 bytes
  expect_error 1 'File too large' -- "$COMPATPACK" extract large.run --out work/tree
)
expect_equal "$(ls -A work)" ''
# What was begun is removed too, though that takes descriptors. So do a sanitizer's checks.
if ! grep -q __asan_init "$COMPATPACK"; then
  for number in 12 14; do
    # shellcheck disable=SC2016 # for the inner shell, whose own descriptors these are
    expect_error 1 'Too many open files' -- sh -c 'ulimit -n "$1"; shift; exec "$@"' sh "$number" \
      "$COMPATPACK" extract large.run --out work/tree
    expect_equal "$(ls -A work)" ''
  done
fi

# --- checksums that the user has ---

sha256=$(sha256sum <driver.run)
sha256=${sha256%% *}
wrong=$(printf '%s' "$sha256" | tr 0-9a-f 1-9a-f0)
refuse 4 'SHA-256 does not match' driver.run --sha256 "$wrong"
expect_stderr "$sha256"
expect_stderr "$wrong"
refuse 2 '64 hexadecimal digits' driver.run --sha256 1234
refuse 4 'SHA-1 does not match' driver.run --sha1 0123456789012345678901234567890123456789
refuse 4 'MD5 does not match' driver.run --md5 01234567890123456789012345678901
printf '%s  other.run\n%s *driver.run\n' "$sha256" "$wrong" >sums
refuse 4 'SHA-256 does not match' driver.run --checksum-file sums
printf '%s  other.run\n' "$sha256" >sums
refuse 3 'no line for the bundle' driver.run --checksum-file sums
refuse 1 'absent' driver.run --checksum-file absent
printf 'not a sum\n' >sums
refuse 3 'not a file of checksums' driver.run --checksum-file sums
for ending in sha256sum sha256; do
  echo "$wrong  driver.run" >"driver.run.$ending"
  refuse 4 "SHA-256 does not match" driver.run
  expect_stderr "driver.run.$ending"
  rm "driver.run.$ending"
done
echo 01234567890123456789012345678901 >driver.run.md5sum
refuse 4 'MD5 does not match' driver.run
md5sum driver.run >driver.run.md5sum
sha256sum driver.run >driver.run.sha256sum
sha256sum driver.run in/script.run >sums
expect_status 0 -- "$COMPATPACK" extract driver.run --out work/tree --checksum-file sums --sha256 "$sha256"
expect_stdout 'SHA-256 of sums'
expect_stdout 'SHA-256 of --sha256'
expect_stdout 'MD5 of driver.run.md5sum'
expect_stdout 'SHA-256 of driver.run.sha256sum'
# A tree that is up to date is still held to them.
expect_error 4 'SHA-256 does not match' -- "$COMPATPACK" extract driver.run --out work/tree --sha256 "$wrong"
rm -r work/tree driver.run.*

"$FIXTURE_TOOL" nvidia-run --out unsummed.run --md5 00000000000000000000000000000000 --crc 0000000000
refuse 3 'nothing to verify the bundle against' unsummed.run --require-checksum
expect_status 0 -- "$COMPATPACK" extract unsummed.run --out work/tree
expect_stdout 'not verified'
rm -r work/tree
"$FIXTURE_TOOL" nvidia-run --out damaged.run --crc 1
refuse 4 'cksum does not match' damaged.run
expect_status 0 -- "$COMPATPACK" extract damaged.run --out work/tree --no-verify
expect_stderr '--no-verify'
expect_stdout 'NOT VERIFIED'
expect_text work/tree/compatpack.json '"verification_skipped": true'
