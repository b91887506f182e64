#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# matrix: the table as NVIDIA prints it, its rows by package and host, and a user's own table.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

expect_status 0 -- "$COMPATPACK" matrix
expect_stdout 'package  R535  R550  R570  R580  R590  R595  R610  R615
         12.2  12.4  12.8  13.0  13.1  13.2  13.3  13.4
13.4     C     -     C     C     C     C     C     own'
expect_stdout '12.4     C     own   X     X     X     X     X     X'
expect_stdout 'from https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html (v615), as of 2026-09'

# A pair: the verdict that check gives, then who says what, and of what weight that is.
expect_status 0 -- "$COMPATPACK" matrix --cuda 12.4 --driver 525.60.13
expect_stdout 'CUDA 12.4 on R525: unsupported, but the library may accept it: NVIDIA does not'
expect_stdout "12.4              R525         indirect   an image starts  2024-12  NVIDIA's container images"
expect_stdout '12.4              R525         indirect   not compatible   2026-09  copies of older'
expect_stdout 'policy: what NVIDIA supports today; mechanism: what a library itself accepts;'
expect_stdout '525.60.13 circulates as a minimum driver for this package; it is where'
expect_status 0 -- "$COMPATPACK" matrix --cuda 12.4 --driver 570
expect_stdout 'CUDA 12.4 on R570: no, harmful: R570 gives CUDA 12.8 by itself'
expect_status 0 -- "$COMPATPACK" matrix --cuda 12.2
expect_stdout '470.82.01 circulates as a minimum driver for this package; it is the driver'
expect_stdout '12.2              R470         indirect   was compatible'
expect_status 0 -- "$COMPATPACK" matrix --driver R535
expect_stdout '12.9 (575.57.08)  R535         mechanism  compatible'
expect_stdout '12.9              R535         policy     compatible'
expect_status 0 -- "$COMPATPACK" matrix --driver 535
expect_stdout 'R535 gives CUDA 12.2 by itself; it is a Long Term Support Branch, end of life'
expect_status 0 -- "$COMPATPACK" matrix --cuda 13.1
expect_stdout '13.1+             JetPack 7.0  policy     not compatible'

# Nothing to show is no answer: not even where a row is "of 13.1 and later".
for words in '--cuda 99.9' '--cuda 9.0' '--driver 999' '--cuda 10.0 --driver 610'; do
  # shellcheck disable=SC2086 # two words or four
  expect_error 1 "compatpack's table: no row for " -- "$COMPATPACK" matrix $words
  expect_stdout ''
  expect_stderr 'expected: packages of CUDA 10.0 to 13.4, hosts of R384 to R615'
  # shellcheck disable=SC2086
  expect_error 1 'no row for ' -- "$COMPATPACK" matrix --json $words
done

expect_status 0 -- "$COMPATPACK" matrix --json --cuda 12.4 --driver 525
expect_stdout '"verdict": "possible"'
expect_stdout '"kind": "indirect"'
expect_status 0 -- "$COMPATPACK" matrix --json --cuda 12.9 --driver 560
expect_stdout '"package_driver": "575.57.08"'
expect_stdout '"source": "github.com/NVIDIA/nvidia-container-toolkit testdata/compat"'

printf '# mine\ncompat_cuda,host_branch,status,as_of,source\n13.6,620,C,2027-01,a page\n' >table.csv
expect_status 0 -- "$COMPATPACK" matrix --table table.csv
expect_stdout '13.6     C'
expect_stdout 'from a page, as of 2027-01'
expect_error 1 'no such file' -- "$COMPATPACK" matrix --table none.csv
expect_error 2 'not a CUDA version' -- "$COMPATPACK" matrix --cuda 12
expect_error 2 'not a driver version' -- "$COMPATPACK" matrix --driver x
