#!/bin/bash
# A hook for enroot: puts the compat tree into each container, on the nodes whose driver is older than
# the tree. It runs on the host before the container starts, so that neither the image nor the command
# changes; containers that Slurm starts through pyxis are enroot's too.
#
#   install -m 755 examples/enroot/90-compat.sh /etc/enroot/hooks.d/     (or ~/.config/enroot/hooks.d)
#
# Change: where the tree is, or set COMPATPACK_JOB_TREE. COMPATPACK_MODE=off leaves the tree out.
set -eu

tree=${COMPATPACK_JOB_TREE:-/apps/compat/current}
inside=/opt/compat

# Without the tree, containers start as they did without this file.
[ -r "$tree/env.sh" ] || exit 0

# env.sh asks this node's driver. What it sets is for the host, so that only its answer is taken.
needed=$(
  unset COMPATPACK_TREE
  # shellcheck source=/dev/null
  . "$tree/env.sh" && echo "${COMPATPACK_TREE+yes}"
)
[ "$needed" = yes ] || exit 0

enroot-mount --root "$ENROOT_ROOTFS" - <<<"$tree $inside none x-create=dir,bind,ro,nosuid,nodev,private"

# What the image sets stays behind the tree. NVIDIA's hook puts the host's libcuda where the loader looks
# last, so that the tree is before it too.
old=$(sed -n 's/^LD_LIBRARY_PATH=//p' "$ENROOT_ENVIRON" | tail -n 1)
sed -i '/^LD_LIBRARY_PATH=/d' "$ENROOT_ENVIRON"
{
  echo "LD_LIBRARY_PATH=$inside${old:+:$old}"
  echo "TRITON_LIBCUDA_PATH=$inside"
  echo "JULIA_CUDA_USE_COMPAT=false"
} >>"$ENROOT_ENVIRON"
