#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Lets libFuzzer look for bytes that make a parser crash, or break a promise that its target states.
#
#   scripts/fuzz.sh [SECONDS] [TARGET...]      60 seconds each, and all targets, unless said
#
#   scripts/fuzz.sh 300 bundle rpm             targets are tests/fuzz/fuzz_TARGET.cpp
#
# Builds in build-fuzz with clang 14, ASan and UBSan. What it learns stays in build-fuzz/corpus and is where
# the next run begins; what it finds is in build-fuzz/found, and the exit status is 1. No input may take more
# than 5 seconds or 512 MiB. FUZZ_JOBS targets run at once, as many as there are processors unless set; with
# FUZZ_BUILT=FOLDER those in FOLDER are taken as they are, without building, and all that is kept is kept there.
# shellcheck disable=SC2317 # seed_TARGET is called by a name that is put together
set -eu
cd "$(dirname "$0")/.."
unset CDPATH

fail() {
  echo "fuzz.sh: error: $1" >&2
  exit "${2:-1}"
}

seconds=60
case ${1-} in
  '') ;;
  -*) fail 'usage: scripts/fuzz.sh [SECONDS] [TARGET...]' 2 ;;
  *[!0-9]*) ;;
  *)
    seconds=$1
    shift
    ;;
esac
known=$(for source in tests/fuzz/fuzz_*.cpp; do
  name=${source##*/fuzz_}
  echo "${name%.cpp}"
done)
# shellcheck disable=SC2086 # one word a target
[ $# -gt 0 ] || set -- $known
for target in "$@"; do
  [ -f "tests/fuzz/fuzz_$target.cpp" ] || fail "no target $target; there are: $(echo "$known" | tr '\n' ' ')" 2
done

build=${FUZZ_BUILT:-build-fuzz}
jobs=${FUZZ_JOBS:-$(nproc)}
launcher=
if command -v ccache >/dev/null; then
  launcher=ccache
  CCACHE_BASEDIR=$PWD
  CCACHE_NOHASHDIR=1
  export CCACHE_BASEDIR CCACHE_NOHASHDIR
fi
mkdir -p "$build/seeds" "$build/corpus" "$build/found" "$build/log"
build_targets() {
  # Some optimisation: a second is worth more inputs, and reports have their lines all the same.
  cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14 \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O1 -gline-tables-only' -DCOMPATPACK_DEV=ON -DCOMPATPACK_FUZZ=ON \
    -DCOMPATPACK_SANITIZE=address,undefined >"$build/configure.log" 2>&1 || {
    cat "$build/configure.log"
    exit 1
  }
  # shellcheck disable=SC2046 # one word a target
  cmake --build "$build" --parallel "$(nproc)" --target fixture_tool $(printf 'fuzz_%s ' "$@") \
    >"$build/build.log" 2>&1 || {
    tail -n 40 "$build/build.log"
    exit 1
  }
}
[ -n "${FUZZ_BUILT:-}" ] || build_targets "$@"

fixture() { "$build/tests/fixture_tool" "$@"; }

# The bundles that seeds are made of: small, as a fuzzer's time is spent on each byte. In $kit.
make_kit() {
  kit=$build/seeds/kit
  rm -rf "$kit"
  mkdir -p "$kit"
  fixture elf --out "$kit/cuda" --soname libcuda.so.1 --needed libc.so.6 --version-need libc.so.6:GLIBC_2.17 \
    --note '{"version":"12.4","branches":[470,535]}'
  fixture elf --out "$kit/jit" --soname libnvidia-ptxjitcompiler.so.1 --stripped
  fixture elf --out "$kit/program" --executable --arch aarch64 --rpath /lib
  set -- --file "libcuda.so.550.54.15=$kit/cuda" --file "libnvidia-ptxjitcompiler.so.550.54.15=$kit/jit" \
    --text LICENSE=text --version 550.54.15
  for packing in none gzip bzip2 xz xz-nocheck zstd lz4; do
    fixture nvidia-run --out "$kit/$packing.run" --compress "$packing" "$@"
  done
  for packing in none xz zstd; do
    fixture deb --out "$kit/$packing.deb" --compress "$packing" "$@"
    fixture rpm --out "$kit/$packing.rpm" --compress "$packing" "$@"
  done
  fixture nvidia-run --out "$kit/a.run" --layout a --compress gzip "$@"
  fixture nvidia-run --out "$kit/embed.run" --embed 300 --compress gzip "$@"
  # With a .manifest and its links, and 32-bit libraries.
  fixture nvidia-run --out "$kit/driver.run" --compress zstd --filler 10
  fixture nvidia-run --out "$kit/no-libcuda.run" --compress none --text is_vgpu_host_package.txt=yes \
    --text libnvidia-vgpu.so.550.144.02=x
  for era in 1.5 2.0 2.1 2.3 2.4.0 2.4.2 2.4.3 2.4.5 2.5 2.6 2.7; do
    fixture upstream-run --out "$kit/up-$era.run" --era "$era" --compress gzip "$@"
  done
  fixture upstream-run --out "$kit/base64.run" --base64 --compress gzip "$@"
  fixture tar --out "$kit/plain.tar" --folder d --file "d/libcuda.so.550.54.15=$kit/cuda" \
    --link libcuda.so.1=libcuda.so.550.54.15 --hardlink also=d/libcuda.so.550.54.15 --text "$(printf %0120d 7)=x"
  # A package inside a package, as local repositories are.
  fixture deb --out "$kit/nested.deb" --package repo --compress none --version 1.0 \
    --file "var/cuda-compat-12-4_550.54.15-1_amd64.deb=$kit/zstd.deb"
}

# put TARGET NAME: stdin becomes a seed.
put() { cat >"$build/seeds/$1/$2"; }

# Files as they are, with a byte before or behind that tells the target how.
seed_bundle() {
  for file in "$kit"/*.run "$kit"/*.deb "$kit"/*.rpm "$kit"/*.tar; do
    for how in 0 3 7; do
      # shellcheck disable=SC2059 # the byte is the format
      { cat "$file" && printf "\\$how"; } | put bundle "${file##*/}-$how"
    done
  done
}
seed_makeself() { for file in "$kit"/*.run; do put makeself "${file##*/}" <"$file"; done; }
seed_ar() { for file in "$kit"/*.deb; do put ar "${file##*/}" <"$file"; done; }
seed_rpm() { for file in "$kit"/*.rpm; do put rpm "${file##*/}" <"$file"; done; }
seed_archive() { { printf '\100' && cat "$kit/plain.tar"; } | put archive plain; }
seed_elf() { for name in cuda jit program; do put elf "$name" <"$kit/$name"; done; }
seed_decoder() {
  for packing in gzip bzip2 xz xz-nocheck zstd lz4; do
    fixture tar --out "$kit/$packing.tar" --text a=text --compress "$packing"
    put decoder "$packing" <"$kit/$packing.tar"
  done
}
seed_nv_manifest() {
  fixture tar --out "$kit/driver.tar" --filler 10
  tar -xOf "$kit/driver.tar" ./.manifest | put nv_manifest manifest
}
seed_deb_control() {
  printf 'Package: a\nVersion: 1:2-3\nArchitecture: amd64\nDescription: b\n c\n .\n d\n' | put deb_control control
  printf '%032d  a/b\n%032d *./c\n\\%032d  d\\ne\n' 1 2 3 | put deb_control md5sums
}
seed_cpio() {
  mkdir -p "$kit/cpio/d"
  printf abc >"$kit/cpio/d/a"
  ln -sf d "$kit/cpio/l"
  printf hh >"$kit/cpio/h1"
  ln -f "$kit/cpio/h1" "$kit/cpio/h2"
  ln -f "$kit/cpio/h1" "$kit/cpio/h3"
  : >"$kit/cpio/e1"
  ln -f "$kit/cpio/e1" "$kit/cpio/e2"
  (cd "$kit/cpio" && printf './%s\n' d d/a l h1 h2 h3 e1 e2 | cpio -o -H newc 2>/dev/null) | put cpio list
}
seed_base64() { printf 'AAECAwQFBgc=\nYWJj\n' | put base64 text; }
seed_oci() {
  digest=sha256:$(printf %064d 7)
  manifest=application/vnd.oci.image.manifest.v1+json
  printf '{"manifests":[{"mediaType":"%s","digest":"%s","size":7,"platform":{"os":"linux","architecture":"amd64"}}]}' \
    "$manifest" "$digest" | put oci index
  printf '{"mediaType":"%s","config":{"mediaType":"%s","digest":"%s","size":7},"layers":[],"annotations":{"a":"b"}}' \
    "$manifest" application/vnd.oci.image.config.v1+json "$digest" | put oci manifest
  printf '{"os":"linux","architecture":"amd64","config":{"Env":["LD_LIBRARY_PATH=/x"],"Labels":{"a":"b"}},' >"$kit/config"
  printf '"rootfs":{"diff_ids":["%s"]},"history":[{"created_by":"x"}]}' "$digest" >>"$kit/config"
  put oci config <"$kit/config"
}
seed_rel_path() { printf './a/../b//c' | put rel_path path; }
seed_openpgp_armor() {
  printf -- '-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: a\n\nmDMEAAAA\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n' |
    put openpgp_armor block
}

# fuzz TARGET: runs it, with its words in a log.
fuzz() {
  mkdir -p "$build/corpus/$1"
  set -- "$1" "$build/corpus/$1" "$build/seeds/$1"
  set -- "$@" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$build/found/$1-"
  [ ! -f "tests/fuzz/$1.dict" ] || set -- "$@" -dict="tests/fuzz/$1.dict"
  target=$1
  shift
  "$build/tests/fuzz_$target" "$@" >"$build/log/$target" 2>&1
}

# report TARGET STATUS
report() {
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/log/$1")
  memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$build/log/$1")
  covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$build/log/$1" | tail -n 1)
  if [ "$2" = 0 ]; then
    echo "$1: ${runs:-0} inputs in $seconds s, ${covered:-0} edges, ${memory:-0} MiB; nothing found"
  else
    echo "$1: FOUND SOMETHING: see $build/log/$1"
    grep -m 3 'SUMMARY\|ERROR\|Test unit written' "$build/log/$1" || tail -n 5 "$build/log/$1"
  fi
}

export ASAN_OPTIONS="${ASAN_OPTIONS:-}${ASAN_OPTIONS:+:}detect_stack_use_after_return=1:quarantine_size_mb=32"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-}${UBSAN_OPTIONS:+:}print_stacktrace=1"
make_kit
status=0
while [ $# -gt 0 ]; do
  started=
  count=0
  while [ $# -gt 0 ] && [ "$count" -lt "$jobs" ]; do
    mkdir -p "$build/seeds/$1"
    "seed_$1"
    fuzz "$1" &
    started="$started $1:$!"
    count=$((count + 1))
    shift
  done
  for one in $started; do
    ended=0
    wait "${one#*:}" || ended=$?
    report "${one%:*}" "$ended"
    [ "$ended" = 0 ] || status=1
  done
done
exit "$status"
