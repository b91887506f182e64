#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# makeself itself as a peer: what its own archives give when they are run, compatpack takes out of
# them without running anything.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v makeself >/dev/null; then
  [ -z "${CI-}" ] || fail makeself 'installed, since CI is set' 'no such command'
  skip 'makeself is not installed'
fi

# What is packed is flat, as a tree is. The startup script must never run: it would leave a mark.
# So would the label's command; the stub runs that one, and its mark is removed.
mark=$(mktemp -d "${TMPDIR:-/tmp}/mark.XXXXXX")/it-ran
mkdir packed
"$FIXTURE_TOOL" elf --out packed/libalpha.so.1.2 --soname libalpha.so.1 --filler 3000
"$FIXTURE_TOOL" elf --out packed/libbeta.so.2 --soname libbeta.so.2 --filler 40000
printf 'text\n' >packed/readme
: >packed/empty
printf 'a name' >'packed/a name; of  ours'
printf '#!/bin/sh\n: >"%s"\n' "$mark" >packed/start.sh
chmod 755 packed/start.sh packed/lib*

# pack FILE OPTION...: an archive of packed/.
pack() {
  file=$1
  shift
  any_memory makeself --quiet --tar-quietly "$@" packed "$file" "A label with 'quotes', and \$(touch $mark)" \
    ./start.sh one two >makeself.log 2>&1 </dev/null || fail "makeself $*" 'status 0' "$(cat makeself.log)"
}

# same FILE [FOLDER]: compatpack takes out of it what it unpacks by itself, or what is in FOLDER.
same() {
  reference=${2-reference}
  rm -rf taken
  if [ $# = 1 ]; then
    rm -rf reference
    sh "./$1" --noexec --quiet --nox11 --target reference >stub.log 2>&1 </dev/null ||
      fail "$1" 'unpacks itself' "$(cat stub.log)"
  fi
  rm -f "$mark"
  expect_status 0 -- "$COMPATPACK" extract "$1" --out taken --include '*'
  (cd "$reference" && find . -type f ! -perm 755 -exec chmod 644 {} +)
  for own in compatpack.json env.sh env.fish env.csh; do rm -f "taken/$own"; done
  # Links are made by the sonames; files alone stand in these archives.
  find taken -type l -delete
  expect_same taken "$reference"
  expect_equal "$(stat -c '%n %a' taken/* | sed 's/^taken//')" \
    "$(stat -c '%n %a' "$reference"/* | sed "s/^$reference//")"
  expect_status 0 -- "$COMPATPACK" verify "$1"
  expect_status 0 -- "$COMPATPACK" list "$1"
  expect_stdout 'readme'
  expect_status 0 -- "$COMPATPACK" inspect "$1"
  expect_stdout 'makeself'
  expect_no "$mark"
}

# --- compressors ---

left_out=
for compressor in gzip bzip2 xz lz4 zstd compress pigz pbzip2; do
  if ! command -v "$compressor" >/dev/null; then
    left_out="$left_out $compressor"
    continue
  fi
  pack archive.run "--$compressor"
  same archive.run
done
if [ -n "$left_out" ]; then
  echo "left out, not installed:$left_out"
  [ -z "${CI-}" ] || fail compressors 'all installed, since CI is set' "without$left_out"
fi
pack archive.run --nocomp
same archive.run
pack archive.run --base64
same archive.run
if command -v lzop >/dev/null; then
  pack archive.run --lzo
  expect_error 3 'lzo' -- "$COMPATPACK" extract archive.run --out taken2 --include '*'
  expect_no taken2
fi

# --- checksums ---

pack archive.run --sha256
same archive.run
expect_status 0 -- "$COMPATPACK" verify archive.run
expect_stdout 'cksum, MD5 and SHA-256 of its header'
# With the payload's last byte changed, all three tell.
cp archive.run damaged.run
printf 'X' | dd of=damaged.run bs=1 conv=notrunc seek="$(($(stat -c %s archive.run) - 1))" 2>/dev/null
expect_error 4 'does not match the one in its header' -- "$COMPATPACK" extract damaged.run --out x --include '*'
expect_no x

pack archive.run --nomd5
same archive.run
expect_status 0 -- "$COMPATPACK" verify archive.run
expect_stdout 'verified: cksum of its header'
pack archive.run --nocrc
same archive.run
expect_status 0 -- "$COMPATPACK" verify archive.run
expect_stdout 'verified: MD5 of its header'
pack archive.run --nocrc --nomd5
same archive.run
expect_status 0 -- "$COMPATPACK" verify archive.run
expect_stdout 'not verified'
expect_error 3 'nothing to verify' -- "$COMPATPACK" verify archive.run --require-checksum

# One of the sums wrong and the other right is wrong.
pack archive.run --sha256
sed 's/^SHA="./SHA="g/' archive.run >damaged.run
expect_error 3 'malformed checksum' -- "$COMPATPACK" verify damaged.run
for sum in SHA MD5; do
  if grep -q "^$sum=\"0" archive.run; then digit=1; else digit=0; fi
  sed "s/^$sum=\"./$sum=\"$digit/" archive.run >damaged.run
  expect_error 4 'does not match the one in its header' -- "$COMPATPACK" verify damaged.run
done
expect_equal "$(grep -c '^SHA="[0-9a-f]\{64\}"' archive.run)" 1

# --- sizes that lie ---

size=$(sed -n 's/^filesizes="\([0-9]*\)"/\1/p' archive.run)
sed "s/^filesizes=\"$size\"/filesizes=\"$((size + 1))\"/" archive.run >damaged.run
expect_error 3 'shorter than its header says' -- "$COMPATPACK" extract damaged.run --out x --include '*'
expect_no x
cp archive.run damaged.run
printf 'more' >>damaged.run
expect_error 3 'longer than its header says' -- "$COMPATPACK" extract damaged.run --out x --include '*'
expect_no x
sed 's/$/\r/' archive.run >damaged.run
expect_error 3 'CR LF' -- "$COMPATPACK" extract damaged.run --out x --include '*'
expect_no x

# --- appended ---

mv packed packed1
for number in 2 3; do
  mkdir packed
  "$FIXTURE_TOOL" elf --out "packed/libmore$number.so.1" --soname "libmore$number.so.1"
  printf '%s\n' "$number" >packed/readme
  any_memory makeself --quiet --tar-quietly --append packed archive.run >makeself.log 2>&1 </dev/null ||
    fail 'makeself --append' 'status 0' "$(cat makeself.log)"
  rm -rf "packed$number"
  mv packed "packed$number"
done
mv packed1 packed
same archive.run
expect_same reference/readme packed3/readme
expect_file reference/libmore2.so.1

# --- texts that look like the header's own lines ---

cat >licence <<'LICENCE'
skip=5
skip="7"
filesizes="1"
CRCsum="1"
offset=`head -n 3 "$0" | wc -c`
label="another" '`"$ \\
totalsize="1"
decrypt_cmd="openssl"
LICENCE
pack archive.run --license licence
yes | sh ./archive.run --accept --noexec --quiet --nox11 --target check >stub.log 2>&1 ||
  fail archive.run 'unpacks itself' "$(cat stub.log)"
(cd check && find . -type f ! -perm 755 -exec chmod 644 {} +)
same archive.run check
pack archive.run --help-header licence
same archive.run

for format in gnu pax ustar v7; do
  pack archive.run --tar-format "$format"
  same archive.run
done

# --- encrypted: refused, and said so ---

if command -v openssl >/dev/null; then
  pack archive.run --ssl-encrypt --ssl-passwd secret
  expect_error 3 'encrypted' -- "$COMPATPACK" extract archive.run --out x --include '*'
  expect_no x
fi
if command -v gpg >/dev/null; then
  GNUPGHOME=$(mktemp -d /tmp/gpg.XXXXXX) # a socket's path must be short
  export GNUPGHOME
  if makeself --quiet --tar-quietly --gpg-encrypt \
    --gpg-extra '--batch --pinentry-mode loopback --passphrase secret' packed archive.run label ./start.sh \
    >makeself.log 2>&1 </dev/null; then
    expect_error 3 'encrypted' -- "$COMPATPACK" extract archive.run --out x --include '*'
    expect_no x
  else
    echo "left out: --gpg-encrypt does not work here: $(cat makeself.log)"
  fi
  gpgconf --kill all 2>/dev/null || :
  rm -rf "$GNUPGHOME"
fi
expect_no "$mark"
rmdir "${mark%/*}"
