# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
#
# Tests run without root's powers, even where root starts them: as root no permission test means
# anything. Sourced by e2e/lib.sh and as_nobody.sh.
#
#   nobody_stage             makes a folder that nobody can reach and run programs in; its path is in
#                            $stage. The checkout may be no such place: it may lie below a 0700 folder.
#   nobody_run CMD...        runs a command as nobody, with HOME and TMPDIR below $stage

nobody_uid=65534

nobody_setpriv() {
  setpriv --reuid="$nobody_uid" --regid="$nobody_uid" --clear-groups "$@"
}

nobody_stage() {
  for stage_base in "${TMPDIR:-/tmp}" /tmp /var/tmp; do
    stage=$(mktemp -d "$stage_base/compatpack-test.XXXXXX") || continue
    chmod 755 "$stage"
    printf '#!/bin/sh\n:\n' >"$stage/probe"
    chmod 755 "$stage/probe"
    if nobody_setpriv "$stage/probe"; then
      rm "$stage/probe"
      mkdir -m 700 "$stage/home" "$stage/tmp"
      chown "$nobody_uid:$nobody_uid" "$stage/home" "$stage/tmp"
      return 0
    fi
    rm -rf "$stage"
  done
  echo 'no folder where uid 65534 can run a program: set TMPDIR to one, or test as another user than root' >&2
  return 1
}

nobody_run() {
  HOME=$stage/home TMPDIR=$stage/tmp nobody_setpriv "$@"
}
