#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Manual pages, completions and pictures: what the project holds is what its options give; pages name the options
# that help texts name, no more and no fewer; each shell completes.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# --- as made by scripts/make-reference and scripts/make-pictures ---

commands=$("$REFERENCE_TOOL" commands)
for command in '' $commands; do
  page=$REPO/man/compatpack${command:+-$command}.1
  expect_file "$page"
  "$REFERENCE_TOOL" man "$page" ${command:+"$command"} >made-page
  expect_same made-page "$page"
done
expect_equal "$(find "$REPO/man" -type f | wc -l | tr -d ' ')" "$(($(echo "$commands" | wc -l) + 1))"
for file in bash:compatpack.bash zsh:_compatpack fish:compatpack.fish; do
  "$REFERENCE_TOOL" completion "${file%%:*}" >made-completion
  expect_same made-completion "$REPO/completions/${file#*:}"
done

if command -v python3 >/dev/null; then
  python3 "$REPO/scripts/make-pictures" pictures
  expect_same pictures "$REPO/docs/pictures"
else
  echo 'left out: docs/pictures: no python3'
fi

# --- pages ---

# What begins a line of a help text, or an entry of a page, with the short name or without.
in_help() { "$COMPATPACK" "$@" --help | sed -n 's/^ \{2,6\}\(\(-[a-z], \)\{0,1\}--[a-z0-9-]*\).*/\1/p' | sort; }
in_page() {
  sed -n '/^\.TP$/{n;p;}' "$1" | sed 's/\\fI.*//; s/\\f.//g; s/\\-/-/g; s/ *$//' | grep '^-' | sort
}
for command in $commands; do
  in_help "$command" >help
  [ -s help ] || fail "$command --help" options none
  in_page "$REPO/man/compatpack-$command.1" >made-page
  expect_same made-page help
done
in_help >help
in_page "$REPO/man/compatpack.1" >made-page
expect_same made-page help
if command -v groff >/dev/null; then
  for page in "$REPO"/man/*.1; do
    expect_equal "$(groff -man -Tutf8 -ww -z "$page" 2>&1)" ''
    groff -man -Tutf8 "$page" | grep -q 'COMPATPACK' || fail "$page" 'text' 'none'
  done
else
  echo 'left out: pages as groff sees them'
fi

# --- completions ---

mkdir completing
cd completing
mkdir folder
: >driver.run

# completes SHELL WORD... -- WANTED...: the last word, which may be empty, becomes one of these.
completes() {
  shell=$1
  shift
  line=compatpack
  while [ "$1" != -- ]; do
    line="$line $1"
    shift
  done
  shift
  printf '%s\n' "$@" | sort >../wanted
  "complete_$shell" "$line" | sort >../found
  if ! cmp -s ../wanted ../found; then
    fail "$shell: $line" "$(cat ../wanted)" "$(cat ../found)"
  fi
}
in_each_shell() {
  completes "$1" m -- matrix module
  completes "$1" extract --no- -- --no-sync --no-verify
  completes "$1" extract --arch aa -- aarch64
  completes "$1" verify --color '' -- always auto never
  completes "$1" extract driver -- driver.run
  completes "$1" extract -o '' -- folder/
  completes "$1" module --format t -- tcl
  completes "$1" image --base fo -- folder/
  completes "$1" image --out dr -- driver.run
  completes "$1" matrix --repair --tab -- --table
}

complete_bash() {
  # shellcheck disable=SC2016 # for bash
  bash --norc -c '
    source "$1"
    read -ra COMP_WORDS <<<"$2"
    [[ $2 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _compatpack
    for word in "${COMPREPLY[@]}"; do
      if [[ -d $word ]]; then echo "$word/"; else echo "$word"; fi
    done' bash "$REPO/completions/compatpack.bash" "$1"
}
if command -v bash >/dev/null; then
  in_each_shell bash
  # As bash gives --color=n.
  completes bash verify --color = n -- never
  completes bash verify --color = -- always auto never
else
  echo 'left out: bash is not installed'
fi

complete_fish() {
  # shellcheck disable=SC2016 # for fish
  HOME=$PWD fish --no-config -c '
    complete -e -c compatpack
    source $argv[1]
    complete -C $argv[2]' "$REPO/completions/compatpack.fish" "$1" | cut -f1
}
if command -v fish >/dev/null; then
  in_each_shell fish
else
  echo 'left out: fish is not installed'
fi

# zsh completes at a terminal only: zpty is one, and a widget prints what was found.
complete_zsh() {
  cat >../complete.zsh <<'EOS'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= RPS1= ; fpath=($1 \$fpath) ; cd ${(q)PWD} ; autoload -Uz compinit && compinit -u -d ${(q)PWD:h}/zcompdump"
zpty -w shell "zstyle ':completion:*' list-colors '' ; unsetopt zle_bracketed_paste ; LISTMAX=1000"
zpty -w shell 'compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
  local -a __hits ; builtin compadd -O __hits "$@"
  local __suffix= ; [[ " $* " == *" -f "* || " $* " == *" -W "* ]] && __suffix=yes
  local one ; for one in $__hits; do
    [[ -n $__suffix && -d $one ]] && one=$one/
    print -r -- "HIT:$one"
  done
  builtin compadd "$@"
}
bindkey "^I" complete-word ; print READY'
zpty -r shell out '*READY*READY*'
zpty -w -n shell "$2"$'\t'
zpty -w -n shell $'\C-u'
zpty -w shell 'print DO''NE'
zpty -r shell out '*DONE*'
print -r -- "$out" | tr -d '\r' | sed -n 's/^.*HIT://p'
zpty -d shell
EOS
  HOME=$PWD zsh -f ../complete.zsh "$REPO/completions" "$1" | sort -u
}
if command -v zsh >/dev/null; then
  in_each_shell zsh
else
  echo 'left out: zsh is not installed'
fi
