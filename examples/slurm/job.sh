#!/bin/bash
#SBATCH --job-name=with-compat
#SBATCH --ntasks=1
# A job that activates a compat tree by itself, where the cluster has no TaskProlog for it.
#
#   sbatch examples/slurm/job.sh python train.py

# What a link leads to now: a program that runs while the link is moved must not load the rest of the new tree.
tree=$(readlink -f "${COMPATPACK_JOB_TREE:-/apps/compat/current}")

# Within the job, not before sbatch: a login node has no driver to compare with.
# Each task asks the driver of its own node: of the nodes of one job some may need the tree and some not.
# shellcheck disable=SC2016 # for the shell of each task
srun bash -c '. "$0/env.sh" && exec "$@"' "$tree" "$@"
