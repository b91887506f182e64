#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run: a command with the tree active, its status and signals, and the same guard as env.sh.
# shellcheck disable=SC2016 # code for the shell that is run
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

"$FIXTURE_TOOL" nvidia-run --version 550.54.15 --out driver.run
"$COMPATPACK" extract driver.run --out tree >extracted.txt
hosts=$REPO/tests/hosts
here=$(pwd -P)
unset LIBRARY_PATH  # which env_probe shows, and which is none of ours

run() { # STATUS CMD...: on a host that is older than the tree
  wanted=$1
  shift
  expect_status "$wanted" -- "$COMPATPACK" run --host-root "$hosts/h100-on-535" tree -- "$@"
}

# --- active, as after env.sh ---

run 0 "$ENV_PROBE" env
"$COMPATPACK" run --host-root "$hosts/h100-on-535" tree -- "$ENV_PROBE" env >run.txt
(
  # The tree was made on a machine whose driver, if it has one, does not matter here.
  COMPATPACK_MODE=on
  export COMPATPACK_MODE
  # shellcheck disable=SC1091
  . ./tree/env.sh
  "$ENV_PROBE" env
) >sourced.txt
expect_same run.txt sourced.txt
expect_text run.txt "LD_LIBRARY_PATH=[$here/tree]"
LD_LIBRARY_PATH=/a:/b run 0 "$ENV_PROBE" env
expect_stdout "LD_LIBRARY_PATH=[$here/tree:/a:/b]"

# A shell that is started so can deactivate.
run 0 sh -c '. tree/env.sh; compatpack_deactivate; echo "<${LD_LIBRARY_PATH-unset}>"'
expect_stdout '<unset>'

# --- status, signals, arguments ---

run 7 sh -c 'exit 7'
run 143 sh -c 'kill -TERM $$'
run 141 sh -c 'kill -PIPE $$'
run 0 printf '<%s>' -x --json 'a b' ''
expect_stdout '<-x><--json><a b><>'
PATH=/usr/bin:/bin run 127 no-such-command
expect_stderr 'no-such-command: cannot run'
: >file
run 126 ./file
expect_error 2 'CMD' -- "$COMPATPACK" run tree
expect_error 3 'not a compat tree' -- "$COMPATPACK" run . -- true
for option in -d --json; do
  expect_error 2 "unexpected argument: $option" -- "$COMPATPACK" run tree ls "$option"
  expect_stderr 'options of the command go behind --: compatpack run TREE -- CMD...'
done
expect_error 2 'unexpected argument: --json' -- "$COMPATPACK" run --json tree -- true

# --- the guard ---

on_newer() { # MODE
  expect_status 0 -- env "COMPATPACK_MODE=$1" \
    "$COMPATPACK" run --host-root "$hosts/h200-on-595" tree -- "$ENV_PROBE" env
}
on_newer auto
expect_stdout ''
expect_stderr "not activated: this host's driver, 595.91.07, has all that this tree's, 550.54.15, has"
on_newer on
expect_stdout "LD_LIBRARY_PATH=[$here/tree]"
expect_stderr ''
on_newer off
expect_stdout ''
expect_stderr ''
on_newer maybe
expect_stderr 'taken as auto'
expect_status 0 -- "$COMPATPACK" run --host-root "$hosts/no-driver" tree -- "$ENV_PROBE" env
expect_stdout "LD_LIBRARY_PATH=[$here/tree]"
expect_stderr ''

# A driver of the same version has all that the tree has; one release older has not.
mkdir -p near/sys/module/nvidia
echo 550.54.15 >near/sys/module/nvidia/version
expect_status 0 -- "$COMPATPACK" run --host-root near tree -- "$ENV_PROBE" env
expect_stdout ''
expect_stderr 'not activated: '
echo 550.54.14 >near/sys/module/nvidia/version
expect_status 0 -- "$COMPATPACK" run --host-root near tree -- "$ENV_PROBE" env
expect_stdout "LD_LIBRARY_PATH=[$here/tree]"
