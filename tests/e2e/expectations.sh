#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lib.sh holds what it promises: the place, the user, and that each expectation can fail.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" != 0 ] || fail 'user' 'another than root' root
case $PWD in
  *' '*'
'*) ;;
  *) fail 'folder' 'a blank and a newline in its path' "$PWD" ;;
esac
[ "$PWD" != "$(pwd -P)" ] || fail 'folder' 'a symbolic link in its path' "$PWD"
expect_equal "$(ls -A)" ''
[ -w "$HOME" ] || fail HOME 'writable' "$HOME"

# rejects EXPECTATION...: it ends a script with status 1 and says what it found.
rejects() {
  e2e_reject=0
  said=$("$@" 2>&1) || e2e_reject=$?
  expect_equal "$e2e_reject" 1
  case $said in
    *expected:*found:*) ;;
    *) fail "$*" 'a report of what was expected and found' "$said" ;;
  esac
}

printf 'one\ntwo\n' >file
chmod 640 file
cp file copy
echo other >other
ln -s file link
ln -s nothing dangling
mkdir folder folder2
cp file folder/file

expect_file file
expect_file file 0640
expect_folder folder
expect_link link file
expect_link dangling nothing
expect_no absent
expect_same file copy
expect_text file 'one
two'
rejects expect_file link
rejects expect_file folder
rejects expect_file absent
rejects expect_file file 0644
rejects expect_folder file
rejects expect_link file file
rejects expect_link link other
rejects expect_no file
rejects expect_no dangling
rejects expect_same file other
rejects expect_same file absent
rejects expect_same folder folder2
rejects expect_text file three
rejects expect_text absent one
rejects expect_equal a b

expect_status 3 -- sh -c 'echo out; echo "compatpack: error: x: bundle ends" >&2; exit 3'
expect_stdout out
expect_stderr 'bundle ends'
rejects expect_stdout ''
rejects expect_stderr other
expect_error 3 'bundle ends' -- sh -c 'echo "compatpack: error: x: bundle ends" >&2; exit 3'
expect_stdout ''
rejects expect_status 0 -- false
rejects expect_status 1 -- true
rejects expect_error 3 'bundle ends' -- sh -c 'echo "compatpack: error: x: other" >&2; exit 3'
rejects expect_error 3 'bundle ends' -- sh -c 'echo "compatpack: error: x: bundle ends" >&2; exit 4'
rejects expect_error 3 'bundle ends' -- sh -c 'echo "bundle ends" >&2; exit 3'

# shellcheck disable=SC2016 # the inner shell expands them
expect_status 77 -- sh -c '. "$1"/tests/e2e/lib.sh; skip reason' "$REPO/tests/e2e/x.sh" "$REPO"
expect_stdout 'skipped: reason'
