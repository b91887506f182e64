#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A tree through its life: verified, copied with its links followed, repaired, damaged, made again.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

"$FIXTURE_TOOL" nvidia-run --out driver.run
"$FIXTURE_TOOL" nvidia-run --out newer.run --version 550.54.15
"$COMPATPACK" extract driver.run --out tree >stdout

expect_status 0 -- "$COMPATPACK" verify tree
expect_stdout 'tree: whole, driver 535.54.03'
expect_stderr ''

# --- again ---

# state TREE: all that a run which changes nothing must leave, the folder's own times too.
state() { find "$1" -printf '%P %i %T@ %C@ %s %m %l\n' | LC_ALL=C sort; }

state tree >before
for option in --jobs=1 --force --require-checksum --json --quiet; do
  expect_status 0 -- "$COMPATPACK" extract driver.run --out tree "$option"
  expect_stderr ''
  state tree >after
  expect_same after before
done
expect_status 0 -- "$COMPATPACK" extract driver.run --out ./tree//
expect_stdout 'up to date'
state tree >after
expect_same after before

# Other options ask for another tree.
for option in --components=cuda,nvml '--exclude=libcudadebugger*' --no-verify --prefix=/opt/compat; do
  expect_error 1 'target holds another tree' -- "$COMPATPACK" extract driver.run --out tree "$option"
  expect_stderr '--force'
done
expect_error 1 'target holds another tree' -- "$COMPATPACK" extract newer.run --out tree
expect_stderr 'driver 535.54.03'
state tree >after
expect_same after before
expect_error 1 'another tree' -- "$COMPATPACK" extract newer.run --out tree --dry-run
expect_status 0 -- "$COMPATPACK" extract newer.run --out tree --dry-run --force
expect_stdout 'nothing was written'
state tree >after
expect_same after before
expect_status 0 -- "$COMPATPACK" extract newer.run --out absent --dry-run
expect_no absent

# Names that are no UTF-8 are found again too.
odd=$(printf 'odd\377')
for prefix in '' "/opt/$odd"; do
  rm -rf "$odd"
  expect_status 0 -- "$COMPATPACK" extract driver.run --out "$odd" ${prefix:+--prefix "$prefix"}
  expect_status 0 -- "$COMPATPACK" extract driver.run --out "$odd" ${prefix:+--prefix "$prefix"}
  expect_stdout 'up to date'
done
rm -rf "$odd"

# --- copies ---

cp -a tree copied
expect_status 0 -- "$COMPATPACK" verify copied
cp -rL tree flat
expect_file flat/libcuda.so.1
expect_error 4 'is a file where a link should be' -- "$COMPATPACK" verify flat
expect_stderr 'flat/libcuda.so.1'
expect_stderr 'verify --repair mends it'
expect_status 0 -- "$COMPATPACK" verify flat --repair
expect_stdout 'flat/libcuda.so.1: repaired'
expect_stdout 'flat: whole'
expect_same flat tree
expect_link flat/libcuda.so.1 libcuda.so.535.54.03
expect_status 0 -- "$COMPATPACK" verify flat
# A file that differs from what the link led to is somebody's, and is not removed.
rm flat/libcuda.so.1
echo mine >flat/libcuda.so.1
expect_error 4 'flat/libcuda.so.1' -- "$COMPATPACK" verify flat

# By whatever name it is called.
(cd tree && expect_status 0 -- "$COMPATPACK" verify . && "$COMPATPACK" env .) >by-dot
"$COMPATPACK" env "$(pwd -P)/tree" >absolute
expect_same by-dot absolute

# --- damage ---

# damaged TEXT COMMAND...: after the command in a fresh copy, verify says TEXT; in $damage.
damaged() {
  text=$1
  shift
  rm -rf damage
  cp -a tree damage
  (cd damage && "$@")
  expect_error 4 "$text" -- "$COMPATPACK" verify damage
}
mended() {
  expect_status 0 -- "$COMPATPACK" verify --repair damage
  expect_status 0 -- "$COMPATPACK" verify damage
  expect_same damage tree
}
not_mended() {
  expect_error 4 damage -- "$COMPATPACK" verify --repair damage
  expect_error 4 damage -- "$COMPATPACK" verify damage
}
change_byte() { printf X | dd of="$1" bs=1 seek=1000 conv=notrunc status=none; }

damaged 'has other content' change_byte libcuda.so.535.54.03
expect_stderr 'extract the bundle again with --force'
not_mended
# What has its size is not read again; that is what verify is for, and --force for mending.
expect_status 0 -- "$COMPATPACK" extract driver.run --out tree
damaged 'has other content' change_byte env.sh
not_mended
damaged 'has another size' truncate -s 100 libcuda.so.535.54.03
not_mended
damaged missing rm libnvidia-nvvm.so.535.54.03
not_mended
damaged missing rm LICENSE
not_mended
damaged missing rm libcuda.so.1
mended
damaged 'leads elsewhere' ln -sfn libnvidia-nvvm.so.535.54.03 libcuda.so.1
mended
damaged 'has another mode' chmod 600 libcuda.so.535.54.03
mended
damaged 'is not a file' sh -c 'rm env.csh && mkdir env.csh'
not_mended

# A damaged tree is not up to date; --force makes it anew.
damaged 'has another size' truncate -s 100 libcuda.so.535.54.03
"$COMPATPACK" extract driver.run --out fresh --prefix "$(pwd -P)/damage" >stdout
expect_error 1 'driver.run' -- "$COMPATPACK" extract newer.run --out damage
expect_status 0 -- "$COMPATPACK" extract driver.run --out damage --force
expect_same damage fresh

# A file that is not ours, beside ours.
echo mine >damage/notes
expect_status 0 -- "$COMPATPACK" verify damage
expect_stderr 'damage/notes is not of this tree'
for bundle in driver.run newer.run; do
  expect_error 1 'did not put there' -- "$COMPATPACK" extract "$bundle" --out damage --force
  expect_stderr notes
done
expect_equal "$(cat damage/notes)" mine

# --- --force puts another tree in its place ---

expect_status 0 -- "$COMPATPACK" extract newer.run --out tree --force
expect_file tree/libcuda.so.550.54.15
expect_no tree/libcuda.so.535.54.03
expect_status 0 -- "$COMPATPACK" verify tree
expect_equal "$(find . -maxdepth 1 -name '.*' ! -name .)" ''
expect_status 0 -- "$COMPATPACK" extract newer.run --out tree
expect_stdout 'up to date'

# --- what belongs to somebody else stays ---

# A folder that is named almost like a staging folder.
mkdir .other.compatpack-backup
echo mine >.other.compatpack-backup/thesis
expect_status 0 -- "$COMPATPACK" extract driver.run --out other
expect_equal "$(cat .other.compatpack-backup/thesis)" mine
# A folder under a name of the tree's.
rm other/LICENSE
mkdir other/LICENSE
echo mine >other/LICENSE/thesis
expect_error 1 'did not put there' -- "$COMPATPACK" extract driver.run --out other --force
expect_equal "$(cat other/LICENSE/thesis)" mine
rm -r other/LICENSE
# A file where a link was, which is no copy of what the link led to.
rm other/libcuda.so.1
echo mine >other/libcuda.so.1
"$COMPATPACK" verify other --repair >/dev/null 2>&1 || :
expect_equal "$(cat other/libcuda.so.1)" mine
rm other/libcuda.so.1
# Damage that keeps the size is mended by what verify advises.
printf X | dd of=other/libcuda.so.535.54.03 bs=1 seek=5000 conv=notrunc 2>/dev/null
expect_error 4 'has other content' -- "$COMPATPACK" verify other
expect_status 0 -- "$COMPATPACK" extract driver.run --out other --force
expect_status 0 -- "$COMPATPACK" verify other
# A link is followed to the tree, and stays a link.
ln -s other linked
expect_status 0 -- "$COMPATPACK" extract driver.run --out linked
expect_stdout 'up to date'
expect_status 0 -- "$COMPATPACK" extract newer.run --out linked --force
expect_link linked other
expect_file other/libcuda.so.550.54.15
# A receipt that names itself, or a link to itself, is no receipt.
cp other/compatpack.json receipt
for bad in '"path": "compatpack.json", "target": "env.sh"' '"path": "a", "target": "a"'; do
  sed "s/\"links\": \[/\"links\": [{$bad},/" receipt >other/compatpack.json
  expect_error 3 'compatpack.json' -- "$COMPATPACK" verify --repair other
done
cp receipt other/compatpack.json
expect_status 0 -- "$COMPATPACK" verify other

# --- a libcuda with an odd soname is found all the same ---

mkdir odd
"$FIXTURE_TOOL" elf --soname libcuda.so.535.54.03 --out odd/libcuda.so.535.54.03
tar -cf odd.tar -C odd .
expect_status 0 -- "$COMPATPACK" extract odd.tar --out odd-tree
expect_link odd-tree/libcuda.so.1 libcuda.so.535.54.03

# --- what is no tree ---

mkdir empty
expect_error 3 empty -- "$COMPATPACK" verify empty
expect_error 1 absent -- "$COMPATPACK" verify absent
echo '{' >tree/compatpack.json
expect_error 3 compatpack.json -- "$COMPATPACK" verify tree
expect_error 1 'did not make' -- "$COMPATPACK" extract newer.run --out tree --force
expect_error 3 '' -- "$COMPATPACK" env tree
