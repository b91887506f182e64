#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The command line: help and README agree, answers on stdout, all else on stderr, statuses.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# --- help ---

expect_status 0 -- "$COMPATPACK" --help
expect_stderr ''
commands=$("$COMPATPACK" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] || fail --help 'a list of commands' "$("$COMPATPACK" --help)"
expect_status 0 -- "$COMPATPACK" --version
expect_stdout 'compatpack '
for library in libarchive liblzma libzstd zlib bzip2 lz4 OpenSSL; do
  grep -q "$library [0-9][0-9.]*\(,\|\$\)" "$e2e_top/last/stdout" || fail --version "$library and its version" "$(cat "$e2e_top/last/stdout")"
done
expect_stderr ''

for command in $commands; do
  expect_status 0 -- "$COMPATPACK" "$command" --help
  expect_stderr ''
  expect_stdout "Usage: compatpack $command"
  # README has a row for each command.
  grep -q "^| \`${command}[ \`]" "$REPO/README.md" || fail README.md "a row for $command" 'none'
  "$COMPATPACK" "$command" --help | grep -o -- '--[a-z][a-z0-9-]*' | sed "s/^/$command /"
done | sort -u >in-help

# The options that README names in a command's row, or on a line that calls it, are that command's.
awk '
  /^\| `[a-z]/ { command = $2; gsub(/`/, "", command) }
  match($0, /compatpack [a-z]+ /) { command = substr($0, RSTART + 11, RLENGTH - 12) }
  command != "" {
    for (rest = $0; match(rest, /--[a-z][a-z0-9-]*/); rest = substr(rest, RSTART + RLENGTH)) {
      print command " " substr(rest, RSTART, RLENGTH)
    }
  }
  !/\\$/ { command = "" }' "$REPO/README.md" | sort -u >in-readme
[ "$(wc -l <in-readme)" -gt 15 ] || fail README.md 'more options' "$(cat in-readme)"
expect_equal "$(comm -23 in-readme in-help)" ''

# --- bad usage ---

"$FIXTURE_TOOL" nvidia-run --out driver.run
# bad TEXT ARGUMENT...
bad() {
  text=$1
  shift
  expect_error 2 "$text" -- "$COMPATPACK" "$@"
  expect_stdout ''
  expect_stderr --help
}
bad ''
bad frobnicate frobnicate
bad --frobnicate --frobnicate
bad --out extract driver.run
bad BUNDLE extract --out x
bad --colour extract driver.run --out x --colour always
bad sideways extract driver.run --out x --color sideways
bad mips extract driver.run --out x --arch mips
# A variable that is not set is not an option that was not given.
for option in --sha256 --sha1 --md5 --checksum-file --keyring --prefix --member --include --components; do
  bad "$option" extract driver.run --out x "$option" ''
done
bad --base image driver.run --out x --base ''
bad --driver check --driver ''
bad TREE probe ''
bad BUNDLE extract '' --out x
bad soup extract driver.run --out x --components soup
bad --jobs extract driver.run --out x --jobs 0
bad --jobs extract driver.run --out x --jobs many
bad --repair list driver.run --repair
bad powershell env driver.run --shell powershell
bad '' list driver.run other.run
expect_no x
expect_equal "$("$COMPATPACK" "$(printf 'a\033[31mb')" 2>&1 | tr -d -c '\033')" ''

# --- where it goes ---

# json COMMAND...: stdout is one document, and nothing is on stderr.
json() {
  expect_status "$1" -- "$COMPATPACK" "$2" --json "$3" ${4+"$4"} ${5+"$5"}
  cp "$e2e_top/last/stdout" document
  if command -v python3 >/dev/null && python3 -c 'import json' 2>/dev/null; then
    python3 -m json.tool document >/dev/null || fail "$2 --json" 'JSON' "$(cat document)"
  elif command -v jq >/dev/null; then
    expect_equal "$(jq -s length document)" 1
  else
    echo "left out: that $2 --json parses, without python3 and jq"
  fi
}
json 0 extract driver.run --out tree
expect_text document '"status": "extracted"'
json 0 extract driver.run --out tree
expect_text document '"status": "up to date"'
json 0 inspect driver.run
expect_text document '"driver_version": "535.54.03"'
json 0 inspect driver.run --deep
json 0 list driver.run
json 0 verify driver.run
json 0 verify tree
json 0 env tree --shell fish
expect_text document '"code"'
json 0 module tree --prefix /apps/compat
expect_text document '"modulefile"'
json 0 image tree --out image
expect_text document '"status": "written"'
# An error is no answer.
expect_error 4 MD5 -- "$COMPATPACK" verify --json driver.run --md5 01234567890123456789012345678901
expect_stdout ''
cp -rL tree flat
json 4 verify flat
expect_text document '"status": "damaged"'

for arguments in 'extract driver.run --out quiet' 'extract driver.run --out quiet' 'inspect driver.run' \
  'verify driver.run' 'verify tree' 'image tree --out quiet-image'; do
  # shellcheck disable=SC2086 # words
  expect_status 0 -- "$COMPATPACK" $arguments -q
  expect_stdout ''
  expect_stderr ''
done
echo '<html>' >page
expect_error 3 'a web page' -- "$COMPATPACK" extract page --out x -q
expect_status 0 -- "$COMPATPACK" extract driver.run --out verbose -v
expect_stderr 'left out: libnvidia-ml.so.535.54.03'
# What one asks for is printed all the same.
expect_status 0 -- "$COMPATPACK" env tree -q
expect_stdout 'env.sh'

# --- colour and progress ---

escapes() { tr -d -c '\033' | wc -c; }
expect_equal "$("$COMPATPACK" list absent 2>&1 | escapes)" 0
expect_equal "$("$COMPATPACK" list absent --color never 2>&1 | escapes)" 0
[ "$("$COMPATPACK" list absent --color always 2>&1 | escapes)" -gt 0 ] || fail --color always none
expect_equal "$("$COMPATPACK" list driver.run --color always --progress auto 2>&1 | escapes)" 0
if command -v script >/dev/null; then
  # shellcheck disable=SC2016 # for the inner shell
  terminal() { TERM=$1 C=$COMPATPACK script -q -e -c '"$C" list absent' /dev/null </dev/null 2>&1 | escapes; }
  [ "$(terminal xterm)" -gt 0 ] || fail 'on a terminal' colour none
  expect_equal "$(terminal dumb)" 0
  expect_equal "$(NO_COLOR=1 terminal xterm)" 0
  [ "$(NO_COLOR='' terminal xterm)" -gt 0 ] || fail 'with an empty NO_COLOR' colour none
else
  echo 'left out: colour on a terminal, without script(1)'
fi

# --- an answer that cannot be written ---

# shellcheck disable=SC2016 # for the inner shell
for command in 'list driver.run' 'inspect driver.run' 'verify tree' 'env tree' '--help' '--version' \
  'verify driver.run --json'; do
  expect_error 1 'cannot write the answer' -- sh -c "\"\$1\" $command >&-" sh "$COMPATPACK"
  if [ -w /dev/full ]; then
    expect_error 1 'cannot write the answer' -- sh -c "\"\$1\" $command >/dev/full" sh "$COMPATPACK"
  fi
done
# A reader that goes away early, as head does, neither kills it nor is told of.
# shellcheck disable=SC2016
expect_status 0 -- sh -c '
  { until [ -e gone ]; do sleep 0.05; done; "$1" list driver.run; echo "$?" >status; } |
    { exec <&-; : >gone; }' sh "$COMPATPACK"
expect_stderr ''
expect_equal "$(cat status)" 1
# With stderr closed it works all the same; with stdin closed no descriptor of ours takes its place.
# shellcheck disable=SC2016
expect_status 0 -- sh -c '"$1" extract driver.run --out closed <&- >out 2>&-' sh "$COMPATPACK"
expect_status 0 -- "$COMPATPACK" verify closed
