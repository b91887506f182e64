#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The main job: a driver bundle becomes a tree that any shell can activate and any program loads its
# libcuda from, wherever it is moved to.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

here=$(pwd -P)

# --- every layout and compression gives the same tree ---

# names TREE: what it holds, links with their targets, files with their modes.
names() {
  (cd "$1" && find . -mindepth 1 \( -type l -printf '%P -> %l\n' -o -printf '%P %M\n' \) | LC_ALL=C sort)
}

expected='LICENSE -rw-r--r--
compatpack.json -rw-r--r--
env.csh -rw-r--r--
env.fish -rw-r--r--
env.sh -rw-r--r--
libcuda.so -> libcuda.so.1
libcuda.so.1 -> libcuda.so.535.54.03
libcuda.so.535.54.03 -rwxr-xr-x
libcudadebugger.so.1 -> libcudadebugger.so.535.54.03
libcudadebugger.so.535.54.03 -rwxr-xr-x
libnvidia-nvvm.so.4 -> libnvidia-nvvm.so.535.54.03
libnvidia-nvvm.so.535.54.03 -rwxr-xr-x
libnvidia-pkcs11-openssl3.so.535.54.03 -rwxr-xr-x
libnvidia-pkcs11.so.535.54.03 -rwxr-xr-x
libnvidia-ptxjitcompiler.so -> libnvidia-ptxjitcompiler.so.1
libnvidia-ptxjitcompiler.so.1 -> libnvidia-ptxjitcompiler.so.535.54.03
libnvidia-ptxjitcompiler.so.535.54.03 -rwxr-xr-x'

first=
for layout in a b; do
  for compression in none gzip bzip2 xz xz-nocheck zstd lz4; do
    embed=0
    [ "$layout" = a ] || embed=3000
    "$FIXTURE_TOOL" nvidia-run --out driver.run --layout "$layout" --compress "$compression" --embed "$embed"
    tree=$layout-$compression
    # The masks of users differ; a tree for others is readable by them.
    (umask 077 && expect_status 0 -- "$COMPATPACK" extract driver.run --out "$tree")
    expect_stdout 'driver 535.54.03, CUDA 12.2, x86_64'
    expect_stdout 'cksum and MD5 of its header'
    expect_stderr ''
    expect_equal "$(stat -c %A "$tree")" drwxr-xr-x
    expect_equal "$(names "$tree")" "$expected"
    sha=$(sha256sum <driver.run)
    expect_text "$tree/compatpack.json" "\"sha256\": \"${sha%% *}\""
    expect_status 0 -- "$COMPATPACK" verify "$tree"
    # But for the receipt and the scripts, which name the bundle and the place, all are one tree.
    cp -a "$tree" compared
    rm compared/compatpack.json compared/env.*
    if [ -z "$first" ]; then
      mv compared first
      first=$tree
    else
      expect_same compared first
      rm -rf compared
    fi
  done
done

# --- what is in the bundle is in the tree, as it was ---

"$FIXTURE_TOOL" nvidia-run --out driver.run
expect_status 0 -- "$COMPATPACK" extract driver.run --out tree
mkdir reference
tail -n "+$(sed -n 's/^skip=//p;/^skip=/q' driver.run)" driver.run | zstd -q -d | tar -x -f - -C reference
for file in tree/*.so.535.54.03 tree/LICENSE; do
  expect_same "$file" "reference/${file#tree/}"
done

# Each file of the receipt with its size and digest, and no file without.
sed -n '/^  "files"/,/^  \]/p' tree/compatpack.json |
  sed -n 's/^      "path": "\(.*\)",/\1/p; s/^      "sha256": "\([0-9a-f]\{64\}\)".*/\1/p' |
  while read -r name && read -r sum; do
    case $name in *'->'*) ;; *) printf '%s  %s\n' "$sum" "$name" ;; esac
  done | grep -v '^lib' >sums || :
grep -c . sums >count
expect_equal "$(cat count)" "$(find tree -type f ! -name compatpack.json | wc -l)"
(cd tree && sha256sum --quiet -c ../sums)

# --- same in, same out ---

"$COMPATPACK" extract driver.run --out again --prefix "$here/tree" >stdout
expect_same again tree
cp -p driver.run copy.run
touch -d 2001-01-01 copy.run
mkdir moved
mv copy.run moved/driver.run
(umask 022 && "$COMPATPACK" extract moved/driver.run --out third --prefix "$here/tree" --jobs 1) >stdout
expect_same third tree
expect_equal "$(names third)" "$(names tree)"

# --- a program loads the tree's libcuda ---

# An environment of nothing, so that what the test host sets does not matter; "on", as it may have a
# driver of its own. loaded SHELL TREE [COMMAND-BEFORE]
loaded() {
  # shellcheck disable=SC2016 # for the shell under test
  env -i PATH="$PATH" HOME="$HOME" T="$2" PROBE="$ENV_PROBE" COMPATPACK_MODE=on \
    "$1" -c 'set -eu; . "$T/env.sh"; "$PROBE" cuda; compatpack_deactivate; "$PROBE" env'
}

"$FIXTURE_TOOL" nvidia-run --out real.run --embed 1000 --version 535.54.03 \
  --file "libcuda.so.535.54.03=$CUDA_STUB" --text 'LICENSE=a licence'
expect_status 0 -- "$COMPATPACK" extract real.run --out 'my tree'
expect_stderr 'no libnvidia-ptxjitcompiler'
expect_same 'my tree/libcuda.so.535.54.03' "$CUDA_STUB"
expect_link 'my tree/libcuda.so.1' libcuda.so.535.54.03
expect_text 'my tree/LICENSE' 'a licence'
for shell in sh bash; do
  expect_equal "$(loaded "$shell" "$here/my tree")" \
    "libcuda.so.1 is [$here/my tree/libcuda.so.1], version 12040"
done
# shellcheck disable=SC2016 # for the shell under test
expect_equal "$(env -i PATH="$PATH" C="$COMPATPACK" T="$here/my tree" P="$ENV_PROBE" COMPATPACK_MODE=on \
  sh -c 'eval "$("$C" env "$T")"; "$P" cuda')" "libcuda.so.1 is [$here/my tree/libcuda.so.1], version 12040"

# Moved and copied, where the shell can tell the script its place.
cp -a 'my tree' copied
mkdir -p 'other place'
mv 'my tree' 'other place/'
for tree in copied 'other place/my tree'; do
  expect_equal "$(loaded bash "$here/$tree")" "libcuda.so.1 is [$here/$tree/libcuda.so.1], version 12040"
  expect_status 0 -- "$COMPATPACK" verify "$tree"
done

# --prefix says where it will live, to those shells that cannot tell.
expect_status 0 -- "$COMPATPACK" extract real.run --out built --prefix "$here/installed here"
mv built 'installed here'
for shell in sh bash; do
  expect_equal "$(loaded "$shell" "$here/installed here")" \
    "libcuda.so.1 is [$here/installed here/libcuda.so.1], version 12040"
done
expect_error 2 'not an absolute path' -- "$COMPATPACK" extract real.run --out x --prefix relative
expect_no x
