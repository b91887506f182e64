#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# While a bundle is read the process can write to the tree alone, starts no program and opens no
# connection; where the kernel has no means for that, it works all the same and -v says so.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir in out
echo text >out/there
"$CONFINEMENT_TOOL" in out >told
in_force=$(sed -n 1p told)
expect_text told 'make a file inside: yes'
expect_text told 'rename inside: yes'
expect_text told 'link inside: yes'
expect_text told 'remove inside: yes'
expect_text told 'rename the folder: yes'
expect_text told 'read outside: yes'
case $in_force in
  *seccomp*)
    expect_text told 'socket: Operation not permitted'
    expect_text told 'start a program: Operation not permitted'
    ;;
esac
case $in_force in
  *Landlock*)
    for what in 'make a file outside' 'write a file outside' 'remove outside' 'link outside' \
      'make a device inside'; do
      expect_text told "$what: Permission denied"
    done
    expect_text out/there text
    expect_no out/a
    ;;
esac
[ -n "$in_force" ] || echo 'nothing was in force here; only that all works without was tried'

# The product confines itself, in each of the ways in which it writes.
"$FIXTURE_TOOL" nvidia-run --out driver.run
for command in 'extract driver.run --out tree' 'extract driver.run --out tree --force --components cuda,nvml' \
  'extract driver.run --out dry --dry-run' 'list driver.run' 'verify driver.run' 'inspect driver.run --deep' \
  'check driver.run --driver 470.57.02 --gpu A100' 'image driver.run --out image' \
  'image driver.run --out image --force --tag new' 'image tree --base image --out folder/archive --format archive' \
  'image tree --out layer --format layer' 'image tree --out layer --format layer --force --volume'; do
  # shellcheck disable=SC2086 # words
  "$COMPATPACK" $command -v >said 2>err || [ $? -gt 4 ] || fail "$command" 'exit status 0' "$(cat err)"
  if [ -n "$in_force" ]; then
    expect_text err "confined by $in_force"
  else
    expect_text err 'not confined'
  fi
done
expect_file tree/libnvidia-ml.so.535.54.03
expect_status 0 -- "$COMPATPACK" verify tree
