#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# examples/slurm/ in a real Slurm: munged, slurmctld and slurmd of this test's own, one node, all of them
# run by this user. Left out where Slurm is not installed or does not start.
# (cluster_examples.sh tries what needs no Slurm.)
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

PATH=$PATH:/usr/sbin
for program in bash munged mungekey slurmctld slurmd sbatch srun squeue sinfo scontrol; do
  command -v "$program" >/dev/null || skip "no $program"
done
plain_work
"$FIXTURE_TOOL" nvidia-run --version 550.54.15 --out driver.run --file "libcuda.so.550.54.15=$CUDA_STUB"
tree=$work/550.54.15
"$COMPATPACK" extract driver.run --quiet --no-sync --out "$tree"
sed -i "s#/sys/module/nvidia/version#$work/host#g; s#/proc/driver/nvidia/version#$work/none#g" "$tree/env.sh"
echo 535.129.03 >"$work/host"

# --- one node ---

mkdir "$work/state" "$work/spool" "$work/log"
user=$(id -un)
node=$(hostname -s)
# Below the ports that the kernel gives to clients; each run has its own, as others may run beside it.
port=$((10000 + $$ % 10000 * 2))
cat >"$work/slurm.conf" <<EOF
ClusterName=compatpack
SlurmctldHost=$node(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldPort=$port
SlurmdPort=$((port + 1))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
NodeName=$node NodeAddr=127.0.0.1 CPUs=1
PartitionName=all Nodes=ALL Default=YES
EOF
SLURM_CONF=$work/slurm.conf
export SLURM_CONF
mungekey --create --keyfile="$work/munge.key"

daemons=
start() { # NAME CMD...
  log=$work/log/$1
  shift
  "$@" >"$log" 2>&1 </dev/null &
  daemons="$! $daemons"
}
stop() {
  # shellcheck disable=SC2086 # numbers
  kill $daemons 2>/dev/null || :
  wait
}
trap 'e2e_status=$?; stop; rm -rf "$work"; e2e_finish "$e2e_status"' EXIT
start munged munged --foreground --force --socket="$work/munge.socket" --key-file="$work/munge.key" \
  --pid-file="$work/munged.pid" --log-file="$work/log/munge" --seed-file="$work/munge.seed"
start slurmctld slurmctld -D
start slurmd slurmd -D

# until_holds CMD...: tries it for 20 seconds.
until_holds() {
  tries=100
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.2
  done
}
idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
until_holds idle || skip "Slurm does not start here: $(tail -n 3 "$work"/log/* 2>&1)"

# --- jobs ---

unset LIBRARY_PATH # which env_probe shows, and which is none of ours
done_with() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
# job CMD...: submits it, with the tree by its name, and leaves what it printed in $work/out.
job() {
  rm -f "$work/out"
  id=$(cd "$work" && COMPATPACK_JOB_TREE=$tree sbatch --parsable -o "$work/out" "$@")
  until_holds done_with "$id" || fail "job $*" 'done' "$(squeue)"
  [ -f "$work/out" ] || fail "job $*" 'its output' "$(tail "$work"/log/*)"
}

job "$REPO/examples/slurm/job.sh" "$ENV_PROBE" cuda
expect_equal "$(cat "$work/out")" "libcuda.so.1 is [$tree/libcuda.so.1], version 12040"
# shellcheck disable=SC2016 # for the shell of the task
job "$REPO/examples/slurm/job.sh" sh -c 'echo "step $SLURM_STEP_ID"'
expect_equal "$(cat "$work/out")" 'step 0'
echo 580.1 >"$work/host"
job "$REPO/examples/slurm/job.sh" "$ENV_PROBE" cuda
expect_text "$work/out" 'no libcuda.so.1'
expect_text "$work/out" 'not activated'

cp "$REPO/examples/slurm/task-prolog.sh" "$work/"
echo "TaskProlog=$work/task-prolog.sh" >>"$SLURM_CONF"
scontrol reconfigure
job --wrap "srun '$ENV_PROBE' cuda"
expect_text "$work/out" 'no libcuda.so.1'
expect_text "$work/out" 'not activated'
echo 535.129.03 >"$work/host"
job --wrap "srun '$ENV_PROBE' cuda"
expect_equal "$(cat "$work/out")" "libcuda.so.1 is [$tree/libcuda.so.1], version 12040"
# The batch script has the tree, as it came through the TaskProlog; its tasks ask anew, as on another node.
job --wrap "'$ENV_PROBE' cuda; echo 580.1 >'$work/host'; srun '$ENV_PROBE' cuda"
expect_text "$work/out" "libcuda.so.1 is [$tree/libcuda.so.1], version 12040"
expect_text "$work/out" 'no libcuda.so.1'
echo 535.129.03 >"$work/host"
job --wrap "COMPATPACK_MODE=off srun '$ENV_PROBE' env"
expect_equal "$(cat "$work/out")" ''
