# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# What end-to-end scripts share. A script begins with
#
#   #!/bin/sh
#   . "$(dirname "$0")/lib.sh"
#
# and from there on runs under set -eu, as nobody where root started it, in an empty folder of its
# own below a symbolic link with a blank and a newline in its name. The folder is removed if the
# script succeeds, and kept, with its path printed, if not.
#
#   $COMPATPACK $FIXTURE_TOOL   the program under test and, for each x_tool of tests/support, $X_TOOL;
#                               from ctest, with $E2E_TOOLS naming these variables
#   $REPO                       README.md, CHANGELOG.md, completions/, docs/, examples/, include/, man/, scripts/, src/ and
#                               tests/ of this project,
#                               readable
#
#   expect_status 3 -- CMD...            runs CMD and wants this exit status
#   expect_error 3 "bundle ends" -- CMD...   and a message of ours on stderr that holds the text
#   expect_stdout TEXT, expect_stderr TEXT   the last such CMD's output holds the text; "" : is empty
#   expect_told TEXT   its stdout says the text, wherever lines were broken to fit a terminal
#   expect_file PATH [MODE]              a regular file, not a link; MODE as 0755
#   expect_folder PATH
#   expect_link PATH TARGET              a symbolic link that says TARGET
#   expect_no PATH                       nothing of that name, nor a dangling link
#   expect_same A B                      same bytes, or folders with the same files
#   expect_text FILE TEXT                FILE holds TEXT, as it stands
#   expect_equal FOUND WANTED
#   plain_work                           makes the folder $work, without newlines in its path, for what
#                                        cannot take these; it is removed in any case
#   skip REASON                          ends the script; ctest counts it as skipped
#   any_memory CMD...                    another program than ours, which may take what it wants
#   may_mount                            starts the script anew as root of namespaces of its own, who may mount
#                                        and is nobody outside; or skips it where that is not allowed
#
# Each prints what was expected and what was found, and ends the script, unless what it says is so.
set -eu

e2e_script=${0##*/}

if [ "$(id -u)" = 0 ] && [ -z "${E2E_NAMESPACE-}" ]; then
  e2e_repo=$(cd "$(dirname "$0")/../.." && pwd)
  # shellcheck source=tests/support/nobody.sh
  . "$e2e_repo/tests/support/nobody.sh"
  nobody_stage
  mkdir "$stage/repo" "$stage/bin"
  for e2e_part in CMakeLists.txt README.md CHANGELOG.md completions docs examples include man scripts src tests; do
    [ ! -e "$e2e_repo/$e2e_part" ] || cp -R "$e2e_repo/$e2e_part" "$stage/repo/"
  done
  for e2e_tool in ${E2E_TOOLS:-COMPATPACK FIXTURE_TOOL}; do
    eval "e2e_program=\${$e2e_tool:-}"
    # shellcheck disable=SC2154 # set by the eval
    [ -n "$e2e_program" ] || continue
    cp "$e2e_program" "$stage/bin/"
    export "$e2e_tool=$stage/bin/${e2e_program##*/}"
  done
  chmod -R a+rX "$stage/repo" "$stage/bin"
  cd "$stage/tmp"
  e2e_status=0
  nobody_run sh "$stage/repo/tests/e2e/$e2e_script" "$@" || e2e_status=$?
  case $e2e_status in 0 | 77) rm -rf "$stage" ;; esac
  exit "$e2e_status"
fi

REPO=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck disable=SC2034 # for the scripts
readonly REPO
unset LD_LIBRARY_PATH LD_PRELOAD COMPATPACK_MODE NO_COLOR CDPATH
export LC_ALL=C.UTF-8
# What is promised against hostile bundles holds in each test: no program takes more than 300 MiB, its
# threads' stacks included. Sanitizers take far more than the program that they are in.
if ! grep -q __asan_init "$COMPATPACK"; then
  # shellcheck disable=SC3045 # dash, bash and busybox have it; in KiB
  ulimit -S -d $((300 * 1024))
fi

e2e_top=$(mktemp -d "${TMPDIR:-/tmp}/e2e-${e2e_script%.sh}.XXXXXX")
e2e_odd='a place
of work'
mkdir "$e2e_top/real $e2e_odd" "$e2e_top/real $e2e_odd/folder" "$e2e_top/last"
ln -s "real $e2e_odd" "$e2e_top/linked $e2e_odd"
: >"$e2e_top/last/stdout"
: >"$e2e_top/last/stderr"
cd "$e2e_top/linked $e2e_odd/folder"

e2e_finish() {
  trap - EXIT
  case $1 in
    0 | 77)
      cd /
      chmod -R u+rwX "$e2e_top"
      rm -rf "$e2e_top"
      ;;
    *) echo "$e2e_script: failed; its folder is kept: $e2e_top" >&2 ;;
  esac
  exit "$1"
}
trap 'e2e_finish $?' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

plain_work() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/${e2e_script%.sh}.XXXXXX")
  work=$(cd "$work" && pwd -P)
  trap 'e2e_status=$?; rm -rf "$work"; e2e_finish "$e2e_status"' EXIT
}

# fail WHAT EXPECTED FOUND
fail() {
  printf '%s: %s\n  expected: %s\n  found:    %s\n' "$e2e_script" "$1" "$2" "$3" >&2
  exit 1
}

may_mount() {
  [ -z "${E2E_NAMESPACE-}" ] || return 0
  unshare -rm true 2>/dev/null || skip 'user namespaces are not allowed here'
  E2E_NAMESPACE=yes unshare -rm sh "$REPO/tests/e2e/$e2e_script"
  exit
}

any_memory() (
  # shellcheck disable=SC3045
  ulimit -S -d unlimited
  "$@"
)

skip() {
  echo "$e2e_script: skipped: $1"
  exit 77
}

# What stands at a path, in words.
e2e_kind() {
  if [ -L "$1" ]; then
    printf 'a link to %s' "$(readlink "$1")"
  elif [ -f "$1" ]; then
    printf 'a file of %s bytes, mode 0%s' "$(stat -c %s "$1")" "$(stat -c %a "$1")"
  elif [ -d "$1" ]; then
    printf 'a folder holding: %s' "$(ls -A "$1")"
  elif [ -e "$1" ]; then
    stat -c %F "$1"
  else
    printf 'nothing; its folder holds: %s' "$(ls -A "$(dirname "$1")" 2>&1)"
  fi
}

e2e_holds() { # FILE TEXT: TEXT may have several lines
  case $(cat "$1") in
    *"$2"*) return 0 ;;
    *) return 1 ;;
  esac
}

expect_status() {
  e2e_wanted=$1
  [ "$2" = -- ] || fail "expect_status $1 $2" 'expect_status N -- CMD...' "$*"
  shift 2
  e2e_found=0
  "$@" >"$e2e_top/last/stdout" 2>"$e2e_top/last/stderr" </dev/null || e2e_found=$?
  [ "$e2e_found" = "$e2e_wanted" ] || fail "$*" "exit status $e2e_wanted" "$e2e_found
  stdout:
$(cat "$e2e_top/last/stdout")
  stderr:
$(cat "$e2e_top/last/stderr")"
}

expect_error() {
  e2e_text=$2
  e2e_error_status=$1
  shift 2
  expect_status "$e2e_error_status" "$@"
  shift
  e2e_holds "$e2e_top/last/stderr" "$e2e_text" ||
    fail "$*" "on stderr: $e2e_text" "$(cat "$e2e_top/last/stderr")"
  e2e_holds "$e2e_top/last/stderr" 'compatpack: error: ' ||
    fail "$*" 'on stderr: compatpack: error: ...' "$(cat "$e2e_top/last/stderr")"
}

e2e_output() { # NAME TEXT
  if [ -z "$2" ]; then
    [ ! -s "$e2e_top/last/$1" ] || fail "$1" 'nothing' "$(cat "$e2e_top/last/$1")"
  else
    e2e_holds "$e2e_top/last/$1" "$2" || fail "$1" "$2" "$(cat "$e2e_top/last/$1")"
  fi
}

expect_stdout() { e2e_output stdout "$1"; }
expect_stderr() { e2e_output stderr "$1"; }

expect_told() {
  tr '\n' ' ' <"$e2e_top/last/stdout" | tr -s ' ' >"$e2e_top/last/told"
  e2e_holds "$e2e_top/last/told" "$(printf '%s' "$1" | tr -s ' ')" ||
    fail stdout "$1" "$(cat "$e2e_top/last/stdout")"
}

expect_file() {
  if [ -L "$1" ] || [ ! -f "$1" ]; then
    fail "$1" 'a file' "$(e2e_kind "$1")"
  fi
  if [ $# -gt 1 ] && [ "$(printf '%04d' "$(stat -c %a "$1")")" != "$2" ]; then
    fail "$1" "mode $2" "$(e2e_kind "$1")"
  fi
}

expect_folder() {
  if [ -L "$1" ] || [ ! -d "$1" ]; then
    fail "$1" 'a folder' "$(e2e_kind "$1")"
  fi
}

expect_link() {
  if [ ! -L "$1" ] || [ "$(readlink "$1")" != "$2" ]; then
    fail "$1" "a link to $2" "$(e2e_kind "$1")"
  fi
}

expect_no() {
  if [ -e "$1" ] || [ -L "$1" ]; then
    fail "$1" 'nothing' "$(e2e_kind "$1")"
  fi
}

expect_same() {
  e2e_difference=$(diff -r --no-dereference "$1" "$2" 2>&1) ||
    fail "$1 and $2" 'the same' "$e2e_difference"
}

expect_text() {
  [ -f "$1" ] || fail "$1" 'a file' "$(e2e_kind "$1")"
  e2e_holds "$1" "$2" || fail "$1" "$2" "$(cat "$1")"
}

expect_equal() {
  [ "$1" = "$2" ] || fail 'values differ' "$2" "$1"
}
