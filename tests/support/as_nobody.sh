#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   as_nobody.sh PROGRAM [ARG...]     runs PROGRAM; where root asks, a copy of it as nobody
set -eu
if [ "$(id -u)" != 0 ]; then
  exec "$@"
fi
# shellcheck source=tests/support/nobody.sh
. "$(dirname "$0")/nobody.sh"
nobody_stage
trap 'rm -rf "$stage"' EXIT
program=$1
shift
cp "$program" "$stage/"
chmod 755 "$stage/${program##*/}"
cd "$stage/tmp"
nobody_run "$stage/${program##*/}" "$@"
