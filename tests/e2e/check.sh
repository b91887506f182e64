#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What check says of each host picture in tests/hosts, of a tree, of a bundle and of a program.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

hosts=$REPO/tests/hosts
"$FIXTURE_TOOL" nvidia-run --version 550.54.15 --out driver.run
"$COMPATPACK" extract driver.run --out tree >extracted.txt
expect_text extracted.txt '  on this host: '

first_line() { # TEXT
  case $(head -n 1 "$e2e_top/last/stdout") in
    "$1"*) ;;
    *) fail 'first line' "$1" "$(cat "$e2e_top/last/stdout")" ;;
  esac
}

check() { # STATUS HOST SUBJECT...: check on a picture
  wanted=$1
  host=$2
  shift 2
  expect_status "$wanted" -- "$COMPATPACK" check --host-root "$hosts/$host" "$@"
  expect_stderr ''
}

# --- each picture, with a tree of 550.54.15: CUDA 12.4 ---

check 0 h100-on-535 tree
first_line "expected to work: NVIDIA's table lists CUDA 12.4 on R535"
expect_stdout '  next: try it without a package first'
expect_told 'kernel driver  535.129.03, open module (/proc/driver/nvidia/version)'
expect_told 'GPU            NVIDIA H100 80GB HBM3, Hopper: a data-center GPU by its name'
expect_told 'mechanism      libcuda carries no note of its hosts; the table stands in'
expect_told 'policy         NVIDIA lists CUDA 12.4 on R535 as compatible'
expect_told 'as of 2026-09, from https://docs.nvidia.com/deploy/cuda-compatibility/'
awk 'length > 80 && !/https:/ { print; bad = 1 } END { exit bad }' "$e2e_top/last/stdout" ||
  fail 'lines' 'none over 80 columns' "$(cat "$e2e_top/last/stdout")"
check 5 rtx4090-on-535 tree
expect_told 'no: NVIDIA GeForce RTX 4090: forward compatibility refuses GeForce and Titan GPUs (error 804)'
check 5 mixed-on-535 tree
expect_stdout 'CUDA_VISIBLE_DEVICES=GPU-44444444-0000-0000-0000-000000000002'
CUDA_VISIBLE_DEVICES=GPU-44444444-0000-0000-0000-000000000002 check 0 mixed-on-535 tree
check 5 h200-on-595 tree
expect_told 'no, harmful: driver 550.54.15 over the newer kernel driver 595.91.07 would break CUDA (error 803)'
check 6 a100-on-418 tree
expect_told 'is older than Ampere, which came with CUDA 11.0, and yet it knows this GPU'
check 6 v100-on-418 tree
expect_told 'unknown: no table says that CUDA 12.4 works on R418'
check 5 wsl2 tree
expect_told 'WSL2'
check 5 orin tree
expect_told 'never put it on an Orin'
check 6 no-driver tree
expect_told 'unknown: no NVIDIA kernel driver was seen here'
check 0 masked-proc tree
expect_told 'kernel driver  535.129.03 (/sys/module/nvidia/version)'
expect_told 'GPU            A100 SXM4 80GB, Ampere'
expect_told 'platform       in a Docker container'

# --- other subjects: nothing, a bundle, an installed package, nonsense ---

check 0 h100-on-535
expect_told 'NVIDIA lists packages of CUDA 12.3 12.4 12.5'
check 0 h100-on-535 driver.run
expect_told 'package        driver 550.54.15, CUDA 12.4, x86_64'
mkdir compat
cp tree/libcuda.so.550.54.15 compat/
check 0 h100-on-535 compat
expect_told 'beware         the package lacks libnvidia-ptxjitcompiler'
cp tree/libnvidia-nvvm.so.550.54.15 compat/libnvidia-nvvm.so.535.54.03
expect_error 3 'libraries of two driver versions' -- "$COMPATPACK" check compat
rm compat/libnvidia-nvvm.so.535.54.03
"$FIXTURE_TOOL" elf --arch aarch64 --soname libnvidia-nvvm70.so.4 --out compat/libnvidia-nvvm70.so.4
expect_error 3 'libraries of two architectures' -- "$COMPATPACK" check compat
rm compat/libnvidia-nvvm70.so.4
cp tree/libnvidia-nvvm.so.550.54.15 compat/libnvidia-nvvm.so.4.0.0
check 0 h100-on-535 compat
cp tree/libcuda.so.550.54.15 compat/libcuda.so.535.54.03
expect_error 3 'folder holds the libcuda of two drivers' -- "$COMPATPACK" check compat
expect_error 1 'nothing.run' -- "$COMPATPACK" check nothing.run
expect_error 2 '--sha256: is for a bundle' -- "$COMPATPACK" check tree --sha256 0
expect_error 2 '--require-checksum: is for a bundle' -- "$COMPATPACK" check --require-checksum

# Every command that wants a tree says the same where there is none.
mkdir empty foreign
: >foreign/file
no_tree() { # STATUS FOLDER COMMAND...
  wanted=$1
  folder=$2
  shift 2
  for command; do
    case $command in
      run) expect_error "$wanted" "$folder: not a compat tree" -- "$COMPATPACK" run "$folder" -- true ;;
      *) expect_error "$wanted" "$folder: not a compat tree" -- "$COMPATPACK" "$command" "$folder" ;;
    esac
  done
}
no_tree 3 empty check probe run env
no_tree 3 foreign check probe run env
no_tree 1 nowhere probe run env
no_tree 3 driver.run probe run env

# --- the library's own note, whole and broken ---

note() { # JSON
  rm -rf noted
  mkdir noted
  "$FIXTURE_TOOL" elf --soname libcuda.so.1 --note "$1" --out noted/libcuda.so.575.57.08
}
note '{"format": 1, "CUDA version": "12.9", "driver": [535, 550], "device": [1, 2]}'
check 0 h100-on-535 noted
expect_told "mechanism      libcuda's note accepts hosts of 535 550: this one is among them"
note '{"format": 1, "CUDA version": "12.9", "driver": [550]}'
check 5 h100-on-535 noted
expect_told 'does not accept R535 hosts (error 803)'
note '{"format": 1, "CUDA'
check 0 h100-on-535 noted
expect_told "mechanism      libcuda's note of its hosts cannot be read"

# --- another machine, and a newer table ---

expect_status 0 -- "$COMPATPACK" check tree --driver 535.129.03 --gpu A100
expect_status 5 -- "$COMPATPACK" check tree --driver 535.129.03 --gpu A100 --gpu 'GeForce GTX 1080'
expect_status 5 -- "$COMPATPACK" check tree --driver 535.129.03 --gpu 'a100, rtx 4090'
expect_told 'GPU 1          rtx 4090, Ada: forward compatibility refuses'
expect_error 2 '--gpu: names no GPU' -- "$COMPATPACK" check tree --driver 535 --gpu ' ,'
expect_status 6 -- "$COMPATPACK" check tree --driver 525.60.13 --gpu A100
expect_told 'policy         NVIDIA does not list CUDA 12.4 on R525: not supported today'
expect_told "other sources  compatible, by NVIDIA's container images (2024-12); not compatible, by copies"
expect_told '525.60.13 circulates as the minimum driver for CUDA 12.4 packages'
expect_status 6 -- "$COMPATPACK" check tree --driver 535.129.03
expect_error 2 'not a driver version' -- "$COMPATPACK" check tree --driver many
printf 'compat_cuda,host_branch,status\n12.4,525,C\n' >table.csv
expect_status 0 -- "$COMPATPACK" check tree --driver 525.60.13 --gpu A100 --table table.csv
expect_told 'table          table.csv'
printf 'compat_cuda,host_branch,status\n12.4,525,maybe\n' >table.csv
expect_error 3 'line 2: status is none that is known' -- \
  "$COMPATPACK" check tree --driver 525 --table table.csv

# What this machine has is no fact of another: neither its libraries nor its runtimes.
mkdir -p machine/usr/lib machine/usr/local/cuda
cp tree/libcuda.so.550.54.15 machine/usr/lib/libcuda.so.535.54.03
ln -s libcuda.so.535.54.03 machine/usr/lib/libcuda.so.1
echo '{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}' >machine/usr/local/cuda/version.json
expect_status 6 -- "$COMPATPACK" check tree --host-root machine
expect_told 'CUDA runtime   12.4.1 (/usr/local/cuda/version.json)'
expect_told 'driver API     CUDA 12.2, as nvidia-smi prints: /usr/lib/libcuda.so.1, driver 535.54.03'
expect_status 0 -- "$COMPATPACK" check tree --host-root machine --driver 535 --gpu A100
case $(cat "$e2e_top/last/stdout") in
  *'CUDA runtime'* | *'driver API'*) fail 'another machine' 'nothing of this one' "$(cat "$e2e_top/last/stdout")" ;;
esac

# --- what defeats the tree, in this environment and in a program ---

here=$(pwd -P)
stubs=$here/cuda/stubs
mkdir -p "$stubs" other
cp "$CUDA_STUB" "$stubs/libcuda.so"
cp "$CUDA_STUB" other/libcuda.so.1
ask() { expect_status "$1" -- "$COMPATPACK" check tree --driver 535.129.03 --gpu A100 --app program; }
"$FIXTURE_TOOL" elf --executable --needed libcuda.so.1 --out program
LD_LIBRARY_PATH=$stubs ask 0
expect_told 'is for linking only (error 34'
shown=$(printf '%s' "$here" | tr '\n' '?' | sed 's/?/\\x0a/')
expect_told "application    libcuda.so.1, needed by $shown/program: takes $shown/tree/libcuda.so.1"
"$FIXTURE_TOOL" elf --executable --needed libcuda.so.1 --rpath "$here/other" --out program
ask 5
expect_told 'no: DT_RPATH of program is stronger than LD_LIBRARY_PATH'
"$FIXTURE_TOOL" elf --executable --needed libcuda.so.1 --runpath "$here/other" --out program
ask 0
# A tree that is active is not in its own way: not where none is named, nor where a link names it.
ln -s tree current
for path in "$here/tree" "$here/current"; do
  for subject in '' tree; do
    LD_LIBRARY_PATH=$path COMPATPACK_TREE=$path \
      expect_status 0 -- "$COMPATPACK" check ${subject:+"$subject"} --driver 535.129.03 --gpu A100
    case $(cat "$e2e_top/last/stdout") in
      *'also leads to'*) fail "an active $path" 'not in its own way' "$(cat "$e2e_top/last/stdout")" ;;
    esac
  done
done
echo '#!/bin/sh' >program
expect_error 3 'not an ELF file' -- "$COMPATPACK" check tree --app program
expect_error 1 'No such file or directory' -- "$COMPATPACK" check tree --app absent/program

# --- for machines ---

check 5 h200-on-595 tree --json
expect_stdout '"verdict": "harmful"'
expect_stdout '"cuda_error": 803'
expect_stdout '"version": "595.91.07"'
check 0 h100-on-535 tree --json
expect_stdout '"class": "data center"'
check 0 h100-on-535 tree -q
expect_stdout ''
