#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What probe says of a libcuda that answers as told.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

here=$(pwd -P)
mkdir tree other
cp "$CUDA_STUB" tree/libcuda.so.550.54.15
ln -s libcuda.so.550.54.15 tree/libcuda.so.1
cp "$CUDA_STUB" other/libcuda.so.1

probe() { # STATUS [NAME=VALUE...]
  wanted=$1
  shift
  expect_status "$wanted" -- env "$@" "$COMPATPACK" probe tree
}

# --- it works ---

probe 0 'STUB_DEVICES=NVIDIA A100-SXM4-40GB,NVIDIA T4'
expect_stderr ''
expect_told "loaded         $(printf '%s' "$here" | tr '\n' '?' | sed 's/?/\\x0a/')/tree/libcuda.so.550.54.15"
expect_told 'driver API     12.4, by cuDriverGetVersion (12040)'
expect_told 'cuInit         CUDA_SUCCESS (0): it works'
expect_told 'device 0       NVIDIA A100-SXM4-40GB, 8.0, 42.9 GB: a kernel compiled, ran'
expect_told 'device 1       NVIDIA T4'
case $(head -n 1 "$e2e_top/last/stdout") in
  'works here: verified by cuInit, and by a kernel on each device') ;;
  *) fail 'first line' 'works here' "$(cat "$e2e_top/last/stdout")" ;;
esac

# --- each answer has its words ---

for code in 3 34 35 36 100 222 304 802 803 804 805 999; do
  probe 5 "STUB_INIT=$code"
  expect_told "($code): "
  expect_told 'no: cuInit gives CUDA_ERROR_'
  expect_stdout '  next: '
done
probe 5 STUB_INIT=12345
expect_told 'no: cuInit gives an error that compatpack does not know (12345)'
probe 5 STUB_INIT=804
expect_told 'hide that GPU with CUDA_VISIBLE_DEVICES'
probe 5
expect_told 'no: cuInit works, and there is no device'

# --- what comes after cuInit ---

probe 5 STUB_DEVICES=A100,T4 STUB_FAIL=cuModuleLoadData:221
expect_told 'no: A100: cuModuleLoadData gives CUDA_ERROR_JIT_COMPILER_NOT_FOUND (221)'
probe 5 STUB_DEVICES=A100 STUB_FAIL=cuMemAlloc_v2:2
expect_told 'cuMemAlloc_v2 gives CUDA_ERROR_OUT_OF_MEMORY (2)'
probe 5 STUB_DEVICES=A100 STUB_KERNEL=wrong
expect_told "no: A100: the kernel's result is wrong"

# --- a driver that misbehaves is a verdict ---

# Under a sanitizer its report of the crash would take longer than the probe waits.
ASAN_OPTIONS=${ASAN_OPTIONS-}:handle_segv=0
export ASAN_OPTIONS
probe 5 STUB_CRASH=cuInit
expect_told "no: the driver's library crashed in cuInit (SIGSEGV)"
probe 5 STUB_EXIT=cuDeviceGetCount STUB_DEVICES=A100
expect_told 'no: the library ended the process in cuDeviceGetCount'
expect_status 5 -- env STUB_HANG=cuInit "$COMPATPACK" probe tree --timeout 1
expect_told 'no: no answer within 1 s in cuInit'
[ -z "$(find . -name 'core*')" ] || fail 'a crash' 'no core file' "$(find . -name 'core*')"
echo 'no library' >tree/libcuda.so.550.54.15
probe 5
expect_told 'no: libcuda.so.1 cannot be loaded'
cp "$CUDA_STUB" tree/libcuda.so.550.54.15

# --- which libcuda it is ---

probe 5 STUB_DEVICES=A100 "STUB_ALSO=$here/other/libcuda.so.1"
expect_told 'no: two libcudas are in one process'
probe 0 STUB_DEVICES=A100 "LD_LIBRARY_PATH=$here/other"
probe 0 STUB_DEVICES=A100 "LD_PRELOAD=$here/other/libcuda.so.1"
expect_stderr 'LD_PRELOAD is left out of the probe'
expect_status 0 -- env STUB_DEVICES=A100 "LD_LIBRARY_PATH=$here/other" "$COMPATPACK" probe
expect_stdout '/other/libcuda.so.1'
rm tree/libcuda.so.1
probe 5 STUB_DEVICES=A100 "LD_LIBRARY_PATH=$here/other"
expect_told 'no: another libcuda was loaded'
expect_error 3 'not a compat tree' -- "$COMPATPACK" probe other

# --- for machines ---

ln -s libcuda.so.550.54.15 tree/libcuda.so.1
expect_status 5 -- env STUB_INIT=803 "$COMPATPACK" probe tree --json
expect_stdout '"verdict": "no"'
expect_stdout '"cuda_error": 803'
expect_stdout '"next": [
    "use a tree'
expect_status 0 -- env STUB_DEVICES=A100 "$COMPATPACK" probe tree --json
expect_stdout '"verdict": "verified"'
