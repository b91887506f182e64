#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What people have in hand besides one driver bundle: packages that make a driver together, an unpacked
# driver, a repository package or a toolkit's installer with the driver inside.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

version=550.54.15

# deb NAME VERSION LIBRARY... : NAME.deb, with these libraries of that version.
deb() {
  package=$1
  of=$2
  shift 2
  mkdir -p "$package/DEBIAN" "$package/usr/lib/nvidia" "$package/usr/share/doc/$package"
  for library; do
    "$FIXTURE_TOOL" elf --soname "$library.so.1" --out "$package/usr/lib/nvidia/$library.so.$of"
  done
  echo "licence of $of" >"$package/usr/share/doc/$package/copyright"
  printf '%s\n' "Package: $package" "Version: $of-1" 'Architecture: amd64' \
    'Maintainer: nobody <nobody@localhost>' 'Description: a package for tests' >"$package/DEBIAN/control"
  (cd "$package" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
  dpkg-deb --root-owner-group -b "$package" "$package.deb" >/dev/null
}

deb libcuda1 $version libcuda
deb libnvidia-ptxjitcompiler1 $version libnvidia-ptxjitcompiler
deb libnvidia-nvvm4 $version libnvidia-nvvm
deb older 535.54.03 libnvidia-ptxjitcompiler

# --- several packages make one tree ---

expect_status 0 -- "$COMPATPACK" extract libcuda1.deb --out alone
expect_stderr 'CUDA_ERROR_JIT_COMPILER_NOT_FOUND'

expect_status 0 -- "$COMPATPACK" extract libcuda1.deb libnvidia-ptxjitcompiler1.deb libnvidia-nvvm4.deb --out tree
expect_stderr ''
expect_stdout 'libnvidia-nvvm4.deb: verified: 2 files by its md5sums'
for library in libcuda libnvidia-ptxjitcompiler libnvidia-nvvm; do
  expect_file tree/$library.so.$version 0755
done
expect_text tree/LICENSE "licence of $version"
expect_status 0 -- "$COMPATPACK" verify tree
expect_status 0 -- "$COMPATPACK" extract libnvidia-nvvm4.deb libcuda1.deb libnvidia-ptxjitcompiler1.deb --out tree
expect_stdout 'up to date'
expect_status 0 -- "$COMPATPACK" extract libnvidia-nvvm4.deb libcuda1.deb libnvidia-ptxjitcompiler1.deb --out other \
  --prefix "$PWD/tree"
expect_status 0 -- "$COMPATPACK" extract libcuda1.deb libnvidia-nvvm4.deb libnvidia-ptxjitcompiler1.deb --out again \
  --prefix "$PWD/tree"
expect_same other again
expect_error 1 'target holds another tree' -- "$COMPATPACK" extract libcuda1.deb libnvidia-nvvm4.deb --out tree

expect_error 3 'libraries of two driver versions' -- "$COMPATPACK" extract older.deb libcuda1.deb --out mixed
expect_stderr "all of $version, as libcuda1.deb: usr/lib/nvidia/libcuda.so.$version"
expect_stderr 'older.deb: usr/lib/nvidia/libnvidia-ptxjitcompiler.so.535.54.03'
expect_no mixed
expect_error 2 '--checksum-file takes a list' -- "$COMPATPACK" extract older.deb libcuda1.deb --md5 0 --out mixed
sha256sum libcuda1.deb libnvidia-nvvm4.deb >sums
expect_status 0 -- "$COMPATPACK" extract libcuda1.deb libnvidia-nvvm4.deb --checksum-file sums --out summed
expect_stdout 'libcuda1.deb: verified: SHA-256 of sums'
expect_error 3 'has no line for the bundle' -- "$COMPATPACK" extract libcuda1.deb older.deb --checksum-file sums --out no

# --- a driver that is unpacked already ---

"$FIXTURE_TOOL" nvidia-run --out driver.run
"$COMPATPACK" extract driver.run --out from-run -q
mkdir unpacked
"$FIXTURE_TOOL" tar --out driver.tar
tar -C unpacked -xf driver.tar
expect_status 0 -- "$COMPATPACK" extract unpacked/ --out from-folder
expect_stdout 'driver 535.54.03'
expect_stdout 'not verified: the folder carries no checksums'
for file in from-run/*.so* from-run/LICENSE; do
  expect_same "$file" "from-folder/${file#*/}"
done
expect_status 0 -- "$COMPATPACK" extract unpacked --out from-folder
expect_stdout 'up to date'
echo more >>unpacked/LICENSE
expect_error 1 'target holds another tree' -- "$COMPATPACK" extract unpacked --out from-folder
expect_status 0 -- "$COMPATPACK" extract unpacked --out from-folder --force
expect_text from-folder/LICENSE more
expect_error 3 'nothing to verify' -- "$COMPATPACK" extract unpacked --out no --require-checksum
# What is said of a file is not said of a folder, and nobody is to think that it was compared.
zeros=$(printf '%064d' 0)
for option in "--sha256 $zeros" '--md5 01234567890123456789012345678901' '--checksum-file sums' '--keyring keys'; do
  for command in extract list inspect; do
    [ "$command" = extract ] && out='--out no' || out=
    # shellcheck disable=SC2086 # two words, or none
    expect_error 2 'is about a file' -- "$COMPATPACK" $command unpacked $option $out
  done
done
expect_no no
mkdir empty
expect_error 3 'a folder with nothing in it' -- "$COMPATPACK" extract empty --out no
expect_status 0 -- "$COMPATPACK" inspect unpacked --deep
expect_stdout '535.54.03'

# --- bundles inside bundles ---

mkdir -p repo/DEBIAN repo/var/cuda-repo
cp libcuda1.deb repo/var/cuda-repo/cuda-compat-12-4_$version-1_amd64.deb
cp older.deb repo/var/cuda-repo/cuda-drivers_$version-1_amd64.deb
sed 's/^Package:.*/Package: cuda-repo/; s/^Version:.*/Version: 1.0-1/' libcuda1/DEBIAN/control >repo/DEBIAN/control
(cd repo && find var -type f -exec md5sum {} + >DEBIAN/md5sums)
dpkg-deb --root-owner-group -b repo repo.deb >/dev/null
expect_status 0 -- "$COMPATPACK" extract repo.deb --out nested
expect_stdout "found inside: repo.deb: var/cuda-repo/cuda-compat-12-4_$version-1_amd64.deb"
expect_stdout 'repo.deb: verified: 1 file by its md5sums'
expect_file nested/libcuda.so.$version
expect_status 0 -- "$COMPATPACK" extract repo.deb --out nested
expect_stdout 'up to date'
expect_status 0 -- "$COMPATPACK" list repo.deb
expect_stdout 'a bundle inside'
expect_status 0 -- "$COMPATPACK" inspect repo.deb --deep
expect_stdout 'inside it'
expect_status 0 -- "$COMPATPACK" extract repo.deb --out dry --dry-run
expect_no dry

cp repo/var/cuda-repo/cuda-compat-12-4_$version-1_amd64.deb repo/var/cuda-repo/cuda-compat-12-5_555.0-1_amd64.deb
(cd repo && find var -type f -exec md5sum {} + >DEBIAN/md5sums)
dpkg-deb --root-owner-group -b repo two.deb >/dev/null
expect_error 2 '--member to say which' -- "$COMPATPACK" extract two.deb --out no
expect_stderr cuda-compat-12-5_555.0-1_amd64.deb
expect_no no
expect_status 0 -- "$COMPATPACK" extract two.deb --out member --member '*12-4*'
expect_status 0 -- "$COMPATPACK" extract two.deb --out member --member '*12-4*'
expect_stdout 'up to date'
expect_error 1 'target holds another tree' -- "$COMPATPACK" extract two.deb --out member --member '*12-5*'
expect_error 3 'no bundle that --member names' -- "$COMPATPACK" extract two.deb --out no --member '*13-0*'

"$FIXTURE_TOOL" nvidia-run --out toolkit.run --file builds/NVIDIA-Linux-x86_64-535.54.03.run=driver.run \
  --text builds/cuda_cudart/lib64/stubs/libcuda.so=stub --version 12.2 --label 'CUDA Toolkit'
expect_status 0 -- "$COMPATPACK" extract toolkit.run --out from-toolkit
expect_stdout 'found inside: toolkit.run: builds/NVIDIA-Linux-x86_64-535.54.03.run'
for file in from-run/*.so*; do
  expect_same "$file" "from-toolkit/${file#*/}"
done
expect_equal "$(find . -name '.*compatpack*' -o -name '.nested*')" ''

# --- folders above the target are made, and none is left where there is no tree ---

expect_status 0 -- "$COMPATPACK" extract driver.run --out usr/local/cuda/compat
expect_file usr/local/cuda/compat/libcuda.so.535.54.03
printf x | dd of=driver.run bs=1 seek=60000 conv=notrunc 2>/dev/null
expect_error 4 'does not match' -- "$COMPATPACK" extract driver.run --out opt/local/cuda/compat
expect_no opt
expect_error 4 'does not match' -- "$COMPATPACK" extract driver.run --out opt/local/cuda/compat --dry-run
expect_no opt
