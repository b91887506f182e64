#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A bundle that is cut short or has a byte changed anywhere never becomes a tree, and leaves nothing.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

places=100

# attempt WHAT: extracts bundle/driver.run to bundle/tree; status in $status.
attempt() {
  status=0
  "$COMPATPACK" extract bundle/driver.run --out bundle/tree >out 2>err || status=$?
  case $status in
    3 | 4)
      { read -r first && read -r second; } <err || fail "$1" 'a message with details' "$(cat err)"
      case $first$second in
        'compatpack: error: bundle/driver.run'*) ;;
        *) fail "$1" 'a message that names the bundle' "$(cat err)" ;;
      esac
      set -- "$1" bundle/* bundle/.[!.]*
      [ "$2$3" = 'bundle/driver.runbundle/.[!.]*' ] || fail "$1" 'nothing written' "$(ls -A bundle)"
      [ ! -s out ] || fail "$1" 'nothing on stdout' "$(cat out)"
      ;;
  esac
}

# The offsets to try: the header's lines (where each begins, in its middle), and evenly over the rest.
# offsets SIZE HEADER-BYTES PROGRAM-BYTES COUNT
offsets() {
  seq 0 "$((4 * $2 / $4 + 1))" "$2"
  [ "$3" = 0 ] || seq "$2" "$((4 * $3 / $4 + 1))" "$(($2 + $3))"
  seq "$(($2 + $3))" "$((2 * ($1 - $2 - $3) / $4 + 1))" "$(($1 - 1))"
  echo "$(($1 - 1))"
}

mkdir bundle
# try NAME EMBED OPTION...: cuts and changes a bundle that fixture_tool makes with these options.
try() {
  name=$1
  embed=$2
  shift 2
  "$FIXTURE_TOOL" "$@" --out whole.run --filler 1000 --no-compat32
  cp whole.run bundle/driver.run
  attempt "$name"
  expect_equal "$name: $status" "$name: 0"
  rm -rf tree
  mv bundle/tree tree
  rm tree/compatpack.json # it has the digest of the file
  header=$("$COMPATPACK" inspect whole.run --json |
    sed -n '/"payloads"/,/\]/s/.*"from_byte": \([0-9]*\).*/\1/p' | head -n 1)
  header=$((header - embed))
  offsets "$(stat -c %s whole.run)" "$header" "$embed" "$places" | sort -nu >offsets_to_try

  while read -r byte; do
    head -c "$byte" whole.run >bundle/driver.run
    attempt "$name cut at $byte"
    case $status in
      3 | 4) ;;
      *) fail "$name cut at $byte" 'status 3 or 4' "$status: $(cat err)" ;;
    esac
  done <offsets_to_try

  cp whole.run bundle/driver.run
  od -An -v -tu1 -w1 whole.run >bytes
  # One bit, and not always the same one.
  awk 'NR == FNR { byte[NR - 1] = $1; next }
    { bit = 2 ^ ($1 % 8); b = byte[$1]; print $1, (int(b / bit) % 2 ? b - bit : b + bit), b }' bytes offsets_to_try |
    while read -r byte new old; do
      # shellcheck disable=SC2059 # the byte is the format
      printf "\\$(printf %o "$new")" | dd of=bundle/driver.run bs=1 seek="$byte" conv=notrunc status=none
      attempt "$name with $new for $old at $byte"
      case $status in
        3 | 4) ;;
        0) # where no sum reaches: then all that is written is what it was
          rm bundle/tree/compatpack.json
          expect_same bundle/tree tree
          rm -r bundle/tree
          echo "$byte" >>accepted
          ;;
        *) fail "$name with $new for $old at $byte" 'status 3, 4 or 0' "$status: $(cat err)" ;;
      esac
      # shellcheck disable=SC2059
      printf "\\$(printf %o "$old")" | dd of=bundle/driver.run bs=1 seek="$byte" conv=notrunc status=none
    done
  expect_same bundle/driver.run whole.run
}

# accepted_before BYTE: no change at BYTE or behind was taken.
accepted_before() {
  [ -f accepted ] || : >accepted
  awk -v end="$1" '$1 >= end { exit 1 }' accepted ||
    fail "$name" "no change accepted from byte $1 on" "accepted at: $(tr '\n' ' ' <accepted)"
  rm accepted
}

# The sums of NVIDIA's bundles cover all from a line of the header on.
line_start() { head -n "$(($1 - 1))" whole.run | wc -c; }
try 'xz without check' 600 nvidia-run --compress xz-nocheck --embed 600 --version 525.60.13
accepted_before "$(line_start 4)"
try 'zstd' 600 nvidia-run --compress zstd --embed 600
accepted_before "$(line_start 4)"
try 'gzip, oldest layout' 0 nvidia-run --layout a --compress gzip --version 304.137
accepted_before "$(line_start 6)"
# Those of makeself's own cover the payload.
places=40
try 'makeself' 0 upstream-run --compress gzip --sha256
accepted_before "$header"
