#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Archives that mean harm: nothing is written outside the target, nothing is run, no power is kept.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

"$FIXTURE_TOOL" elf --out library --soname libcuda.so.1
mkdir outside work
echo untouched >outside/victim
cp -a outside before
deep=$PWD/outside

# pack OPTION...: hostile.run with a driver's library, and what the options of fixture_tool's tar add.
pack() {
  "$FIXTURE_TOOL" tar --out hostile.tar --file libcuda.so.535.54.03=library "$@" --compress gzip
  "$FIXTURE_TOOL" nvidia-run --out hostile.run --payload hostile.tar --compress gzip
}

# harmless WHAT: nothing outside has changed, nor is there anything but the tree.
harmless() {
  expect_same outside before
  expect_equal "$(ls -A outside)" victim
  expect_no "$deep/new"
  case $(ls -A work) in
    '' | tree) ;;
    *) fail "$1" 'at most a tree' "$(ls -A work)" ;;
  esac
}

# refused WHAT TEXT: all of what extract takes, and whatever is asked for by name.
refused() {
  for option in --components=cuda --components=all '--include=*'; do
    expect_error 3 "$2" -- "$COMPATPACK" extract hostile.run --out work/tree "$option"
    expect_no work/tree
    harmless "$1"
  done
  expect_error 3 "$2" -- "$COMPATPACK" verify hostile.run
}

# safe WHAT: taken or refused, but harmless.
safe() {
  status=0
  "$COMPATPACK" extract hostile.run --out work/tree --include '*' >out 2>err || status=$?
  case $status in
    0) expect_status 0 -- "$COMPATPACK" verify work/tree ;;
    1 | 3) expect_no work/tree ;;
    *) fail "$1" 'status 0, 1 or 3' "$status: $(cat err)" ;;
  esac
  harmless "$1"
  # Links lead to files of the tree.
  if [ "$status" = 0 ]; then
    expect_equal "$(find -L work/tree -type l)" ''
    expect_equal "$(find work/tree -type l -lname '*/*')" ''
    expect_equal "$(find work/tree ! -type l ! -type f ! -type d)" ''
    expect_equal "$(find work/tree -perm /7000)" ''
    rm -r work/tree
  fi
}

# --- names that leave ---

for name in ../outside/new ../../outside/new a/../../outside/new lib/.. "$deep/new" /etc/ld.so.preload ..; do
  pack --text "$name=evil"
  refused "$name" 'member name'
  expect_stderr 'nothing was written'
done

# --- links ---

pack --link "lib=$deep" --text lib/new=evil
safe 'a file behind an absolute link'
pack --link "lib=../outside" --text lib/victim=evil
safe 'a file behind a relative link'
pack --link "libcuda.so.1=$deep/victim" --text libcuda.so.1=evil
safe 'a file of the name of a link'
pack --link libcuda.so.535.54.03=libcuda.so.535.54.03
safe 'a link to itself'
pack --link "libcuda.so=/etc/passwd" --link "libnvidia-x.so.1=../../outside/victim" --link "compatpack.json=$deep/new"
safe 'links that lead out'
pack --hardlink "libnvidia-x.so.1=$deep/victim" --text libnvidia-x.so.1=evil
safe 'a hard link to a file outside'
pack --hardlink "libnvidia-x.so.1=../outside/victim"
safe 'a hard link out by ..'

# --- what is no file ---

pack --device libnvidia-x.so.1
refused 'a device' 'libnvidia-x.so.1'
pack --fifo libnvidia-x.so.1
refused 'a fifo' 'libnvidia-x.so.1'
pack --folder libnvidia-x.so.1 --folder env.sh
safe 'folders of the names of files'

# --- names that are the tree's own ---

for name in env.sh compatpack.json .member-0 sub/env.fish; do
  pack --text "$name=evil"
  safe "$name"
  [ "$status" = 0 ] || expect_text err compatpack
  expect_status 0 -- "$COMPATPACK" extract hostile.run --out work/tree
  case $(cat "work/tree/${name##*/}" 2>/dev/null) in
    evil) fail "$name" "the tree's own" evil ;;
  esac
  rm -r work/tree
done

# A name is shown without what a terminal would act on.
pack --text "$(printf 'a\033[31mb\nc\134')=x"
expect_status 0 -- "$COMPATPACK" list hostile.run
expect_equal "$("$COMPATPACK" list hostile.run | tr -d -c '\033')" ''
expect_equal "$("$COMPATPACK" list hostile.run | wc -l)" 2
safe 'a name with a terminal sequence'

# --- twins ---

# Names are bytes: what differs in case, or in how Unicode writes an accent, is two files. On a file system that
# takes them for one the second is refused, as any name that is taken.
composed=$(printf 'libcaf\303\251.so.1')
decomposed=$(printf 'libcafe\314\201.so.1')
pack --text LIBCUDA.so.535.54.03=upper --text "$composed=one" --text "$decomposed=two"
expect_status 0 -- "$COMPATPACK" extract hostile.run --out work/tree --include '*'
expect_same work/tree/libcuda.so.535.54.03 library
expect_text work/tree/LIBCUDA.so.535.54.03 upper
expect_text "work/tree/$composed" one
expect_text "work/tree/$decomposed" two
harmless 'twins'
rm -r work/tree

# A name that comes twice: the later one counts, as for tar, and that is said.
cp library later
echo later >>later
pack --file libcuda.so.535.54.03=later
expect_status 0 -- "$COMPATPACK" extract hostile.run --out work/tree
expect_stderr 'libcuda.so.535.54.03 stands in the bundle twice; the later one is taken'
expect_same work/tree/libcuda.so.535.54.03 later
rm -r work/tree

# --- powers ---

mkdir packed
cp library packed/libcuda.so.535.54.03
cp library packed/libnvidia-ml.so.535.54.03
echo text >packed/LICENSE
chmod 7777 packed/*
tar -c -f hostile.tar -C packed --owner=root:0 --group=root:0 .
"$FIXTURE_TOOL" nvidia-run --out hostile.run --payload hostile.tar --compress none
(umask 000 && expect_status 0 -- "$COMPATPACK" extract hostile.run --out work/tree --include '*')
expect_file work/tree/libcuda.so.535.54.03 0755
expect_file work/tree/libnvidia-ml.so.535.54.03 0755
expect_file work/tree/LICENSE 0644
expect_equal "$(stat -c %a:%u work/tree)" "755:$(id -u)"
expect_equal "$(find work/tree ! -user "$(id -u)")" ''
rm -r work/tree

# --- bombs ---

# bomb NAME SIZE: a driver's library, and so many zeros, in a few kilobytes.
bomb() {
  mkdir bomb
  cp library bomb/libcuda.so.535.54.03
  truncate -s "$2" bomb/zeros
  tar -c -C bomb . | zstd -q -1 >bomb.tar.zst
  rm -r bomb
  "$FIXTURE_TOOL" nvidia-run --out "$1" --payload bomb.tar.zst --compress zstd
}

# In a member that nobody wants they are passed over; memory does not grow with them.
bomb bomb.run 200M
expect_status 0 -- "$COMPATPACK" extract bomb.run --out work/tree --jobs 1
expect_equal "$(find work/tree -size +1M)" ''
rm -r work/tree
# More of them are not even read to their end.
bomb bomb.run 1900M
begun=$(date +%s)
for option in --components=cuda '--include=*'; do
  expect_error 3 'unpacks to far more than its size' -- \
    "$COMPATPACK" extract bomb.run --out work/tree --jobs 1 "$option"
  expect_stderr 'at most 500 times as much'
  harmless 'a bomb'
  expect_no work/tree
done
[ $(($(date +%s) - begun)) -lt 60 ] || fail 'a bomb' 'an end soon' "$(($(date +%s) - begun)) s"

# Holes cost an archive nothing, so neither its size nor what it unpacks to tells of them.
mkdir bomb
cp library bomb/libcuda.so.535.54.03
truncate -s 1900M bomb/libcuda.so.535.54.03
tar -S -c -f hostile.tar -C bomb .
rm -r bomb
"$FIXTURE_TOOL" nvidia-run --out hostile.run --payload hostile.tar --compress none
expect_error 3 "sparse members are too large" -- "$COMPATPACK" extract hostile.run --out work/tree
harmless 'holes'
expect_no work/tree

# --- headers ---

# Shell code in it is text.
mark=$PWD/it-ran
for field in label version_string targetdir script scriptargs TMPROOT TARGET_OS; do
  # shellcheck disable=SC2016 # no expansion is meant
  "$FIXTURE_TOOL" nvidia-run --out hostile.run --field "$field=\"\$(touch '$mark')\`touch '$mark'\`\"; touch '$mark'"
  status=0
  "$COMPATPACK" extract hostile.run --out work/tree >out 2>err || status=$?
  expect_no "$mark"
  case $status in
    0 | 3) rm -rf work/tree ;;
    *) fail "$field" 'status 0 or 3' "$status: $(cat err)" ;;
  esac
done
# Of one that is assigned twice the first counts, wherever a shell would go: what is unpacked is what was verified.
twice='skip=999999
skip=8'
for lie in "$twice" skip=999999 skip=0 skip=-1 skip=18446744073709551616 skip=1 size_decompress=99999 skip_decompress=0; do
  "$FIXTURE_TOOL" nvidia-run --out hostile.run --field "$lie" --embed 100
  status=0
  timeout 20 "$COMPATPACK" extract hostile.run --out work/tree >out 2>err || status=$?
  case $status in
    0) [ "${lie%%=*}" != skip ] || fail "$lie" 'refused' 'accepted' ;;
    3 | 4) expect_no work/tree ;;
    *) fail "$lie" 'status 0, 3 or 4' "$status: $(cat err)" ;;
  esac
  rm -rf work/tree
done
# More links than a receipt can list, each leading to the next: no tree that could not be read again, and no long wait.
mkdir linked
cp library linked/libcuda.so.535.54.03
{
  printf 'A driver\n535.54.03\n \nnvidia \n \n \n./kernel/\n./kernel/precompiled/\n'
  awk 'BEGIN {
    for (i = 0; i < 40000; ++i) printf "libx%d.so 0000 CUDA_SYMLINK NATIVE / libx%d.so\n", i, i + 1
    print "libx40000.so 0000 CUDA_SYMLINK NATIVE / libcuda.so.1"
  }'
} >linked/.manifest
"$FIXTURE_TOOL" nvidia-run --out hostile.run --from linked
for option in --no-sync --dry-run; do
  expect_error 3 'hostile.run: tree would hold more than its receipt can list' -- timeout 60 "$COMPATPACK" extract hostile.run --out work/tree "$option"
  harmless 'very many links'
done
"$FIXTURE_TOOL" nvidia-run --out hostile.run --crlf
expect_error 3 'CR LF' -- "$COMPATPACK" extract hostile.run --out work/tree
harmless 'the end'
