#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Each system call of an extraction fails in turn: the first, the second and so on of a kind, until there
# are no more. Afterwards the target has the old tree, none, or all of the new one; what went wrong is
# said; and the next run succeeds and clears what was left. And the order in which it waits for the disk.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

"$FIXTURE_TOOL" elf --out libcuda --soname libcuda.so.1 --filler 3000
"$FIXTURE_TOOL" elf --out libjit --soname libnvidia-ptxjitcompiler.so.1 --filler 70000
for version in 535.54.03 550.54.15; do
  "$FIXTURE_TOOL" tar --out payload --file "libcuda.so.$version=libcuda" --compress gzip \
    --file "libnvidia-ptxjitcompiler.so.$version=libjit" --text LICENSE=text
  "$FIXTURE_TOOL" nvidia-run --out "$version.run" --payload payload --compress gzip --version "$version"
  "$FIXTURE_TOOL" deb --out "$version.deb" --file "libcuda.so.$version=libcuda" --version "$version" \
    --file "libnvidia-ptxjitcompiler.so.$version=libjit"
done
mkdir work
faults=0 # that were reached
# Of many calls the walk leaves out more and more, the smaller this is; so large, and it leaves out none.
skip=1000000
least=300
# Sanitizers make a run take many times as long.
if grep -q __asan_init "$COMPATPACK"; then
  skip=2
  least=100
fi
quiet=--quiet
harmless=0

# with_fault OUT ERR CMD...: CMD with the shim, and with whatever FAULT_... says.
with_fault() {
  out=$1
  err=$2
  shift 2
  status=0
  LD_PRELOAD=$FAULT_SHIM FAULT_NO_WAIT=1 FAULT_REACHED=reached "$@" >"$out" 2>"$err" </dev/null || status=$?
}

# is_tree NAME: work/tree is this one, to the last byte.
is_tree() { diff -r --no-dereference work/tree "$1" >/dev/null 2>&1; }

# in_order WHAT: after a run with a fault, the target, the exit status and the message agree.
in_order() {
  if [ ! -d work/tree ]; then
    [ -z "$old" ] || fail "$1" 'the old tree or the new one' "none: $(cat err)"
    [ "$status" != 0 ] || fail "$1" 'a tree, as the status is 0' 'none'
  elif ! is_tree "$reference"; then
    [ "$status" != 0 ] || fail "$1" 'the new tree, as the status is 0' "another: $(cat err)"
    [ -n "$old" ] || fail "$1" 'a whole tree' "$(ls -lA work/tree)"
    is_tree "$old" || fail "$1" 'the old tree or the new one' "$(ls -lA work/tree)"
  fi
  case $status in
    0) harmless=$((harmless + 1)) ;;
    1 | 3 | 4) expect_text err 'compatpack: error: ' ;;
    *) fail "$1" 'status 0, 1, 3 or 4' "$status: $(cat err)" ;;
  esac
  case $(ls -A work) in
    tree | '') return 0 ;;
  esac
  case $1 in
    unlinkat* | openat* | fdopendir* | readdir* | always*) ;; # what failed was the clearing up
    *) fail "$1" 'at most a tree' "$(ls -A work)" ;;
  esac
  # The next run clears what was left.
  "$COMPATPACK" extract "$bundle" --out work/tree --force --no-sync >out 2>err ||
    fail "$1" 'the next run succeeds' "$(cat err)"
  expect_equal "$1: $(ls -A work)" "$1: tree"
}

# attempt WHAT: one run, with the fault that the variables say; and whether all is in order.
attempt() {
  rm -rf work/tree reached
  [ -z "$old" ] || cp -a "$old" work/tree
  # shellcheck disable=SC2086 # none, or one
  with_fault out err "$COMPATPACK" extract "$bundle" --out work/tree --force $quiet
  in_order "$1"
}

# walk CALL HOW...: the calls of one function fail, each once and alone.
walk() {
  FAULT_CALL=$1
  shift
  export FAULT_CALL FAULT_HOW FAULT_NUMBER
  for FAULT_HOW in "$@"; do
    FAULT_NUMBER=1
    while :; do
      what="$FAULT_CALL $FAULT_NUMBER: $FAULT_HOW, $bundle${old:+ over a tree}"
      [ "$FAULT_NUMBER" -lt 2000 ] || fail "$what" 'an end of it' 'none'
      attempt "$what"
      [ -s reached ] || break
      faults=$((faults + 1))
      FAULT_NUMBER=$((FAULT_NUMBER + 1 + FAULT_NUMBER / skip))
    done
  done
  unset FAULT_CALL FAULT_HOW FAULT_NUMBER
}

# survive CALL HOW: all calls of a function, or every second one, are disturbed, and nothing comes of it.
survive() {
  export FAULT_CALL="$1" FAULT_HOW="$2" FAULT_NUMBER=1
  attempt "$1: $2, $bundle"
  expect_equal "$1: $2: $status" "$1: $2: 0"
  unset FAULT_CALL FAULT_HOW FAULT_NUMBER
}

walk_all() {
  for call in read pread write; do
    FAULT_ALWAYS=1 survive "$call" short
    FAULT_EACH_SECOND=1 survive "$call" EINTR
  done
  FAULT_EACH_SECOND=1 survive fsync EINTR
  walk open EACCES
  walk openat EMFILE
  walk read EIO end
  walk pread EIO end
  walk write ENOSPC EDQUOT EIO
  walk fsync EIO
  walk renameat2 EIO EINVAL
  walk mkdirat EROFS
  walk symlinkat EDQUOT
  walk fchmod EPERM
  walk unlinkat EIO
  walk fdopendir EMFILE
  walk readdir EIO
  walk flock ENOLCK EAGAIN
  walk mmap ENOMEM
  walk fstat EIO
  walk fstatat EIO
  walk lstat EACCES
  walk readlinkat EIO
  walk fstatfs EIO
  walk fstatvfs EIO
  walk realpath EACCES
  walk lseek EIO
  walk close EIO
  walk sync_file_range EIO
  walk posix_fadvise EINVAL
  walk getrandom ENOSYS
  walk pthread_create EAGAIN
  # A file system without renameat2's flags.
  export FAULT_ALSO=renameat2=EINVAL
  walk renameat EIO ENOSPC
  unset FAULT_ALSO
}

old=
bundle=550.54.15.run
reference='reference-run'
"$COMPATPACK" extract "$bundle" --out work/tree >out
mv work/tree "$reference"
walk_all
echo "$bundle over nothing: $faults faults, $harmless of the runs made the tree all the same"
rm -rf work/tree
"$COMPATPACK" extract 535.54.03.deb --out work/tree >out
old='old-tree'
mv work/tree "$old"
bundle=550.54.15.deb
reference='reference-deb'
"$COMPATPACK" extract "$bundle" --out work/tree >out
mv work/tree "$reference"
walk_all
echo "$bundle over a tree: with these $faults faults, $harmless of the runs"
[ "$faults" -ge "$least" ] || fail 'the walk' "at least $least faults" "$faults"

# Without --quiet it looks at the host, to say whether the tree will work there: some hundred calls, of which
# some are tried.
quiet=
skip=3
for call in openat read fstatat readlinkat readdir pread close; do
  walk "$call" EIO
done
quiet=--quiet

# --- what does not go away ---

# A disk that stays full, a quota that stays used up, one that has gone bad: with the fault there when
# clearing up too. Then a staging folder may stay, and the next run takes it away.
export FAULT_ALWAYS=1 FAULT_CALL FAULT_HOW FAULT_NUMBER
for pair in write:ENOSPC write:EDQUOT write:EIO fsync:EIO openat:EMFILE openat:EIO unlinkat:EROFS renameat2:EROFS \
  read:EIO mkdirat:EROFS; do
  FAULT_CALL=${pair%:*}
  FAULT_HOW=${pair#*:}
  for FAULT_NUMBER in 1 5; do
    for old in '' old-tree; do
      attempt "always $pair from $FAULT_NUMBER on"
    done
  done
done
unset FAULT_ALWAYS FAULT_CALL FAULT_HOW FAULT_NUMBER

# --- a folder that may not be written to ---

rm -rf work/tree
chmod 555 work
expect_error 1 'cannot make a folder in' -- "$COMPATPACK" extract "$bundle" --out work/tree
expect_equal "$(ls -A work)" ''
chmod 755 work

# --- what is on disk when the tree appears ---

# settled LOG: each file, and the folder, was waited for after its last change and before the rename that
# makes the tree appear; and the folder that it appears in after that.
settled() {
  awk '
    function place(p) { sub(/\/[^\/]*$/, "", p); return p }
    { call = $1; sub(/^[^ ]* /, "") }
    call != "rename" && call != "fsync" { if ($0 ~ /\.compatpack-/) changed[$0] = 1 }
    call == "write" || call == "link" || call == "unlink" {
      if (place($0) ~ /\.compatpack-/) changed[place($0)] = 1
      if (call == "write" && $0 ~ /\.compatpack-/) written[$0] = 1
      if (call != "write") delete changed[$0]
    }
    call == "fsync" {
      if (appeared && $0 == parent) parent_synced = 1
      delete changed[$0]
    }
    call == "rename" {
      from = $0; sub(/ -> .*/, "", from); to = place(from) "/" substr($0, length(from) + 5)
      if (place(from) ~ /\.compatpack-/) { # within the staging folder
        if (from in changed) { changed[to] = 1; delete changed[from] }
        if (from in written) { written[to] = 1; delete written[from] }
        changed[place(from)] = 1
      } else {
        for (one in changed) { print "not on disk when the tree appears: " one; bad = 1 }
        for (one in written) files++
        appeared = 1; parent = place(from)
      }
    }
    END {
      if (files < 6) { print "files written: " files + 0; bad = 1 }
      if (!parent_synced) { print "the folder of the tree was not waited for"; bad = 1 }
      exit bad
    }' "$1" >unsettled || fail "the order of fsync in $1" 'all on disk' "$(cat unsettled)
$(cat "$1")"
}

for old in '' old-tree; do
  for bundle in 550.54.15.run 550.54.15.deb; do
    rm -rf work/tree log
    [ -z "$old" ] || cp -a "$old" work/tree
    FAULT_LOG=log with_fault out err "$COMPATPACK" extract "$bundle" --out work/tree --force
    expect_equal "$status" 0
    settled log
  done
done
# And this would be seen: of a log without its fsyncs it is not said.
grep -v '^fsync .*libcuda' log >unsynced
(settled unsynced) >out 2>&1 && fail 'a log without an fsync' 'found out' 'not'
expect_text out 'not on disk when the tree appears'
