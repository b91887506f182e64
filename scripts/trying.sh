# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts share that try something as a user would (try-image, try-static, try-install). One begins with
#
#   here=$(cd "$(dirname "$0")" && pwd)
#   . "$here/trying.sh"
#
# and has then, under set -eu:
#
#   $name, $work     the script's name; a folder for its files, kept after a failure and under --keep
#   fail WHAT        ends it
#   cannot WHY       ends it with status 77: cannot be tried here
#   expect WHAT WANTED CMD...    runs CMD, whose output (with "(exit status N)", unless 0) is to be WANTED; goes on
#                                after a failure
#   holds WHAT CMD...            wants CMD to succeed
#   finish_trying    to be called last: fails if an expectation did not hold
set -eu

name=${0##*/}
failures=0

fail() {
  echo "$name: error: $1" >&2
  exit 1
}

cannot() {
  echo "$name: left out: $1"
  exit 77
}

keep=no
if [ "${1-}" = --keep ]; then
  keep=yes
  shift
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/$name.XXXXXX")
at_exit() { :; }
trying_end() {
  at_exit
  case $keep:$1 in
    no:0 | no:77) rm -rf "$work" ;;
    *) echo "$name: the work folder is kept: $work" ;;
  esac
}
trap 'trying_end $?' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

expect() {
  what=$1
  wanted=$2
  shift 2
  found=$("$@" 2>&1) || found="$found
(exit status $?)"
  if [ "$found" = "$wanted" ]; then
    echo "  holds: $what"
  else
    failures=$((failures + 1))
    printf 'FAILED: %s\n  expected: %s\n  found:    %s\n' "$what" "$wanted" "$found"
  fi
}

holds() {
  what=$1
  shift
  if found=$("$@" 2>&1); then
    echo "  holds: $what"
  else
    failures=$((failures + 1))
    printf 'FAILED: %s\n  command: %s\n  found:   %s\n' "$what" "$*" "$found"
  fi
}

finish_trying() {
  [ "$failures" = 0 ] || fail "$failures failures"
  echo "$name: all as expected"
}
