#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What scripts/release does to a checkout, with all that builds and tests replaced by what says its name.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

command -v git >/dev/null || skip 'git is not installed'

mkdir bin home checkout checkout/scripts
export HOME="$PWD/home" PATH="$PWD/bin:$PATH"
git config --global user.name 'A Tester'
git config --global user.email tester@example.org
git config --global init.defaultBranch main

# stub PATH TEXT
# shellcheck disable=SC2016 # code for the stub
stub() {
  printf '#!/bin/sh\necho "ran: ${0##*/} $*" >>"$HOME/ran"\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
stub bin/cmake ''
# shellcheck disable=SC2016 # code for the stub
stub bin/cpack 'mkdir -p packed && echo package >"packed/compatpack_of.$2"'
stub bin/aarch64-linux-gnu-g++ ''
stub checkout/scripts/test ''
# shellcheck disable=SC2016
stub checkout/scripts/build-static 'mkdir -p "build-static-$1" && echo "for $1" >"build-static-$1/compatpack"'
# The tools are those that scripts/test has built.
# shellcheck disable=SC2016
stub checkout/scripts/try-static '[ "${TOOLS-}" = "$PWD/build-gcc/tests" ]'
stub checkout/scripts/make-reference 'echo remade >reference'
cp "$REPO/scripts/release" checkout/scripts/
cp "$REPO/CMakeLists.txt" checkout/
cat >checkout/CHANGELOG.md <<'END'
# Changes

## 7.8.0, not yet released

* New.

## 7.7.0, 2026-01-02

* Old.
END
echo old >checkout/reference
mkdir checkout/build-gcc
echo '/build*/' >checkout/.gitignore
cd checkout
git init -q
git add -A
git commit -q -m first

# --- it says what it would do, and does nothing ---

expect_status 0 -- scripts/release --dry-run 7.8.9
expect_stdout '+ scripts/test
+ set_version
+ close_changelog
'
expect_stdout '+ scripts/build-static aarch64'
expect_stdout '+ git tag -a -m compatpack 7.8.9 v7.8.9'
expect_equal "$(git status --porcelain)$(git tag)" ''
expect_no "$HOME/ran"
expect_no build-release

# --- what cannot be released is refused before anything runs ---

refused() { # TEXT ARGUMENT...
  text=$1
  shift
  expect_status 1 -- scripts/release "$@"
  expect_stderr "release: error: $text"
  expect_no "$HOME/ran"
}
expect_status 2 -- scripts/release
expect_status 2 -- scripts/release 7.8.9 8
refused '7.8: a version is three numbers' 7.8
refused '7.8.9-rc1: a version is three numbers' 7.8.9-rc1
touch new-file
refused 'the checkout is not clean' 7.8.9
rm new-file
git tag v7.7.0
refused 'tag v7.7.0 is there already' 7.7.0
sed -i 's/, not yet released/, 2026-02-03/' CHANGELOG.md
git commit -q -a -m closed
refused 'CHANGELOG.md: one section' 7.8.9
git reset -q --hard HEAD~1

# --- a failure ends it: no commit, no tag ---

stub scripts/test 'exit 1'
git commit -q -a -m 'a test fails'
expect_status 1 -- scripts/release 7.8.9
expect_equal "$(cat "$HOME/ran")" 'ran: test '
expect_equal "$(git tag)" v7.7.0
git reset -q --hard HEAD~1
rm "$HOME/ran"

# --- a release ---

expect_status 0 -- scripts/release 7.8.9
expect_text CMakeLists.txt 'project(compatpack VERSION 7.8.9 '
expect_text CHANGELOG.md "## 7.8.9, $(date -u +%Y-%m-%d)

* New.

## 7.7.0, 2026-01-02"
expect_text reference remade
expect_text "$HOME/ran" 'ran: cpack -G DEB -B packed -D CPACK_PACKAGE_CONTACT=A Tester <tester@example.org>'
expect_equal "$(git status --porcelain)" ''
expect_equal "$(git log -1 --format=%s)" 'Release 7.8.9'
expect_equal "$(git rev-parse 'v7.8.9^{commit}')" "$(git rev-parse HEAD)"
expect_equal "$(cd build-release && ls)" "SHA256SUMS
compatpack-7.8.9-linux-aarch64
compatpack-7.8.9-linux-$(uname -m)
compatpack_of.DEB
compatpack_of.RPM"
expect_text build-release/compatpack-7.8.9-linux-aarch64 'for aarch64'
expect_status 0 -- sh -c 'cd build-release && sha256sum -c SHA256SUMS'
expect_equal "$(grep -c . build-release/SHA256SUMS)" 4
