#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# examples/slurm/, without Slurm: what it would take from the TaskProlog, and the job with a made-up
# srun. (slurm.sh runs them with it, where it is installed.)
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

command -v bash >/dev/null || skip 'no bash'
"$FIXTURE_TOOL" nvidia-run --version 550.54.15 --out driver.run
plain_work # Slurm's protocol could not carry a newline
tree="$work/the tree"
"$COMPATPACK" extract driver.run --no-sync --out "$tree" >extracted
sed -i "s#/sys/module/nvidia/version#$work/host#g; s#/proc/driver/nvidia/version#$work/none#g" "$tree/env.sh"
COMPATPACK_JOB_TREE=$tree
export COMPATPACK_JOB_TREE
unset LIBRARY_PATH

# --- TaskProlog ---

prolog=$REPO/examples/slurm/task-prolog.sh
expect_status 0 -- "$prolog"
expect_equal "$(cat "$e2e_top/last/stdout")" "export LD_LIBRARY_PATH=$tree
export TRITON_LIBCUDA_PATH=$tree
export JULIA_CUDA_USE_COMPAT=false
export COMPATPACK_TREE=$tree"
expect_stderr ''
expect_status 0 -- env LD_LIBRARY_PATH=/x COMPATPACK_VERBOSE=1 "$prolog"
expect_stdout "print compatpack: active: $tree, driver 550.54.15
export LD_LIBRARY_PATH=$tree:/x"
expect_stdout 'export _COMPATPACK_OLD_LD=/x'
expect_status 0 -- env LD_LIBRARY_PATH=/x COMPATPACK_MODE=off "$prolog"
expect_stdout ''
echo 580.1 >"$work/host"
expect_status 0 -- "$prolog"
expect_equal "$(grep -c '^print compatpack: ' "$e2e_top/last/stdout") $(grep -vc '^print ' "$e2e_top/last/stdout")" '2 0'
# What a batch script had from here is taken back, where the task's node does not need it.
expect_status 0 -- env COMPATPACK_TREE="$tree" LD_LIBRARY_PATH="$tree:/x" _COMPATPACK_OLD_LD=/x \
  TRITON_LIBCUDA_PATH="$tree" JULIA_CUDA_USE_COMPAT=false "$prolog"
expect_equal "$(grep -v '^print ' "$e2e_top/last/stdout")" 'export LD_LIBRARY_PATH=/x
unset TRITON_LIBCUDA_PATH
unset JULIA_CUDA_USE_COMPAT
unset COMPATPACK_TREE
unset _COMPATPACK_OLD_LD'
# A link is followed now, not when a library is loaded later.
ln -s 'the tree' "$work/current"
echo 535.1 >"$work/host"
expect_status 0 -- env COMPATPACK_JOB_TREE="$work/current" "$prolog"
expect_stdout "export LD_LIBRARY_PATH=$tree
"
echo 580.1 >"$work/host"
expect_status 0 -- env COMPATPACK_JOB_TREE="$work/absent" "$prolog"
expect_stdout ''
expect_stderr ''

# --- the job ---

mkdir bin
printf '#!/bin/sh\nexec "$@"\n' >bin/srun
chmod 755 bin/srun
job() { expect_status "$1" -- env PATH="$PWD/bin:$PATH" "$REPO/examples/slurm/job.sh" "$2" "$3"; }
job 0 "$ENV_PROBE" env
expect_stdout ''
expect_stderr 'not activated'
echo 535.1 >"$work/host"
job 0 "$ENV_PROBE" env
expect_stdout "LD_LIBRARY_PATH=[$tree]"
job 1 false ''
