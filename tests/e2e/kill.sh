#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Whatever ends an extraction leaves no tree or the old one, and no litter that the next run does not
# clear; and many at once make one tree.
#
#   KILL_MOMENTS=200     how many moments of an extraction SIGKILL comes at; 30 unless set
#   KILL_BUNDLE=FILE     what is extracted: a .run, in place of one with 20 MB of random bytes
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# 20 MB of libraries, in a time that several kills fit into.
if [ -n "${KILL_BUNDLE:-}" ]; then
  ln -s "$KILL_BUNDLE" new.run
else
  "$FIXTURE_TOOL" nvidia-run --out new.run --version 550.54.15 --filler 2000000 --no-compat32 --compress none
fi
"$FIXTURE_TOOL" nvidia-run --out old.run --version 535.54.03
mkdir work

now() { date +%s%N; }
begun=$(now)
"$COMPATPACK" extract new.run --out work/tree >stdout
took=$((($(now) - begun) / 1000)) # microseconds
rm -r work/tree

# start OPTION...: extracts new.run in the background; its process is in $pid. Shells let background
# jobs ignore SIGINT, and compatpack honours that; here it is a foreground job's.
start() {
  env --default-signal=INT "$COMPATPACK" extract new.run --out work/tree "$@" >stdout 2>stderr &
  pid=$!
}

# wait_for_it: its exit status as a shell sees it, in $status.
wait_for_it() {
  status=0
  wait "$pid" 2>/dev/null || status=$?
}

pause() { # MICROSECONDS
  sleep "$(($1 / 1000000)).$(printf %06d "$(($1 % 1000000))")"
}

# --- signals that ask ---

for signal in INT TERM HUP; do
  case $signal in
    INT) wanted=130 ;;
    TERM) wanted=143 ;;
    HUP) wanted=129 ;;
  esac
  # The moment is a guess: try until the signal finds it at work.
  tries=0
  status=0
  while [ "$status" = 0 ]; do
    tries=$((tries + 1))
    [ "$tries" -le 50 ] || fail "SIG$signal" "status $wanted" 'never in time'
    rm -rf work/tree
    start
    while [ -z "$(ls -A work)" ]; do :; done
    kill "-$signal" "$pid" 2>/dev/null || :
    wait_for_it
  done
  expect_equal "SIG$signal: $status" "SIG$signal: $wanted"
  expect_text stderr 'interrupted; nothing was written'
  # It clears up itself.
  expect_equal "$(ls -A work)" ''
done

# Where it is to be ignored, it is.
(
  trap '' INT
  "$COMPATPACK" extract new.run --out work/tree >stdout 2>stderr &
  while [ -z "$(ls -A work)" ]; do :; done
  kill -INT "$!"
  wait "$!" || fail 'an ignored SIGINT' 'status 0' "$?"
)
expect_status 0 -- "$COMPATPACK" verify work/tree
rm -r work/tree

# --- SIGKILL, over nothing and over an old tree ---

killed=0
moment=0
moments=${KILL_MOMENTS:-30}
while [ "$moment" -lt "$moments" ]; do
  moment=$((moment + 1))
  rm -rf work/tree
  old=
  if [ "$((moment % 2))" = 0 ]; then
    "$COMPATPACK" extract old.run --out work/tree >stdout
    old=yes
    start --force
  else
    start
  fi
  # The last ones come near the rename.
  pause "$((took * moment / (moments - 2)))"
  kill -KILL "$pid" 2>/dev/null || :
  wait_for_it
  case $status in
    137) killed=$((killed + 1)) ;;
    0) ;;
    *) fail "moment $moment" 'status 137, or 0' "$status: $(cat stderr)" ;;
  esac
  if [ -e work/tree ]; then
    expect_status 0 -- "$COMPATPACK" verify work/tree
    expect_stdout 'whole'
  elif [ -n "$old" ]; then
    fail "moment $moment" 'the old tree or the new one' 'none'
  fi
  # The next run clears what was left, even one that finds the tree up to date.
  expect_status 0 -- "$COMPATPACK" extract old.run --out work/tree --force
  expect_equal "moment $moment: $(ls -A work)" "moment $moment: tree"
  expect_status 0 -- "$COMPATPACK" verify work/tree
done
[ "$killed" -ge $((moments / 3)) ] || fail 'SIGKILL' "at least a third of $moments in time" "$killed"
[ -z "${KILL_MOMENTS:-}" ] || echo "SIGKILL at $moments moments: $killed in time"
rm -r work/tree

# --- many at once ---

: >statuses
number=0
while [ "$number" -lt 20 ]; do
  number=$((number + 1))
  (
    status=0
    "$COMPATPACK" extract old.run --out work/tree >"out.$number" 2>"err.$number" || status=$?
    echo "$status" >>statuses
  ) &
done
wait
expect_equal "$(sort statuses | uniq -c | tr -s ' ')" ' 20 0'
expect_equal "$(cat err.*)" ''
expect_equal "$(ls -A work)" tree
expect_status 0 -- "$COMPATPACK" verify work/tree
"$COMPATPACK" extract old.run --out alone --prefix "$(pwd -P)/work/tree" >stdout
expect_same work/tree alone
expect_equal "$(cat out.* | grep -c 'driver 535.54.03\|up to date')" 20
