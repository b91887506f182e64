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

expect_status 0 -- "$COMPATPACK" matrix --cuda 12.4 --driver 525.60.13
expect_stdout '12.4               R525         let start               2024-12  NVIDIA'\''s CUDA container images'
expect_stdout '12.4               R525         not compatible'
expect_stdout '525.60.13 circulates as a minimum driver for this package; it is where minor-version'
expect_status 0 -- "$COMPATPACK" matrix --cuda 12.2
expect_stdout '470.82.01 circulates as a minimum driver for this package; it is the driver that came with'
expect_status 0 -- "$COMPATPACK" matrix --driver R535
expect_status 0 -- "$COMPATPACK" matrix --driver 535
expect_stdout 'R535 gives CUDA 12.2 by itself; it is a Long Term Support Branch, end of life 2026-06'
expect_status 0 -- "$COMPATPACK" matrix --cuda 99.1
expect_stdout 'JetPack 7.0'
expect_status 0 -- "$COMPATPACK" matrix --cuda 9.0
expect_stdout 'no row'

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
