#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The activation scripts, sourced in every shell that they are for. A case is written once, in the
# steps that `translate` knows, and must come out the same in all of them.
#
# Needs in the environment: ACTIVATION_TOOL, ENV_PROBE, CUDA_STUB. A shell that is not installed is
# left out, unless CI or COMPATPACK_REQUIRE_SHELLS is set: then it is a failure.
# ACTIVATION_SHELLS="dash fish" tries only those.
# shellcheck disable=SC2016 # much here is code for the shell under test
# shellcheck disable=SC2059 # the formats of the driver's file are in variables
set -eu

: "${ACTIVATION_TOOL:?}" "${ENV_PROBE:?}" "${CUDA_STUB:?}"
all_shells="dash bash bash-posix zsh mksh ksh93 busybox fish tcsh"
newline='
'
work=$(mktemp -d "${TMPDIR:-/tmp}/activation.XXXXXX")
work=$(cd "$work" && pwd -P)
failures=0
trap 'if [ "$failures" = 0 ]; then rm -rf "$work"; fi' EXIT

# --- the ground: shells, trees, a host ---

fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
}

required=
if [ -n "${CI-}${COMPATPACK_REQUIRE_SHELLS-}" ]; then
  required=yes
fi
shells=
for shell in ${ACTIVATION_SHELLS:-$all_shells}; do
  if command -v "${shell%-posix}" >/dev/null; then
    shells="$shells $shell"
  elif [ -n "$required" ]; then
    fail "$shell is not installed, and CI or COMPATPACK_REQUIRE_SHELLS asks for all of them"
  else
    echo "left out: $shell is not installed"
  fi
done

# make_tree FOLDER [PREFIX [DRIVER]]: a tree with the activation scripts, which ask a made-up host.
make_tree() {
  mkdir -p "$1"
  cp "$CUDA_STUB" "$1/libcuda.so.1"
  for kind in sh fish csh; do
    "$ACTIVATION_TOOL" "$kind" "${3:-550.54.15}" "${2-$1}" |
      sed "s#/sys/module/nvidia/version#$work/host-sys#g
           s#/proc/driver/nvidia/version#$work/host-proc#g" >"$1/env.$kind"
  done
}

# host SYS PROC: what the host's driver files hold; "-": there is no such file.
host() {
  rm -rf "$work/host-sys" "$work/host-proc"
  if [ "$1" != - ]; then printf '%s\n' "$1" >"$work/host-sys"; fi
  if [ "$2" != - ]; then printf '%s\n' "$2" >"$work/host-proc"; fi
}

# The path of a tree may hold anything but : ; $ and NUL.
tree="$work/a b'c\"d!e\\f*g[h\`i(j)&k#l%m~n{o}"
other="$work/other tree"
make_tree "$tree"
make_tree "$other"
host - -

# --- running a case ---

# translate FAMILY: the steps on stdin as code of that family of shells. The values of T, U, V, PROBE
# and TOOL come from the environment.
#   source [T|U|V]       source the script of that tree
#   eval [T|U|V]         evaluate what `compatpack env` prints for it
#   set NAME VALUE       VALUE: one word without quotes, in which $T is the tree
#   unset NAME
#   deactivate
#   env | cuda           what a program sees
#   cd VARIABLE
translate() {
  while read -r step name value; do
    case $1:$step in
      sh:source) echo ". \"\$${name:-T}/env.sh\"" ;;
      fish:source) echo "source \"\$${name:-T}/env.fish\"" ;;
      csh:source) echo "source \$${name:-T}:q/env.csh" ;;
      sh:eval) printf '%s\n' "\\eval \"\$(\"\$TOOL\" eval-sh \"\$${name:-T}\")\"" ;;
      fish:eval) echo "\"\$TOOL\" eval-fish \"\$${name:-T}\" | source" ;;
      # csh would expand $V a second time within the backquotes.
      csh:eval) printf '%s\n' "\$TOOL:q eval-csh \$${name:-T}:q >\$HOME/line" 'eval "`cat $HOME/line`"' ;;
      sh:set) printf '%s\n' "$name=\"$value\"; \\export $name" ;;
      fish:set) echo "set -gx $name \"$value\"" ;;
      csh:set) echo "$value" | sed "s/\\\$\\([A-Z_]*\\)/\"\$\\1:q\"/g; s/^/setenv $name \"/; s/\$/\"/" ;;
      sh:unset) echo "\\unset $name" ;;
      fish:unset) echo "set -e $name" ;;
      csh:unset) echo "unsetenv $name" ;;
      *:deactivate) echo compatpack_deactivate ;;
      csh:env | csh:cuda) echo "\$PROBE:q $step" ;;
      *:env | *:cuda) echo "\"\$PROBE\" $step" ;;
      sh:cd) echo "\\cd \"\$$name\"" ;;
      fish:cd) echo "cd \"\$$name\"" ;;
      csh:cd) echo "cd \$$name:q" ;;
      *:echo) echo "echo $name" ;;
      *) echo "unknown step: $step" >&2; exit 2 ;;
    esac
  done
}

family() {
  case $1 in
    fish) echo fish ;;
    tcsh) echo csh ;;
    *) echo sh ;;
  esac
}

# As strict and as odd as a user may have it, and with aliases over what the script calls.
sh_prelude='
set -eu
set -f
IFS="/0:a"
alias unset=false export=false eval=false read=false printf=false print=false return=false
'

# run_code SHELL FILE: runs a file of code in that shell, with a clean environment and the
# assignments in $extra (one word each).
run_code() {
  set -- "$1" "$2" env -i PATH="${path-$PATH}" HOME="$work" T="$tree" U="$other" V="${third-}" \
    PROBE="$ENV_PROBE" TOOL="$ACTIVATION_TOOL" \
    ${mode+COMPATPACK_MODE="$mode"} ${verbose+COMPATPACK_VERBOSE="$verbose"} ${ld+LD_LIBRARY_PATH="$ld"}
  kind=$1
  file=$2
  shift 2
  case $kind in
    bash) "$@" "$(command -v bash)" --norc --noprofile -O expand_aliases -o pipefail "$file" ;;
    bash-posix) "$@" "$(command -v bash)" --norc --noprofile --posix "$file" ;;
    zsh) "$@" "$(command -v zsh)" -f -o extendedglob -o ksharrays -o warncreateglobal "$file" ;;
    busybox) "$@" "$(command -v busybox)" sh "$file" ;;
    fish) "$@" "$(command -v fish)" --no-config "$file" ;;
    tcsh) "$@" "$(command -v tcsh)" -ef "$file" ;;
    *) "$@" "$(command -v "$kind")" "$file" ;;
  esac
}

# expect NAME STEPS STDOUT [STDERR]: what the steps print, in every shell in $shells.
expect() {
  for shell in ${only-$shells}; do
    kind=$(family "$shell")
    {
      if [ "$kind" = sh ]; then printf '%s' "$sh_prelude"; fi
      printf '%s\n' "$2" | translate "$kind"
    } >"$work/code"
    status=0
    run_code "$shell" "$work/code" >"$work/stdout" 2>"$work/stderr" || status=$?
    printf '%s' "${3:+$3$newline}" >"$work/stdout.expected"
    printf '%s' "${4:+$4$newline}" >"$work/stderr.expected"
    if [ "$status" != 0 ]; then
      fail "$shell: $1: exit status $status"
      cat "$work/stderr"
    elif ! cmp -s "$work/stdout.expected" "$work/stdout"; then
      fail "$shell: $1: stdout (- expected, + found)"
      diff -u "$work/stdout.expected" "$work/stdout" | sed 1,2d || :
      cat "$work/stderr"
    elif ! cmp -s "$work/stderr.expected" "$work/stderr"; then
      fail "$shell: $1: stderr (- expected, + found)"
      diff -u "$work/stderr.expected" "$work/stderr" | sed 1,2d || :
    fi
  done
}

# active TREE [REST]: what `env` prints where nothing was set before but LD_LIBRARY_PATH=REST.
active() {
  printf 'LD_LIBRARY_PATH=[%s]\n' "$1${2:+:$2}"
  printf 'TRITON_LIBCUDA_PATH=[%s]\nJULIA_CUDA_USE_COMPAT=[false]\nCOMPATPACK_TREE=[%s]\n' "$1" "$1"
  if [ -n "${2+set}" ]; then printf '_COMPATPACK_OLD_LD=[%s]\n' "$2"; fi
}

# --- the cases ---

expect "without LD_LIBRARY_PATH, the tree is all of it" \
  "source${newline}env" "$(active "$tree")"
expect "sourcing twice changes nothing" \
  "source${newline}source${newline}env" "$(active "$tree")"
expect "deactivation leaves unset what was unset, and itself undefined" \
  "source${newline}deactivate${newline}env${newline}echo end" "end"
expect "a program started after it loads the tree's libcuda" \
  "cuda${newline}source${newline}cuda${newline}deactivate${newline}cuda" \
  "no libcuda.so.1
libcuda.so.1 is [$tree/libcuda.so.1], version 12040
no libcuda.so.1"

# What was there before, kept as it was: an empty element is the user's own business, but none is added.
for before in /x /x:/y /x: :/x : /x::/y "/x y:*:?${newline}z"; do
  ld=$before
  expect "the tree goes before LD_LIBRARY_PATH=[$before]" \
    "source${newline}source${newline}env" "$(active "$tree" "$before")"
  expect "deactivation restores LD_LIBRARY_PATH=[$before]" \
    "source${newline}deactivate${newline}env" "LD_LIBRARY_PATH=[$before]"
done
ld=
expect "an empty LD_LIBRARY_PATH makes no empty element" \
  "source${newline}env" "$(active "$tree" | sed '/^COMPATPACK_TREE/a _COMPATPACK_OLD_LD=[]')"
expect "deactivation restores an empty LD_LIBRARY_PATH as empty" \
  "source${newline}deactivate${newline}env" "LD_LIBRARY_PATH=[]"
ld="$tree:/x"
expect "a tree that stands first already is not added again, and stays after deactivation" \
  "source${newline}env${newline}deactivate${newline}env" "$(active "$tree" | sed "1s#]\$#:/x]#")
_COMPATPACK_OLD_LD=[$ld]
LD_LIBRARY_PATH=[$ld]"
unset ld

expect "the other variables are restored too" "set TRITON_LIBCUDA_PATH /t
set JULIA_CUDA_USE_COMPAT true
source
env
deactivate
env" "$(active "$tree")
_COMPATPACK_OLD_TRITON=[/t]
_COMPATPACK_OLD_JULIA=[true]
TRITON_LIBCUDA_PATH=[/t]
JULIA_CUDA_USE_COMPAT=[true]"
expect "what the user has changed meanwhile is left" "source
set TRITON_LIBCUDA_PATH /t
set JULIA_CUDA_USE_COMPAT true
set LD_LIBRARY_PATH /new
deactivate
env" "LD_LIBRARY_PATH=[/new]
TRITON_LIBCUDA_PATH=[/t]
JULIA_CUDA_USE_COMPAT=[true]"
expect "what the user has unset meanwhile stays unset" "set LD_LIBRARY_PATH /x
source
unset LD_LIBRARY_PATH
unset TRITON_LIBCUDA_PATH
deactivate
env" ""
expect "deactivation takes only the tree out of a list that others have changed" \
  "set LD_LIBRARY_PATH /x:
source
set LD_LIBRARY_PATH /first::/b*[:\$LD_LIBRARY_PATH:/last
deactivate
env" "LD_LIBRARY_PATH=[/first::/b*[:/x::/last]"
expect "deactivation unsets a list that holds nothing else" "source
set LD_LIBRARY_PATH \$T:\$T
deactivate
env" ""
expect "sourcing again puts the tree first again" "source
set LD_LIBRARY_PATH /first:\$LD_LIBRARY_PATH
source
env
deactivate
env" "$(active "$tree" /first)
LD_LIBRARY_PATH=[/first]"
ld=/x
expect "a second tree takes the place of the first, and deactivation restores the start" "source
source U
env
deactivate
env" "$(active "$other" /x)
LD_LIBRARY_PATH=[/x]"
unset ld

# --- the host's driver ---

refusal() {
  printf "compatpack: not activated: this host's driver, %s, has all that this tree's, 550.54.15, has\n" "$1"
  echo "compatpack: the tree would break CUDA here (error 803); COMPATPACK_MODE=on activates it all the same"
}
old_proc="NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Mon Sep 12 19:21:56 UTC 2022
GCC version:  gcc version 11.2.0"
open_proc="NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build  (dvs-builder@U22-I3-B10-02-5)  Tue Mar 3
GCC version:  gcc version 12.3.0"
tegra_proc="NVRM version: NVIDIA UNIX Kernel Module for aarch64  %s  Release Build  (x@y)
GCC version:  gcc version 9.4.0"
for version in 535.54.03 550.54.14 550.54 550.54.014 99.1 460.73.01 08.9 550.9 34.1.1; do
  host "$version" -
  expect "a host with $version is older (sys)" "source${newline}env" "$(active "$tree")"
  for format in "$old_proc" "$open_proc" "$tegra_proc"; do
    host - "$(printf "$format" "$version")"
    expect "a host with $version is older (proc)" "source${newline}env" "$(active "$tree")"
  done
done
for version in 550.54.15 550.54.16 550.054.15 550.144 1000.0 580.142 0560.28.03 550.54.0099; do
  host "$version" -
  expect "a host with $version is not older (sys)" "source${newline}env" "" "$(refusal "$version")"
  for format in "$old_proc" "$open_proc" "$tegra_proc"; do
    host - "$(printf "$format" "$version")"
    expect "a host with $version is not older (proc)" "source${newline}env" "" "$(refusal "$version")"
  done
done
two_part="$work/two"
make_tree "$two_part" "$two_part" 570.26
third=$two_part
host 570.26.00 -
expect "a missing part is 0" "source V${newline}echo end" "end" "$(refusal 570.26.00 | sed s/550.54.15/570.26/)"
host 570.25.99 -
expect "a two-part tree is newer than its predecessor" "source V${newline}env" "$(active "$two_part")"

# A tree whose driver version nobody says, such as Jetson's, is compared with nothing.
unversioned="$work/unversioned"
make_tree "$unversioned" "$unversioned" unknown
third=$unversioned
host 1000.0 -
expect "a tree of unknown version is never too old" "source V${newline}env" "$(active "$unversioned")"

host 535.1 "$(printf "$old_proc" 580.1)"
expect "/sys wins over /proc" "source${newline}env" "$(active "$tree")"
host garbage "$(printf "$old_proc" 580.1)"
expect "/proc serves where /sys holds no version" "source${newline}echo end" "end" "$(refusal 580.1)"

for garbage in "" 550 550. .550 550..1 550.1.2.3 550.1x "*" '$(touch /tmp/x)' 12345678901.1 "-1.5"; do
  host "$garbage" -
  expect "[$garbage] is no version, which is said" "source${newline}env" "$(active "$tree")" \
    "compatpack: no driver version in $work/host-sys: activated without comparing"
  host - "NVRM version: NVIDIA UNIX x86_64 Kernel Module  $garbage  x"
  expect "[$garbage] in /proc is no version, which is said" "source${newline}env" "$(active "$tree")" \
    "compatpack: no driver version in $work/host-proc: activated without comparing"
done
host - "GCC version: 12.3.0"
expect "a /proc file without an NVRM line is said" "source${newline}env" "$(active "$tree")" \
  "compatpack: no driver version in $work/host-proc: activated without comparing"
host - -
mkdir "$work/host-sys"
expect "a driver file that cannot be read is said" "source${newline}env" "$(active "$tree")" \
  "compatpack: no driver version in $work/host-sys: activated without comparing"
if [ "$(id -u)" != 0 ]; then
  host 580.1 -
  chmod 0 "$work/host-sys"
  expect "a driver file without permission is said" "source${newline}env" "$(active "$tree")" \
    "compatpack: no driver version in $work/host-sys: activated without comparing"
fi

# --- modes ---

host 580.1 -
mode=on
expect "COMPATPACK_MODE=on activates whatever the host has" "source${newline}env" "$(active "$tree")"
mode=off
expect "COMPATPACK_MODE=off does nothing and says nothing" "source${newline}env" ""
mode=auto
expect "COMPATPACK_MODE=auto compares" "source${newline}env" "" "$(refusal 580.1)"
mode=
expect "an empty COMPATPACK_MODE is auto" "source${newline}env" "" "$(refusal 580.1)"
mode="On (x) \$y"
expect "another COMPATPACK_MODE is said, and is auto" "source${newline}env" "" \
  "compatpack: COMPATPACK_MODE is $mode, not auto, on or off; taken as auto
$(refusal 580.1)"
unset mode
expect "a host that is too new leaves a tree that is active, and says so" "set COMPATPACK_MODE on
source
set COMPATPACK_MODE auto
source U
env
deactivate
env" "$(active "$tree")" "$(refusal 580.1)
compatpack: still active from before: $tree; compatpack_deactivate removes it"
host 535.1 -
verbose=1
expect "COMPATPACK_VERBOSE=1 says what was done, on stderr" "source${newline}source" "" \
  "compatpack: active: $tree, driver 550.54.15
compatpack: already active: $tree"
mode=off
expect "COMPATPACK_VERBOSE=1 says that it is off" "source" "" \
  "compatpack: not activated: COMPATPACK_MODE is off"
unset mode verbose
host - -

# --- where the tree is ---

moved="$work/moved  to
here\\n'\"!*"
mkdir "$work/from"
make_tree "$moved" "$work/from"
third=$moved
all=$shells
pick() {
  shells=
  for shell in $all; do
    case " $* " in *" $shell "*) shells="$shells $shell" ;; esac
  done
}
pick bash bash-posix zsh ksh93 fish
expect "a moved tree is found where the shell knows its own file" \
  "source V${newline}env${newline}cuda" "$(active "$moved")
libcuda.so.1 is [$moved/libcuda.so.1], version 12040"
pick dash mksh busybox
expect "a moved tree is said to be missing where the shell does not" "source V${newline}env" "" \
  "compatpack: not activated: there is no libcuda.so.1 in $work/from
compatpack: if the tree was moved, use: eval \"\$(compatpack env TREE)\""
pick tcsh
expect "a moved tree is said to be missing where csh does not know it" "source V${newline}env" "" \
  "compatpack: not activated: there is no libcuda.so.1 in $work/from
compatpack: if the tree was moved, use: eval \"\`compatpack env TREE --shell csh\`\""
pick dash bash bash-posix zsh mksh ksh93 busybox fish
expect "code to evaluate finds a moved tree in every shell" "eval V${newline}env" "$(active "$moved")"
shells=$all
third="$work/m  o'v\"e\\d!t*o["
make_tree "$third" "$work/from"
expect "code to evaluate finds a moved tree in csh too" \
  "eval V${newline}env${newline}deactivate${newline}env" "$(active "$third")"
# Not fish: in the C locale it garbles such bytes in every variable that it inherits.
pick dash bash bash-posix zsh mksh ksh93 busybox tcsh
third="$work/é"
make_tree "$third"
expect "a path may hold bytes that the locale does not know" "source V
eval V
env" "$(active "$third")"
shells=$all
third="$work/line${newline}end"
make_tree "$third"
expect "a tree may have a newline in its path" "set LD_LIBRARY_PATH /x
source V
env
set LD_LIBRARY_PATH /y:\$LD_LIBRARY_PATH
deactivate
env" "$(active "$third" /x)
LD_LIBRARY_PATH=[/y:/x]"
third="$work/scripts only"
make_tree "$third" "$tree"
rm "$third/libcuda.so.1"
expect "scripts without a libcuda beside them mean the tree that they were made for" \
  "source V${newline}env" "$(active "$tree")"
third="$work/co:lon"
make_tree "$third"
expect "a path that LD_LIBRARY_PATH cannot carry is said" "source V${newline}env" "" \
  "compatpack: not activated: LD_LIBRARY_PATH cannot carry : ; or \$, in $third"

# relative NAME CODE: code of sh or fish that sources by a relative path, from inside the tree's parent.
third="$work/rel"
make_tree "$third" "$work/from"
relative() {
  for shell in $shells; do
    case $shell in
      bash | bash-posix | zsh | ksh93) printf 'cd "%s"; . %s\n"$PROBE" env\n' "$2" "$3/env.sh" ;;
      fish) printf 'cd "%s"; source %s\n"$PROBE" env\n' "$2" "$3/env.fish" ;;
      *) continue ;;
    esac >"$work/code"
    active "$4" >"$work/stdout.expected"
    run_code "$shell" "$work/code" >"$work/stdout" 2>&1 || :
    if ! cmp -s "$work/stdout.expected" "$work/stdout"; then
      fail "$shell: $1"
      diff -u "$work/stdout.expected" "$work/stdout" | sed 1,2d || :
    fi
  done
}
relative "a relative path becomes absolute" "$work" rel "$third"
relative "a script sourced as ./env.sh" "$third" . "$third"
pick bash bash-posix zsh fish
relative "a script sourced by way of .." "$third" ../rel "$third/../rel"
shells=$all
ln -s rel "$work/link"
relative "a linked folder keeps the name it was called by" "$work" "$work/link" "$work/link"

# --- what it leaves, and what it does not do ---

host - "$(printf "$old_proc" 535.1)"
for shell in $shells; do
  kind=$(family "$shell")
  case $kind in
    sh)
      names=$(sed -n 's/^\(_*compatpack[a-z_]*\)() {$/\1/p' "$tree/env.sh" | tr '\n' ' ')
      printf '%s' 'before=$- ifs=$IFS; . "$T/env.sh"; compatpack_deactivate
        [ "$before" = "$-" ] || echo "options were $before, are $-"
        [ "$IFS" = "$ifs" ] || echo "IFS is changed"
        set | grep -a -i "^_*compatpack"
        for name in '"$names"'; do command -v "$name"; done; :'
      ;;
    fish)
      echo 'source "$T/env.fish"; compatpack_deactivate
        set --names | string match -i "*compatpack*"; functions -a | string match "*compatpack*"; true'
      ;;
    csh)
      printf '%s\n' 'source $T:q/env.csh' compatpack_deactivate 'set | sed -n "/^_*compatpack/p"' alias
      ;;
  esac >"$work/code"
  run_code "$shell" "$work/code" >"$work/stdout" 2>&1 || echo "status $?" >>"$work/stdout"
  if [ -s "$work/stdout" ]; then
    fail "$shell: deactivation leaves nothing behind"
    cat "$work/stdout"
  fi
done

# A shell started from this one takes over what is active, of whatever kind it is.
ld=/x
for shell in $shells; do
  case $(family "$shell") in
    sh) echo '. "$T/env.sh"; compatpack_deactivate; "$PROBE" env' ;;
    fish) echo 'source "$T/env.fish"; compatpack_deactivate; "$PROBE" env' ;;
    csh) printf '%s\n' 'source $T:q/env.csh' compatpack_deactivate '$PROBE:q env' ;;
  esac >"$work/code.$shell"
done
for shell in $shells; do
  printf '. "$T/env.sh"; exec "%s" "$CHILD"\n' "$(command -v "${shell%-posix}")" >"$work/code"
  case $shell in
    busybox) sed -i 's/" "\$CHILD"/" sh "$CHILD"/' "$work/code" ;;
    fish) sed -i 's/" "\$CHILD"/" --no-config "$CHILD"/' "$work/code" ;;
    tcsh) sed -i 's/" "\$CHILD"/" -f "$CHILD"/' "$work/code" ;;
  esac
  found=$(env -i PATH="$PATH" T="$tree" PROBE="$ENV_PROBE" CHILD="$work/code.$shell" \
    LD_LIBRARY_PATH=/x sh "$work/code" 2>&1) || :
  if [ "$found" != "LD_LIBRARY_PATH=[/x]" ]; then
    fail "$shell: a child shell takes over and restores; found: $found"
  fi
done
unset ld

# No process is started: hundreds of nodes may source this at once. csh cannot do without.
strace_works=
if strace -f -o "$work/strace" true 2>/dev/null; then
  strace_works=yes
elif [ -n "$required" ]; then
  fail "strace does not work here, and CI or COMPATPACK_REQUIRE_SHELLS asks for it"
fi
for shell in $shells; do
  case $(family "$shell") in
    sh) echo '. "$T/env.sh"; compatpack_deactivate' ;;
    fish) echo 'source "$T/env.fish"; compatpack_deactivate' ;;
    csh) continue ;;
  esac >"$work/code"
  path=/nonexistent verbose=1 run_code "$shell" "$work/code" >"$work/stdout" 2>&1 || :
  if [ "$(cat "$work/stdout")" != "compatpack: active: $tree, driver 550.54.15" ]; then
    fail "$shell: no program is needed; found: $(cat "$work/stdout")"
  fi
  if [ -n "$strace_works" ]; then
    # Threads are no processes.
    echo "strace -f -qq -e trace=fork,vfork,clone,clone3,execve -o '$work/strace' \"\$@\"" >"$work/under"
    (
      # shellcheck disable=SC2317 # called by run_code
      env() { shift; sh "$work/under" env -i "$@"; }
      run_code "$shell" "$work/code"
    ) >/dev/null 2>&1 || :
    if grep -E '(fork|clone3?)\(' "$work/strace" | grep -v CLONE_THREAD >"$work/forks"; then
      fail "$shell: no process is started; found: $(cat "$work/forks")"
    elif ! grep -q execve "$work/strace"; then
      fail "$shell: strace saw nothing"
    fi
  fi
done

# --- lint ---

if command -v shellcheck >/dev/null; then
  shellcheck -s sh "$tree/env.sh" "$0" || fail "shellcheck has something to say"
elif [ -n "$required" ]; then
  fail "shellcheck is not installed"
fi
case $shells in
  *fish*) fish --no-config -n "$tree/env.fish" || fail "fish -n has something to say" ;;
esac

if [ "$failures" != 0 ]; then
  echo "$failures failures; kept: $work"
  exit 1
fi
echo "all as expected in:$shells"
