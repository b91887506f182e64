#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# --keyring: signatures as debsigs and rpmsign make them, checked with the host's gpgv. Good ones are named,
# and whatever else there may be instead of one is refused in words of its own.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

for program in gpg gpgv gpgconf ar dpkg-deb; do
  command -v $program >/dev/null && continue
  [ -z "${CI:-}" ] || fail "$program" 'installed by scripts/setup --tests' 'not found'
  skip "$program is not installed"
done

version=550.54.15
compat=usr/local/cuda-12.4/compat

# GnuPG's sockets need a short path, and rpmsign splits paths at blanks.
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
finish() {
  gpgconf --kill all
  rm -rf "$GNUPGHOME"
  e2e_finish "$1"
}
trap 'finish $?' EXIT

# key NAME [OPTION...]: a new key, alone in NAME.gpg. What gpg remarks on time and trust goes to gpg.log.
key() {
  name=$1
  shift
  gpg --batch -q "$@" --passphrase '' --quick-gen-key "$name <$name@localhost>" rsa2048 sign \
    "${expires:-never}" 2>>gpg.log
  gpg --batch -q --export "$name" >"$name.gpg" 2>>gpg.log
}
key vendor
key other
long_ago='--faked-system-time=20200101T000000'
expires=1d key expired $long_ago
fingerprint=$(gpg --batch --with-colons --list-keys vendor | awk -F: '$1 == "fpr" { print $10; exit }')
gpg --batch -q --armor --export vendor >vendor.asc

# --- .deb ---

mkdir -p "root/$compat" root/DEBIAN
for library in libcuda libnvidia-ptxjitcompiler; do
  "$FIXTURE_TOOL" elf --soname $library.so.1 --out "root/$compat/$library.so.$version"
done
printf '%s\n' 'Package: cuda-compat-12-4' "Version: $version-1" 'Architecture: amd64' \
  'Maintainer: nobody <nobody@localhost>' 'Description: a package for tests' >root/DEBIAN/control
dpkg-deb --root-owner-group -b root plain.deb >/dev/null
members() { ar p "$1" debian-binary control.tar.xz data.tar.xz; }

# signed OUT MEMBER GPG-WORD...: plain.deb, with what gpg makes of its members added.
signed() {
  out=$1
  member=$2
  shift 2
  cp plain.deb "$out"
  members plain.deb | gpg --batch -q "$@" >"$member" 2>>gpg.log
  ar q "$out" "$member" 2>/dev/null
}
signed good.deb _gpgorigin -u vendor --detach-sign
cp _gpgorigin root-signature
signed armored.deb _gpgmaint -u vendor --armor --detach-sign
signed expired.deb _gpgorigin $long_ago -u expired --detach-sign
signed text.deb _gpgorigin -u vendor --textmode --detach-sign
signed inline.deb _gpgorigin -u vendor --sign
signed clear.deb _gpgbuilder -u vendor --clearsign
echo 'no signature' >_gpgorigin
cp plain.deb garbage.deb
ar q garbage.deb _gpgorigin
signed both.deb _gpgmaint -u other --detach-sign
members plain.deb | gpg --batch -q -u vendor --detach-sign >_gpgorigin 2>>gpg.log
ar q both.deb _gpgorigin

says="signature by $fingerprint (vendor <vendor@localhost>)"
for keyring in vendor.gpg vendor.asc "$PWD/vendor.gpg"; do
  expect_status 0 -- "$COMPATPACK" verify good.deb --keyring "$keyring"
  expect_stdout "verified: $says"
  expect_stderr ''
done
expect_status 0 -- "$COMPATPACK" inspect good.deb
expect_stdout 'OpenPGP signature in _gpgorigin; not checked'
expect_status 0 -- "$COMPATPACK" inspect armored.deb --keyring vendor.gpg
expect_stdout "_gpgmaint; good, by $fingerprint (vendor <vendor@localhost>)"
expect_status 0 -- "$COMPATPACK" list good.deb --keyring vendor.gpg --json
expect_stdout "\"fingerprint\": \"$fingerprint\""
expect_status 0 -- "$COMPATPACK" verify both.deb --keyring vendor.gpg -v
expect_stdout "$says"
expect_stderr 'signature _gpgmaint is by a key that is not in the keyring'

# The receipt says it, and without --keyring says nothing.
expect_status 0 -- "$COMPATPACK" extract good.deb --out tree --prefix "$PWD/tree" --keyring vendor.asc
expect_stdout "$says"
expect_text tree/compatpack.json "\"signed_by\": \"$fingerprint\""
expect_status 0 -- "$COMPATPACK" extract good.deb --out again --prefix "$PWD/tree" --keyring vendor.gpg
expect_same tree again
expect_status 0 -- "$COMPATPACK" extract good.deb --out tree --prefix "$PWD/tree" --keyring vendor.asc
expect_stdout 'up to date'
expect_stdout "$says"
expect_status 0 -- "$COMPATPACK" extract good.deb --out tree --prefix "$PWD/tree"
expect_stdout 'up to date'
expect_error 4 'a key that is not in the keyring' -- "$COMPATPACK" extract good.deb --out tree --keyring other.gpg
expect_status 0 -- "$COMPATPACK" extract good.deb --out unchecked
expect_text unchecked/compatpack.json '"signed_by": null'
expect_status 0 -- "$COMPATPACK" extract good.deb --out unchecked --keyring vendor.gpg
expect_stdout 'up to date'
expect_error 4 'a key that is not in the keyring' -- "$COMPATPACK" extract good.deb --out unchecked --keyring other.gpg

# refused STATUS TEXT BUNDLE KEYRING: by each command, and nothing is written.
refused() {
  expect_error "$1" "$2" -- "$COMPATPACK" extract "$3" --out no --keyring "$4"
  expect_no no
  for command in inspect list verify check; do
    expect_error "$1" "$2" -- "$COMPATPACK" $command "$3" --keyring "$4"
    expect_stdout ''
  done
}
refused 4 'signature is by a key that is not in the keyring' good.deb other.gpg
expect_stderr "key $fingerprint; signature _gpgorigin"
refused 4 'signature is by a key that has expired' expired.deb expired.gpg
refused 4 'signature is over text' text.deb vendor.gpg
refused 4 'signature cannot be verified' inline.deb vendor.gpg
refused 4 'signature cannot be verified' garbage.deb vendor.gpg
refused 3 'bundle has no signature that can be checked' plain.deb vendor.gpg
refused 3 'of a kind that is not checked, as dpkg-sig makes them' clear.deb vendor.gpg

# flip FILE AT: FILE with one bit of the byte there inverted, in "flipped".
flip() {
  cp "$1" flipped
  byte=$(od -An -tu1 -j "$2" -N 1 flipped)
  printf '%b' "\\0$(printf %o $((byte ^ 1)))" | dd of=flipped bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# The first bytes of the data, behind their member's header of 60 bytes.
flip good.deb $(($(LC_ALL=C grep -abo data.tar.xz good.deb | cut -d : -f 1) + 60))
refused 4 'signature does not match the bundle' flipped vendor.gpg
expect_stderr 'vendor <vendor@localhost>'
# Another package with the good one's signature.
"$FIXTURE_TOOL" elf --soname libcuda.so.1 --filler 9000 --out "root/$compat/libcuda.so.$version"
dpkg-deb --root-owner-group -b root moved.deb >/dev/null
cp root-signature _gpgorigin
ar q moved.deb _gpgorigin
refused 4 'signature does not match the bundle' moved.deb vendor.gpg
# One good signature does not help a bad one.
cp both.deb mixed.deb
members moved.deb | gpg --batch -q -u other --detach-sign >_gpgarchive
ar q mixed.deb _gpgarchive
cat vendor.gpg other.gpg >two.gpg
refused 4 'signature does not match the bundle' mixed.deb two.gpg
refused 4 'signature does not match the bundle' mixed.deb other.gpg

# A revoked key, whose revocation gpg has made with it.
sed 's/^:---/---/' "$GNUPGHOME/openpgp-revocs.d/$fingerprint.rev" >revocation
cp -r "$GNUPGHOME/pubring.kbx" pubring
gpg --batch -q --import revocation 2>/dev/null
gpg --batch -q --export vendor >revoked.gpg
cp pubring "$GNUPGHOME/pubring.kbx"
refused 4 'signature is by a key that was revoked' good.deb revoked.gpg

# --- what surrounds it ---

mkdir empty
for command in inspect verify; do
  expect_error 1 'gpgv' -- env PATH="$PWD/empty" "$COMPATPACK" $command good.deb --keyring vendor.gpg
done
# A gpgv in the folder that we are in is not taken, nor one that a relative PATH leads to.
mkdir trap
printf '#!/bin/sh\ntouch ran\nexit 0\n' >trap/gpgv
chmod 755 trap/gpgv
cp trap/gpgv gpgv
expect_error 1 'gpgv' -- env PATH=".:trap::$PWD/empty" "$COMPATPACK" verify good.deb --keyring vendor.gpg
expect_no ran
# One that says nothing is not believed.
expect_error 4 'signature cannot be verified' -- env PATH="$PWD/trap:/usr/bin:/bin" "$COMPATPACK" verify good.deb \
  --keyring vendor.gpg
expect_error 1 'no such keyring' -- "$COMPATPACK" verify good.deb --keyring absent
expect_error 3 'not a keyring' -- "$COMPATPACK" verify good.deb --keyring "$REPO/README.md"
expect_error 2 'one of --keyring and --no-verify' -- "$COMPATPACK" extract good.deb --out no --keyring vendor.gpg --no-verify
expect_error 2 '--keyring: is for a bundle' -- "$COMPATPACK" verify tree --keyring vendor.gpg
expect_error 2 '--keyring: is for a bundle' -- "$COMPATPACK" check tree --keyring vendor.gpg
expect_error 2 'is empty' -- "$COMPATPACK" verify good.deb --keyring ''
"$FIXTURE_TOOL" nvidia-run --out driver.run
refused 3 'bundle has no signature that can be checked' driver.run vendor.gpg
# Each of several is checked, and a signature is enough for --require-checksum.
expect_error 3 'bundle has no signature' -- "$COMPATPACK" extract good.deb plain.deb --out no --keyring vendor.gpg
expect_error 3 'nothing to verify' -- "$COMPATPACK" verify good.deb --require-checksum
expect_status 0 -- "$COMPATPACK" verify good.deb --require-checksum --keyring vendor.gpg
# The user's own GnuPG settings and language do not matter.
mkdir -p settings/.gnupg
echo nonsense >settings/.gnupg/gpgv.conf
expect_status 0 -- env HOME="$PWD/settings" GNUPGHOME="$PWD/settings/.gnupg" LANGUAGE=de LC_ALL=de_DE.UTF-8 \
  "$COMPATPACK" verify good.deb --keyring vendor.gpg
if command -v sqv >/dev/null; then
  mkdir sequoia
  ln -s "$(command -v sqv)" sequoia/sqv
  for keyring in vendor.gpg vendor.asc; do
    expect_status 0 -- env PATH="$PWD/sequoia" "$COMPATPACK" verify good.deb --keyring $keyring
    expect_stdout "signature by $fingerprint"
  done
  for bundle in moved.deb expired.deb inline.deb garbage.deb; do
    expect_error 4 'signature cannot be verified' -- env PATH="$PWD/sequoia" "$COMPATPACK" verify $bundle \
      --keyring vendor.gpg
  done
  expect_error 4 'signature cannot be verified' -- env PATH="$PWD/sequoia" "$COMPATPACK" verify good.deb \
    --keyring other.gpg
else
  echo 'left out: sqv, which is not installed'
fi

# --- .rpm ---

if ! command -v rpmbuild >/dev/null || ! command -v rpmsign >/dev/null; then
  [ -z "${CI:-}" ] || fail 'rpmbuild and rpmsign' 'installed by scripts/setup --tests' 'not found'
  skip 'rpmbuild or rpmsign is not installed; the .deb half passed'
fi
top=$GNUPGHOME/rpm
mkdir "$top"
cp -r root "$top/root"
cat >spec <<SPEC
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
AutoReqProv: no
Name: cuda-compat-12-4
Version: $version
Release: 1.el9
Summary: a package for tests
License: none
%description
A package for tests.
%install
mkdir -p %{buildroot}
cp -a $top/root/usr %{buildroot}/
%files
/$compat
SPEC
rpmbuild --quiet -bb --target x86_64 --define "_topdir $top" spec >log 2>&1 || fail rpmbuild 'a package' "$(cat log)"
cp "$top"/RPMS/x86_64/*.rpm plain.rpm
# rpmsigned OUT KEY OPTION...
rpmsigned() {
  cp plain.rpm "$top/one.rpm"
  signer=$2
  out=$1
  shift 2
  # Debian's rpmsign looks for gpg2, which is not there.
  rpmsign --define "__gpg $(command -v gpg)" --define "_gpg_name $signer" "$@" --addsign "$top/one.rpm" >log 2>&1 || fail rpmsign 'a signature' "$(cat log)"
  mv "$top/one.rpm" "$out"
}
rpmsigned good.rpm vendor
rpmsigned v3.rpm vendor --rpmv3
expect_status 0 -- "$COMPATPACK" inspect good.rpm
expect_stdout 'RSA, over the header; not checked'
for bundle in good.rpm v3.rpm; do
  expect_status 0 -- "$COMPATPACK" verify $bundle --keyring vendor.asc
  expect_stdout "$says"
done
expect_status 0 -- "$COMPATPACK" inspect v3.rpm --keyring vendor.gpg
expect_stdout 'over header and payload; good, by'
expect_status 0 -- "$COMPATPACK" extract good.rpm --out rpm-tree --keyring vendor.gpg
expect_text rpm-tree/compatpack.json "\"signed_by\": \"$fingerprint\""
expect_status 0 -- "$COMPATPACK" extract good.rpm --out rpm-tree --keyring vendor.gpg
expect_stdout 'up to date'
refused 4 'signature is by a key that is not in the keyring' good.rpm other.gpg
refused 3 'bundle has no signature that can be checked' plain.rpm vendor.gpg

# The header with another word of the same length, and its sums mended by nobody.
LC_ALL=C sed 's/a package for tests/A PACKAGE FOR TESTS/' good.rpm >header.rpm
expect_equal "$(stat -c %s header.rpm)" "$(stat -c %s good.rpm)"
refused 4 'signature does not match the bundle' header.rpm vendor.gpg
# The payload is signed by way of its digest in the header, or directly.
for bundle in good.rpm v3.rpm; do
  flip $bundle $(($(stat -c %s $bundle) - 40))
  expect_error 4 'not match' -- "$COMPATPACK" extract flipped --out no --keyring vendor.gpg
  expect_no no
done
expect_equal "$(find . -name '.*compatpack*')" ''
