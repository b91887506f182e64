#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# With standard descriptors closed, no file that is written gets one of their numbers, and with it our messages:
# what is made is the same as with all of them open.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

"$FIXTURE_TOOL" nvidia-run --out driver.run
"$COMPATPACK" extract driver.run --prefix /opt/compat --out tree -v >stdout 2>stderr
cp -a tree odd
echo mine >odd/notes
"$COMPATPACK" image odd --prefix /opt/compat --format layer --out layer.tar >answer 2>warning
# Without messages there would be nothing to be written in the wrong place.
for words in stdout stderr answer warning; do
  [ -s "$words" ] || fail "$words" 'a message' 'none'
done

# closed STATUS REDIRECTIONS ARGUMENTS...: compatpack, run with these descriptors closed.
closed() {
  wanted=$1
  shift
  # shellcheck disable=SC2016 # for the inner shell
  expect_status "$wanted" -- sh -c 'how=$1; shift; eval "\"\$@\" $how"' sh "$1" "$COMPATPACK" "$2" "$3" \
    --prefix /opt/compat --out made ${4+"$4"} ${5+"$5"}
}

for how in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
  status=0
  case " $how" in *' >&-'*) status=1 ;; esac # the answer cannot be written
  closed "$status" "$how" extract driver.run -v
  expect_same made tree
  rm -rf made
  closed "$status" "$how" image odd --format layer
  expect_same made layer.tar
  rm made
done

# A program that is started has a stderr all the same.
mkdir stub
cp "$CUDA_STUB" stub/libcuda.so.550.54.15
ln -s libcuda.so.550.54.15 stub/libcuda.so.1
for how in '<&-' '2>&-' '<&- 2>&-'; do
  # shellcheck disable=SC2016
  expect_status 5 -- sh -c 'eval "STUB_INIT=804 \"\$1\" probe stub $2"' sh "$COMPATPACK" "$how"
  expect_told 'no: cuInit gives'
done
