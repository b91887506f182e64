#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# module: modulefiles in the real Lmod and the real Environment Modules. A case is written once and
# must come out the same in each pair of a module system and a format that it reads.
#
# A system that is not installed is left out, unless CI or COMPATPACK_REQUIRE_MODULES is set: then it
# is a failure. Debian lets only one of the two be installed; scripts/setup --tests unpacks the other.
# shellcheck disable=SC2016 # much here is code for the shell under test
# shellcheck disable=SC2059 # the formats of the driver's file are in variables
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# --- the ground: module systems, trees, a host ---

find_one() { # FILE...: the first that is there
  for candidate in "$@"; do
    if [ -f "$candidate" ]; then
      echo "$candidate"
      return
    fi
  done
}
lmod=$(find_one "${LMOD_DIR:-/nowhere}/lmod" /usr/share/lmod/lmod/libexec/lmod)
beside=/usr/local/lib/compatpack-tests/environment-modules
tclmod=$(find_one /usr/lib/*/modulecmd.tcl /usr/share/Modules/libexec/modulecmd.tcl \
  "$beside"/usr/lib/*/modulecmd.tcl)
pairs=
if [ -n "$lmod" ]; then pairs="lmod:lua lmod:tcl"; fi
if [ -n "$tclmod" ]; then pairs="$pairs tclmod:tcl"; fi
if [ -z "$lmod" ] || [ -z "$tclmod" ]; then
  [ -z "${CI-}${COMPATPACK_REQUIRE_MODULES-}" ] ||
    fail 'module systems' 'Lmod and Environment Modules' "Lmod: [$lmod], Environment Modules: [$tclmod]"
  echo "left out: Lmod is [$lmod], Environment Modules is [$tclmod]"
fi
[ -n "$pairs" ] || skip 'neither Lmod nor Environment Modules is installed'

plain_work # no modulefile can carry a path with a newline

# make_tree FOLDER VERSION [OPTION]: a tree whose libcuda can be loaded.
make_tree() {
  "$FIXTURE_TOOL" nvidia-run --version "$2" --out "$work/$2.run"
  "$COMPATPACK" extract "$work/$2.run" --no-sync --out "$1" >"$work/extracted"
}

# make_module NAME TREE: for both formats, with a made-up host.
make_module() {
  for format in lua tcl; do
    suffix=
    if [ $format = lua ]; then suffix=.lua; fi
    mkdir -p "$work/$format/$(dirname "$1")"
    "$COMPATPACK" module "$2" --format $format |
      sed "s#/sys/module/nvidia/version#$work/host-sys#g
           s#/proc/driver/nvidia/version#$work/host-proc#g" >"$work/$format/$1$suffix"
  done
}

# host SYS PROC: what the host's driver files hold; "-": there is no such file.
host() {
  rm -rf "$work/host-sys" "$work/host-proc"
  if [ "$1" != - ]; then printf '%s\n' "$1" >"$work/host-sys"; fi
  if [ "$2" != - ]; then printf '%s\n' "$2" >"$work/host-proc"; fi
}

tree="$work/newer tree"
old="$work/older"
make_tree "$tree" 550.54.15
make_tree "$old" 535.54.03
cp "$CUDA_STUB" "$tree/libcuda.so.550.54.15"
make_module compatpack/550.54.15 "$tree"
make_module compatpack/535.54.03 "$old"
make_module renamed/1 "$old"
host - -

# --- running a case ---

prelude() {
  case $1 in
    lmod)
      # Lmod needs its own path, and quotes for sh what it prints.
      printf '%s\n' "module() { eval \"\$('$lmod' bash \"\$@\")\" && eval \"\${MODULES_SETTARG_CMD-:}\"; }"
      ;;
    tclmod) printf '%s\n' "module() { eval \"\$(tclsh '$tclmod' bash \"\$@\")\"; }" ;;
  esac
}

# expect NAME STEPS STDOUT [STDERR [PAIRS]]: what the steps print in each pair. \$variables come from
# `with`: words NAME=VALUE.
expect() {
  for pair in ${5-$pairs}; do
    {
      prelude "${pair%:*}"
      printf '%s\n' "$2"
    } >"$work/code"
    found=0
    env -i PATH="$PATH" HOME="$work" LC_ALL=C.UTF-8 MODULEPATH="$work/${pair#*:}" PROBE="$ENV_PROBE" \
      T="$tree" U="$old" LMOD_PAGER=none MODULES_PAGER= LMOD_AUTO_SWAP=yes \
      ${mode+COMPATPACK_MODE="$mode"} ${verbose+COMPATPACK_VERBOSE="$verbose"} \
      ${ld+LD_LIBRARY_PATH="$ld"} ${triton+TRITON_LIBCUDA_PATH="$triton"} \
      bash --norc --noprofile "$work/code" >"$work/stdout" 2>"$work/stderr" || found=$?
    printf '%s' "${3:+$3
}" >"$work/stdout.expected"
    printf '%s' "${4:+$4
}" >"$work/stderr.expected"
    [ "$found" = 0 ] || fail "$pair: $1" 'exit status 0' "$found
$(cat "$work/stdout" "$work/stderr")"
    cmp -s "$work/stdout.expected" "$work/stdout" ||
      fail "$pair: $1: stdout" "$3" "$(cat "$work/stdout")
  stderr:
$(cat "$work/stderr")"
    cmp -s "$work/stderr.expected" "$work/stderr" ||
      fail "$pair: $1: stderr" "${4-}" "$(cat "$work/stderr")"
  done
}

# only PAIR...: those that are there.
only() {
  for pair in "$@"; do
    case " $pairs " in *" $pair "*) printf '%s ' "$pair" ;; esac
  done
}

# active TREE [REST]: what a program sees.
active() {
  printf 'LD_LIBRARY_PATH=[%s]\nTRITON_LIBCUDA_PATH=[%s]\nJULIA_CUDA_USE_COMPAT=[false]\nCOMPATPACK_TREE=[%s]' \
    "$1${2:+:$2}" "$1" "$1"
}

# --- load, unload, swap ---

expect 'loading activates the tree' \
  'module load compatpack/550.54.15; "$PROBE" env; "$PROBE" cuda' "$(active "$tree")
libcuda.so.1 is [$tree/libcuda.so.1], version 12040"
expect 'loading twice is once' \
  'module load compatpack/550.54.15; module load compatpack/550.54.15; "$PROBE" env' "$(active "$tree")"
expect 'unloading leaves unset what was unset, and no variable of ours' \
  'module load compatpack/550.54.15; module unload compatpack/550.54.15
   "$PROBE" env; env | grep "^_*COMPATPACK\|^_*[A-Z]*_STACK\|_PUSHENV_" || :' ''
restoring=$(only lmod:lua tclmod:tcl) # Lmod restores nothing for a modulefile in Tcl
ld=/x:/y
triton=/t
expect 'what was there before stands behind' \
  'module load compatpack/550.54.15; "$PROBE" env' "$(active "$tree" /x:/y)"
expect 'unloading restores it' \
  'export JULIA_CUDA_USE_COMPAT=true
   module load compatpack/550.54.15; module unload compatpack; "$PROBE" env' \
  "LD_LIBRARY_PATH=[/x:/y]
TRITON_LIBCUDA_PATH=[/t]
JULIA_CUDA_USE_COMPAT=[true]" '' "$restoring"
expect 'unloading leaves what others have put in' \
  'module load compatpack/550.54.15; export LD_LIBRARY_PATH=/first:$LD_LIBRARY_PATH:/last
   module unload compatpack; "$PROBE" env' \
  "LD_LIBRARY_PATH=[/first:/x:/y:/last]
TRITON_LIBCUDA_PATH=[/t]" '' "$restoring"
expect 'another version takes the place of the first, and unloading restores the start' \
  'export LMOD_QUIET=yes; module load compatpack/550.54.15; module swap compatpack/550.54.15 compatpack/535.54.03
   "$PROBE" env; module unload compatpack; "$PROBE" env' "$(active "$old" /x:/y)
LD_LIBRARY_PATH=[/x:/y]
TRITON_LIBCUDA_PATH=[/t]" '' "$(only lmod:lua)" # pushenv of Environment Modules 5.2 forgets at a swap
unset triton
expect 'likewise in Environment Modules, where TRITON_LIBCUDA_PATH was unset' \
  'export LMOD_QUIET=yes; module load compatpack/550.54.15; module swap compatpack/550.54.15 compatpack/535.54.03
   "$PROBE" env; module unload compatpack; "$PROBE" env' "$(active "$old" /x:/y)
LD_LIBRARY_PATH=[/x:/y]"
unset ld
for ld in '' : /x: :/x /x::/y; do
  expect "no empty element is added to LD_LIBRARY_PATH=[$ld]" \
    'empties() { printf "%s" ":$LD_LIBRARY_PATH:" | sed "s/:/::/g" | grep -o "::::" | wc -l; }
     before=$(empties)
     [ -n "$LD_LIBRARY_PATH" ] || before=0
     module load compatpack/550.54.15
     case $LD_LIBRARY_PATH in "$T" | "$T":*) ;; *) echo "not first: $LD_LIBRARY_PATH" ;; esac
     [ "$(empties)" -le "$before" ] || echo "$LD_LIBRARY_PATH"' ''
done
unset ld

# Two trees are never active together, whatever their modulefiles are called: Lmod replaces the first,
# Environment Modules refuses the second.
expect 'Lmod replaces a tree by another, also of another name' \
  'module load compatpack/550.54.15; module load renamed/1 2>message; grep -q replacing message || cat message
   "$PROBE" env' \
  "$(active "$old")" '' "$(only lmod:lua)"
expect 'and unloading that leaves nothing' \
  'module load compatpack/550.54.15; module load renamed/1 2>/dev/null; module unload renamed/1; "$PROBE" env' \
  '' '' "$(only lmod:lua)"
expect 'Environment Modules refuses a second tree' \
  'module load compatpack/550.54.15
   for second in compatpack/535.54.03 renamed/1; do
     module load $second 2>message || :
     grep -o "due to a conflict" message || cat message
   done; "$PROBE" env' "due to a conflict
due to a conflict
$(active "$tree")" '' "$(only tclmod:tcl)"

# --- one MODULEPATH with two versions and a default ---

expect 'without a default the highest version is loaded' \
  'module load compatpack; "$PROBE" env' "$(active "$tree")"
ln -s 535.54.03.lua "$work/lua/compatpack/default"
printf '#%%Module1.0\nmodule-version compatpack/535.54.03 default\n' >"$work/tcl/compatpack/.modulerc"
expect 'the default is loaded' 'module load compatpack; "$PROBE" env' "$(active "$old")"
rm "$work/lua/compatpack/default" "$work/tcl/compatpack/.modulerc"
expect 'both are listed' \
  'module -t avail compatpack 2>&1 | grep -o "^compatpack/[0-9.]*[0-9]" | sort' \
  "compatpack/535.54.03
compatpack/550.54.15"
expect 'whatis and help name the versions and the place' \
  'module whatis compatpack/550.54.15 2>&1 | grep -o "550.54.15" | tail -n 1
   module help compatpack/550.54.15 2>&1 | grep -o "550.54.15, for CUDA 12.4"
   module help compatpack/550.54.15 2>&1 | grep -c -x -F "$T"; "$PROBE" env' "550.54.15
550.54.15, for CUDA 12.4
1"
host 580.1 -
expect 'show shows all of it, on any host, and sets nothing' \
  'module show compatpack/550.54.15 >shown 2>&1
   for name in LD_LIBRARY_PATH TRITON_LIBCUDA_PATH JULIA_CUDA_USE_COMPAT COMPATPACK_TREE; do
     grep -q "$name" shown || cat shown
   done; grep "not activated" shown; "$PROBE" env' ''

# --- the guard ---

refusal() {
  printf "compatpack: not activated: this host's driver, %s, has all that this tree's, 550.54.15, has\n" "$1"
  echo "compatpack: the tree would break CUDA here (error 803); COMPATPACK_MODE=on activates it all the same"
}
load='module load compatpack/550.54.15; "$PROBE" env'
old_proc="NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Mon Sep 12 19:21:56 UTC 2022
GCC version:  gcc version 11.2.0"
open_proc="NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build  (dvs-builder@U22-I3-B10-02-5)  Tue Mar 3
GCC version:  gcc version 12.3.0"
tegra_proc="NVRM version: NVIDIA UNIX Kernel Module for aarch64  %s  Release Build  (x@y)
GCC version:  gcc version 9.4.0"
for version in 535.54.03 550.54.14 550.54 99.1 08.9; do
  host "$version" -
  expect "a host with $version is older (sys)" "$load" "$(active "$tree")"
done
for version in 550.54.15 550.054.15 550.144 0560.28.03 550.54.0099; do
  host "$version" -
  expect "a host with $version is not older (sys)" "$load" '' "$(refusal "$version")"
done
for format in "$old_proc" "$open_proc" "$tegra_proc"; do
  host - "$(printf "$format" 550.54.14)"
  expect 'a host with 550.54.14 is older (proc)' "$load" "$(active "$tree")"
  host - "$(printf "$format" 580.142)"
  expect 'a host with 580.142 is not older (proc)' "$load" '' "$(refusal 580.142)"
done
host 535.1 "$(printf "$old_proc" 580.1)"
expect '/sys wins over /proc' "$load" "$(active "$tree")"
host garbage "$(printf "$old_proc" 580.1)"
expect '/proc serves where /sys holds no version' "$load" '' "$(refusal 580.1)"
for garbage in '' 550 550. .550 550..1 550.1.2.3 550.1x '*' '[exit]' 12345678901.1 -1.5; do
  host "$garbage" -
  expect "[$garbage] is no version, which is said" "$load" "$(active "$tree")" \
    "compatpack: no driver version in $work/host-sys: activated without comparing"
done
host - "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550  x"
expect 'no version in /proc is said' "$load" "$(active "$tree")" \
  "compatpack: no driver version in $work/host-proc: activated without comparing"
host - -
mkdir "$work/host-sys"
expect 'a driver file that cannot be read is said' "$load" "$(active "$tree")" \
  "compatpack: no driver version in $work/host-sys: activated without comparing"
host 580.1 -
chmod 0 "$work/host-sys"
expect 'a driver file without permission is said' "$load" "$(active "$tree")" \
  "compatpack: no driver version in $work/host-sys: activated without comparing"

host 580.1 -
ld=/x:/y
expect 'where the tree is not used, unloading undoes nothing' \
  'module load compatpack/550.54.15; export LD_LIBRARY_PATH=$T:/x JULIA_CUDA_USE_COMPAT=false
   COMPATPACK_MODE=on; export COMPATPACK_MODE; module unload compatpack; "$PROBE" env' \
  "LD_LIBRARY_PATH=[$tree:/x]
JULIA_CUDA_USE_COMPAT=[false]" "$(refusal 580.1)"
expect 'what was loaded is unloaded, whatever the mode is by then' \
  'export COMPATPACK_MODE=on; module load compatpack/550.54.15; "$PROBE" env
   COMPATPACK_MODE=off; module unload compatpack; "$PROBE" env' "$(active "$tree" /x:/y)
LD_LIBRARY_PATH=[/x:/y]"
unset ld
expect 'a swap to a tree that is too old here leaves none' \
  'export COMPATPACK_MODE=on; module load compatpack/535.54.03; COMPATPACK_MODE=auto
   export LMOD_QUIET=yes; module swap compatpack/535.54.03 compatpack/550.54.15; "$PROBE" env' '' "$(refusal 580.1)" \
  "$restoring" # Lmod keeps quiet of what a modulefile in Tcl says, too
mode=on
expect 'COMPATPACK_MODE=on activates whatever the host has' "$load" "$(active "$tree")"
mode=off
expect 'COMPATPACK_MODE=off does nothing and says nothing' "$load" ''
mode='On (x) $y'
expect 'another COMPATPACK_MODE is said, and is auto' "$load" '' \
  "compatpack: COMPATPACK_MODE is $mode, not auto, on or off; taken as auto
$(refusal 580.1)"
unset mode
host - -
verbose=1
expect 'COMPATPACK_VERBOSE=1 says what was done' "$load" "$(active "$tree")" \
  "compatpack: active: $tree, driver 550.54.15"
mode=off
expect 'COMPATPACK_VERBOSE=1 says that it is off' "$load" '' 'compatpack: not activated: COMPATPACK_MODE is off'
unset mode verbose

mv "$tree" "$tree.away"
expect 'a tree that is not there is said' "$load" '' \
  "compatpack: not activated: there is no libcuda.so.1 in $tree"
mv "$tree.away" "$tree"

# A tree whose driver version nobody says, such as Jetson's, is compared with nothing.
for file in "$work"/*/compatpack/550.54.15*; do
  sed 's/^\(set driver \|local driver = \)"550.54.15"/\1""/' "$file" >"$work/edited"
  cp "$work/edited" "$file"
done
host 1000.0 -
expect 'a tree of unknown version is never too old' "$load" "$(active "$tree")"
host - -

# --- paths ---

# Lmod's own translation of Tcl does not quote: there such a path is an error that it reports.
# shellcheck disable=SC1003 # a backslash before the end is meant
for odd in "a b'c\"d!e\\f*g[h\`i(j)&k#l%m~n{o}" '}{]][[' 'é東🙂' 'a\' '\n\065' '-- ]]' '"..os.exit(1).."' '[exit]'; do
  odd_tree="$work/odd/$odd"
  mkdir -p "$work/odd"
  cp -a "$tree" "$odd_tree"
  make_module odd/1 "$odd_tree"
  expect "a path may hold $odd" 'module load odd; "$PROBE" env; "$PROBE" cuda; module unload odd; "$PROBE" env' \
    "$(active "$odd_tree")
libcuda.so.1 is [$odd_tree/libcuda.so.1], version 12040" '' "$(only lmod:lua tclmod:tcl)"
done

# --- the command ---

expect_status 0 -- "$COMPATPACK" module "$tree" --prefix /apps/compat
expect_stdout 'local tree = "/apps/compat"'
expect_status 0 -- "$COMPATPACK" module "$tree" --format tcl --json
expect_stdout '"format": "tcl"'
expect_stdout '#%Module1.0\n'
expect_error 2 'LD_LIBRARY_PATH cannot carry this path' -- "$COMPATPACK" module "$tree" --prefix /a:b
expect_error 2 'control character' -- "$COMPATPACK" module "$tree" --prefix "$(printf '/a\nb')"
expect_error 2 '--format' -- "$COMPATPACK" module "$tree" --format lmod
expect_error 1 'not a compat tree' -- "$COMPATPACK" module absent
mkdir plain
: >plain/file
expect_error 3 '' -- "$COMPATPACK" module plain
"$COMPATPACK" extract "$work/550.54.15.run" --components opencl --no-sync --out opencl >"$work/extracted"
expect_error 3 'tree has nothing to activate' -- "$COMPATPACK" module opencl

if command -v luac5.3 >/dev/null; then luac5.3 -p "$work/lua/odd/1.lua"; fi
echo "all as expected in: $pairs"
