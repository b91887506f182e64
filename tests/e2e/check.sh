#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What check says of each host picture in tests/hosts, of a tree, of a bundle and of a program.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

hosts=$REPO/tests/hosts
"$FIXTURE_TOOL" nvidia-run --version 550.54.15 --out driver.run
"$COMPATPACK" extract driver.run --out tree >extracted.txt
expect_text extracted.txt '  on this host: '

check() { # STATUS HOST SUBJECT...: check on a picture
  wanted=$1
  host=$2
  shift 2
  expect_status "$wanted" -- "$COMPATPACK" check --host-root "$hosts/$host" "$@"
  expect_stderr ''
}

# --- each picture, with a tree of 550.54.15: CUDA 12.4 ---

check 0 h100-on-535 tree
expect_stdout 'kernel driver  535.129.03, open module (/proc/driver/nvidia/version)'
expect_stdout 'GPU            NVIDIA H100 80GB HBM3, Hopper: a data-center GPU by its name'
expect_stdout 'table          NVIDIA'\''s, as of 2026-09, lists CUDA 12.4 on R535 as compatible'
expect_stdout 'expected to work: '
expect_stdout '  next: try it without a package first'
check 5 rtx4090-on-535 tree
expect_stdout 'no: NVIDIA GeForce RTX 4090: forward compatibility refuses GeForce and Titan GPUs (error 804)'
check 5 mixed-on-535 tree
expect_stdout 'CUDA_VISIBLE_DEVICES=GPU-44444444-0000-0000-0000-000000000002'
CUDA_VISIBLE_DEVICES=GPU-44444444-0000-0000-0000-000000000002 check 0 mixed-on-535 tree
check 5 h200-on-595 tree
expect_stdout 'no, harmful: driver 550.54.15 over the newer kernel driver 595.91.07 would break CUDA (error 803)'
check 6 a100-on-418 tree
check 6 v100-on-418 tree
expect_stdout 'unknown: no table says that CUDA 12.4 works on R418'
check 5 wsl2 tree
expect_stdout 'WSL2'
check 5 orin tree
expect_stdout 'never put it on an Orin'
check 6 no-driver tree
expect_stdout 'unknown: no NVIDIA kernel driver was seen here'
check 0 masked-proc tree
expect_stdout 'kernel driver  535.129.03 (/sys/module/nvidia/version)'
expect_stdout 'GPU            A100 SXM4 80GB, Ampere'
expect_stdout 'platform       in a Docker container'

# --- other subjects: nothing, a bundle, an installed package, nonsense ---

check 0 h100-on-535
expect_stdout 'lists CUDA 12.3 12.4 12.5'
check 0 h100-on-535 driver.run
expect_stdout 'package        driver 550.54.15, CUDA 12.4, x86_64'
mkdir compat
cp tree/libcuda.so.550.54.15 compat/
check 0 h100-on-535 compat
expect_stdout 'beware         the package lacks libnvidia-ptxjitcompiler'
cp tree/libcuda.so.550.54.15 compat/libcuda.so.535.54.03
expect_error 3 'folder holds the libcuda of two drivers' -- "$COMPATPACK" check compat
mkdir empty
expect_error 3 'it holds no libcuda.so.VERSION' -- "$COMPATPACK" check empty
expect_error 1 'nothing.run' -- "$COMPATPACK" check nothing.run

# --- the library's own note, whole and broken ---

note() { # JSON
  rm -rf noted
  mkdir noted
  "$FIXTURE_TOOL" elf --soname libcuda.so.1 --note "$1" --out noted/libcuda.so.575.57.08
}
note '{"format": 1, "CUDA version": "12.9", "driver": [535, 550], "device": [1, 2]}'
check 0 h100-on-535 noted
expect_stdout 'library        its note accepts hosts of 535 550: this one is among them'
note '{"format": 1, "CUDA version": "12.9", "driver": [550]}'
check 5 h100-on-535 noted
expect_stdout 'does not accept R535 hosts (error 803)'
note '{"format": 1, "CUDA'
check 0 h100-on-535 noted
expect_stdout 'library        its note of accepted hosts cannot be read'

# --- another machine, and a newer table ---

expect_status 0 -- "$COMPATPACK" check tree --driver 535.129.03 --gpu A100
expect_status 5 -- "$COMPATPACK" check tree --driver 535.129.03 --gpu A100 --gpu 'GeForce GTX 1080'
expect_status 6 -- "$COMPATPACK" check tree --driver 525.60.13 --gpu A100
expect_stdout '525.60.13 circulates as the minimum driver for CUDA 12.4 packages'
expect_status 6 -- "$COMPATPACK" check tree --driver 535.129.03
expect_error 2 'not a driver version' -- "$COMPATPACK" check tree --driver many
printf 'compat_cuda,host_branch,status\n12.4,525,C\n' >table.csv
expect_status 0 -- "$COMPATPACK" check tree --driver 525.60.13 --gpu A100 --table table.csv
printf 'compat_cuda,host_branch,status\n12.4,525,maybe\n' >table.csv
expect_error 3 'line 2: status is none that is known' -- \
  "$COMPATPACK" check tree --driver 525 --table table.csv

# --- what defeats the tree, in this environment and in a program ---

here=$(pwd -P)
stubs=$here/cuda/stubs
mkdir -p "$stubs" other
cp "$CUDA_STUB" "$stubs/libcuda.so"
cp "$CUDA_STUB" other/libcuda.so.1
ask() { expect_status "$1" -- "$COMPATPACK" check tree --driver 535.129.03 --gpu A100 --app program; }
"$FIXTURE_TOOL" elf --executable --needed libcuda.so.1 --out program
LD_LIBRARY_PATH=$stubs ask 0
expect_stdout 'is for linking only (error 34'
shown=$(printf '%s' "$here" | tr '\n' '?' | sed 's/?/\\x0a/')
expect_stdout "application    libcuda.so.1, needed by $shown/program: takes $shown/tree/libcuda.so.1"
"$FIXTURE_TOOL" elf --executable --needed libcuda.so.1 --rpath "$here/other" --out program
ask 5
expect_stdout 'no: DT_RPATH of program is stronger than LD_LIBRARY_PATH'
"$FIXTURE_TOOL" elf --executable --needed libcuda.so.1 --runpath "$here/other" --out program
ask 0
echo '#!/bin/sh' >program
expect_error 3 'not an ELF file' -- "$COMPATPACK" check tree --app program

# --- for machines ---

check 5 h200-on-595 tree --json
expect_stdout '"verdict": "harmful"'
expect_stdout '"cuda_error": 803'
expect_stdout '"version": "595.91.07"'
check 0 h100-on-535 tree --json
expect_stdout '"class": "data center"'
check 0 h100-on-535 tree -q
expect_stdout ''
