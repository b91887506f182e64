#!/bin/bash
# A TaskProlog for Slurm: makes a compat tree active in each task of each job, on the nodes whose
# driver is older than the tree. Slurm takes the lines "export NAME=value" and "unset NAME" that it prints
# into the task's environment. In slurm.conf:
#
#   TaskProlog=/apps/compat/task-prolog.sh
#
# A user who does not want it says COMPATPACK_MODE=off; who wants another tree, COMPATPACK_JOB_TREE.
# bash, as env.sh finds its own folder there.

# What a link leads to now: a task that runs while the link is moved must not load the rest of the new tree.
tree=$(readlink -f "${COMPATPACK_JOB_TREE:-/apps/compat/current}")

# Without the tree, jobs run as they did without this file.
[ -r "$tree/env.sh" ] || exit 0

names='LD_LIBRARY_PATH TRITON_LIBCUDA_PATH JULIA_CUDA_USE_COMPAT COMPATPACK_TREE
  _COMPATPACK_OLD_LD _COMPATPACK_OLD_TRITON _COMPATPACK_OLD_JULIA'

# A batch script has come through here too, and srun takes its variables along to other nodes, whose
# driver may be as new as the tree. So each task begins without it.
before=
if [ "${COMPATPACK_TREE-}" = "$tree" ]; then
  for name in $names; do
    [ -z "${!name+set}" ] || before="$before $name "
  done
  # shellcheck source=/dev/null
  COMPATPACK_MODE=off . "$tree/env.sh" 2>/dev/null
  compatpack_deactivate
fi

# stderr of a TaskProlog is seen by nobody; what it prints as "print TEXT" is seen in the job's output.
# shellcheck source=/dev/null
said=$({ . "$tree/env.sh"; } 2>&1)
while IFS= read -r line; do
  [ -z "$line" ] || printf 'print %s\n' "$line"
done <<<"$said"

# shellcheck source=/dev/null
. "$tree/env.sh" 2>/dev/null
for name in $names; do
  if [ -z "${!name+set}" ]; then
    [[ $before != *" $name "* ]] || printf 'unset %s\n' "$name"
  elif [ -n "${COMPATPACK_TREE+set}$before" ]; then
    printf 'export %s=%s\n' "$name" "${!name}"
  fi
done
