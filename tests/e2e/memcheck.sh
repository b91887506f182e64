#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Under valgrind: the main job, on each kind of bundle, reads nothing that it has not written and loses
# no memory. What the sanitizers do not see is seen here, as in libarchive and OpenSSL.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

command -v valgrind >/dev/null || skip 'valgrind is not installed'
! grep -q __asan_init "$COMPATPACK" || skip 'not on top of AddressSanitizer'

"$FIXTURE_TOOL" nvidia-run --out zstd.run --filler 3000 --compress zstd
"$FIXTURE_TOOL" nvidia-run --out xz.run --filler 3000 --compress xz
"$FIXTURE_TOOL" deb --out package.deb --filler 3000 --compress xz
"$FIXTURE_TOOL" rpm --out package.rpm --filler 3000 --compress zstd

# checked STATUS COMPATPACK-ARGUMENT...
checked() {
  wanted=$1
  shift
  expect_status "$wanted" -- any_memory valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
    --show-leak-kinds=definite "$COMPATPACK" "$@"
}

for bundle in zstd.run xz.run package.deb package.rpm; do
  checked 0 extract "$bundle" --out "tree-$bundle"
  "$COMPATPACK" extract "$bundle" --out plain --prefix "$(pwd -P)/tree-$bundle" --quiet
  expect_same "tree-$bundle" plain
  rm -r plain
done
# And a refusal, which gives up in the middle.
"$FIXTURE_TOOL" nvidia-run --out damaged.run --filler 3000 --compress zstd --flip "$(($(stat -c %s zstd.run) - 5000))"
checked 4 extract damaged.run --out damaged
expect_no damaged
