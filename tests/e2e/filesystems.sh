#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Real file systems: full, read-only, in memory, of layers as in a container. And an environment that
# gives nothing: no HOME, any umask. As root of a user namespace, so that it may mount.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
may_mount

"$FIXTURE_TOOL" nvidia-run --out small.run
"$FIXTURE_TOOL" nvidia-run --out other.run --version 550.54.15
"$FIXTURE_TOOL" nvidia-run --out large.run --filler 300000 --no-compat32
mkdir work

# --- full ---

mount -t tmpfs -o size=1m none work
expect_error 1 'No space left' -- "$COMPATPACK" extract large.run --out work/tree
expect_equal "$(ls -A work)" ''
expect_status 0 -- "$COMPATPACK" extract small.run --out work/tree
expect_error 1 'No space left' -- "$COMPATPACK" extract large.run --out work/tree --force
expect_equal "$(ls -A work)" tree
expect_status 0 -- "$COMPATPACK" verify work/tree
# To mend a link takes no space, and is done; what has no room is said, and all else stays as it was.
rm work/tree/libcuda.so.1
cp work/tree/libcuda.so.535.54.03 work/tree/libcuda.so.1
dd if=/dev/zero of=work/filler bs=4096 status=none 2>/dev/null || :
expect_status 0 -- "$COMPATPACK" verify --repair work/tree
expect_link work/tree/libcuda.so.1 libcuda.so.535.54.03
expect_status 0 -- "$COMPATPACK" verify work/tree
umount work

# --- read-only ---

mkdir made
expect_status 0 -- "$COMPATPACK" extract small.run --out made/tree --prefix /opt/compat
cp -a made/tree made/bent
rm made/bent/libcuda.so.1
cp made/bent/libcuda.so.535.54.03 made/bent/libcuda.so.1
mount -o bind,ro made work
expect_error 1 'Read-only file system' -- "$COMPATPACK" extract small.run --out work/new
expect_error 1 'Read-only file system' -- "$COMPATPACK" extract other.run --out work/tree --force
expect_error 1 'Read-only file system' -- "$COMPATPACK" verify --repair work/bent
expect_status 0 -- "$COMPATPACK" verify work/tree
expect_status 0 -- "$COMPATPACK" extract small.run --out work/tree --prefix /opt/compat
expect_stdout 'up to date'
umount work
expect_equal "$(find made -mindepth 1 -maxdepth 1 | sort | tr '\n' ' ')" 'made/bent made/tree '

# --- in memory, and of layers ---

# works_at FOLDER: the main job, again, over a tree, and mended.
works_at() {
  expect_status 0 -- "$COMPATPACK" extract small.run --out "$1/tree"
  expect_status 0 -- "$COMPATPACK" extract small.run --out "$1/tree"
  expect_stdout 'up to date'
  expect_status 0 -- "$COMPATPACK" extract other.run --out "$1/tree" --force
  expect_file "$1/tree/libcuda.so.550.54.15" 0755
  rm "$1/tree/libcuda.so.1"
  cp "$1/tree/libcuda.so.550.54.15" "$1/tree/libcuda.so.1"
  expect_status 0 -- "$COMPATPACK" verify --repair "$1/tree"
  expect_status 0 -- "$COMPATPACK" verify "$1/tree"
  expect_equal "$(ls -A "$1")" tree
}

mount -t ramfs none work
works_at work
umount work

mkdir layers
mount -t tmpfs none layers
mkdir layers/lower layers/upper layers/scratch
"$COMPATPACK" extract small.run --out layers/lower/tree --prefix /opt/compat >out
if mount -t overlay -o userxattr,lowerdir=layers/lower,upperdir=layers/upper,workdir=layers/scratch none work 2>err; then
  # A tree of a lower layer, as an earlier step of a container's build makes it.
  expect_status 0 -- "$COMPATPACK" verify work/tree
  expect_status 0 -- "$COMPATPACK" extract small.run --out work/tree --prefix /opt/compat
  expect_stdout 'up to date'
  # Folders of such a layer cannot be renamed.
  expect_error 1 'remove it first' -- "$COMPATPACK" extract other.run --out work/tree --force
  expect_equal "$(ls -A work)" tree
  expect_status 0 -- "$COMPATPACK" verify work/tree
  rm -r work/tree
  works_at work
  umount work
else
  echo "left out: overlayfs, which may not be mounted here: $(cat err)"
fi
umount layers

# --- an environment that gives nothing ---

for mask in 000 077; do
  (
    umask "$mask"
    env -u HOME "$COMPATPACK" extract small.run --out "made-$mask" >out
  )
  expect_equal "$(stat -c %a "made-$mask" "made-$mask/env.sh" "made-$mask/libcuda.so.535.54.03" | tr '\n' ' ')" \
    '755 644 755 '
done
expect_status 0 -- env -i "$COMPATPACK" verify made-077
