#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# .deb and .rpm packages as dpkg-deb and rpmbuild make them: the tree has what they unpack, each file's
# digest is checked, and a changed byte is never accepted.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

version=550.54.15
compat=usr/local/cuda-12.4/compat
mkdir -p "root/$compat" root/DEBIAN
for name in libcuda libnvidia-ptxjitcompiler libcudadebugger libnvidia-ml; do
  "$FIXTURE_TOOL" elf --soname "$name.so.1" --out "root/$compat/$name.so.$version"
  ln -s "$name.so.$version" "root/$compat/$name.so.1"
done
"$FIXTURE_TOOL" elf --soname libnvidia-nvvm.so.4 --out "root/$compat/libnvidia-nvvm.so.$version"
cat >root/DEBIAN/control <<CONTROL
Package: cuda-compat-12-4
Version: $version-1
Architecture: amd64
Maintainer: nobody <nobody@localhost>
Description: a package for tests
CONTROL
cat >root/DEBIAN/postinst <<'SCRIPT'
#!/bin/sh
touch /tmp/compatpack-ran-postinst
SCRIPT
chmod 755 root/DEBIAN/postinst
(cd root && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)

# same_files REFERENCE TREE: the tree's libraries are the reference's, and NVML is not among them.
same_files() {
  for name in libcuda libnvidia-ptxjitcompiler libcudadebugger libnvidia-nvvm; do
    expect_file "$2/$name.so.$version" 0755
    expect_same "$2/$name.so.$version" "$1/$compat/$name.so.$version"
  done
  expect_link "$2/libcuda.so.1" "libcuda.so.$version"
  expect_link "$2/libcuda.so" libcuda.so.1
  expect_link "$2/libnvidia-nvvm.so.4" "libnvidia-nvvm.so.$version"
  expect_no "$2/libnvidia-ml.so.$version"
}

# damaged FILE: with one byte inverted, at several places, it is refused or gives the same tree.
damaged() {
  size=$(stat -c %s "$1")
  at=7
  while [ "$at" -lt "$size" ]; do
    cp "$1" flipped
    byte=$(od -An -tu1 -j "$at" -N 1 flipped)
    printf '%b' "\\0$(printf %o $((byte ^ 255)))" | dd of=flipped bs=1 seek="$at" conv=notrunc 2>/dev/null
    rm -rf from-flipped
    status=0
    "$COMPATPACK" extract flipped --out from-flipped -q 2>err || status=$?
    case $1 in
      *.rpm) # rpm's own word on it, but for the lead, which it does not look at
        theirs=0
        rpmkeys --dbpath "$PWD/rpmdb" -K --nosignature flipped >/dev/null 2>&1 || theirs=1
        [ "$at" -lt 96 ] || expect_equal "byte $at: $((status != 0))" "byte $at: $theirs"
        ;;
    esac
    if [ "$status" = 0 ]; then
      same_files reference from-flipped
    else
      expect_no from-flipped
      [ -s err ] || fail "byte $at of $1 changed" 'a message' 'none'
    fi
    at=$((at + size / 24 + 1))
  done
}

for packing in none gzip xz zstd; do
  dpkg-deb --root-owner-group -Z$packing -b root "$packing.deb" >/dev/null
  rm -rf reference
  dpkg-deb -x "$packing.deb" reference
  expect_status 0 -- "$COMPATPACK" extract "$packing.deb" --out "tree-$packing"
  expect_stdout "driver $version"
  expect_stdout '4 files by its md5sums'
  same_files reference "tree-$packing"
  expect_status 0 -- "$COMPATPACK" extract "$packing.deb" --out "tree-$packing"
  expect_stdout 'up to date'
done
expect_no /tmp/compatpack-ran-postinst
damaged xz.deb
expect_status 0 -- "$COMPATPACK" inspect zstd.deb
expect_stdout "cuda-compat-12-4 $version-1"

sed -i "1s/^..../0000/" root/DEBIAN/md5sums
dpkg-deb --root-owner-group -b root wrong.deb >/dev/null
expect_error 4 'MD5 does not match the one in its md5sums' -- "$COMPATPACK" verify wrong.deb

if ! command -v rpmbuild >/dev/null; then
  [ -z "${CI:-}" ] || fail rpmbuild 'installed by scripts/setup --tests' 'not found'
  skip 'rpmbuild is not installed; the .deb half passed'
fi
cat >spec <<SPEC
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
AutoReqProv: no
Name: cuda-compat-12-4
Epoch: 1
Version: $version
Release: 1.el9
Summary: a package for tests
License: none
%description
A package for tests.
%install
mkdir -p %{buildroot}
cp -a \$ROOT/usr %{buildroot}/
%files
/$compat
SPEC
ROOT=$PWD/root
export ROOT
for payload in w9.gzdio w9.bzdio w2.xzdio w2.lzdio w3.zstdio w.ufdio; do
  # rpmbuild splits paths at blanks, and the folder of this test has some.
  top=$(mktemp -d)
  ROOT=$top/root
  cp -a root "$ROOT"
  rpmbuild --quiet -bb --target x86_64 --define "_topdir $top/rpm" \
    --define "_binary_payload $payload" spec >log 2>&1 || fail "rpmbuild $payload" 'a package' "$(cat log)"
  cp "$top"/rpm/RPMS/x86_64/*.rpm "$payload.rpm"
  rm -rf "$top" reference
  mkdir reference
  (cd reference && rpm2cpio "../$payload.rpm" | cpio -id --quiet --no-absolute-filenames)
  expect_status 0 -- "$COMPATPACK" extract "$payload.rpm" --out "tree-$payload"
  expect_stdout "driver $version"
  expect_stdout '4 files by its header'
  same_files reference "tree-$payload"
done
damaged w3.zstdio.rpm
expect_status 0 -- "$COMPATPACK" inspect w3.zstdio.rpm
expect_stdout "cuda-compat-12-4 1:$version-1.el9"
