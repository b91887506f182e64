#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Many jobs of one cluster that extract the same bundle to the same place at once: each of them ends
# well, and with one whole tree.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

"$FIXTURE_TOOL" nvidia-run --out driver.run
"$FIXTURE_TOOL" nvidia-run --out newer.run --version 550.54.15

# at_once NUMBER ARGUMENT...: starts so many extracts at the same moment, waits for all. Each leaves
# its status in statuses/ and what it said in outputs/.
at_once() {
  number=$1
  shift
  rm -rf statuses outputs gate
  mkdir statuses outputs
  mkfifo gate
  job=0
  while [ $job -lt "$number" ]; do
    job=$((job + 1))
    {
      # Opens when the other end does, for all at once.
      read -r _ <gate || :
      status=0
      "$COMPATPACK" extract "$@" --out tree >"outputs/$job" 2>&1 || status=$?
      echo "$status" >"statuses/$job"
    } &
  done
  sleep 0.3
  : >gate
  wait
}
all_statuses() { cat statuses/* | sort | uniq -c | sed 's/^ *//'; }

"$COMPATPACK" extract driver.run --out tree >alone
mv tree wanted
round=0
while [ $round -lt 3 ]; do
  round=$((round + 1))
  rm -rf tree
  at_once 20 driver.run --no-sync
  expect_equal "$(all_statuses)" '20 0'
  expect_equal "$(find . -maxdepth 1 -name '.tree*' | wc -l)" 0
  expect_status 0 -- "$COMPATPACK" verify tree
  expect_same tree wanted
done

# A tree in use, which all of them are to replace: there is a whole one at every moment.
at_once 20 newer.run --no-sync --force
expect_equal "$(all_statuses)" '20 0'
expect_status 0 -- "$COMPATPACK" verify tree
expect_stdout 'driver 550.54.15'
# A process may remove the tree that stood there when it gave up its other rights, and no other: what
# was swapped in meanwhile by another one waits for the next run.
"$COMPATPACK" extract newer.run --out tree >/dev/null
expect_equal "$(find . -maxdepth 1 -name '.tree*' | wc -l)" 0
