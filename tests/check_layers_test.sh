#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_layers.sh finds what it is for: each violation planted in a small tree, alone.
set -eu
check=$(cd "$(dirname "$0")" && pwd)/check_layers.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fresh() {
  rm -rf tree
  for layer in base io formats knowledge host pipeline commands cli; do
    mkdir -p "tree/include/compatpack/$layer" "tree/src/$layer"
  done
  echo '#include "compatpack/base/text.hpp"' >tree/src/base/text.cpp
}

# planted FILE LINE EXPECTED: the only finding says EXPECTED of FILE.
planted() {
  fresh
  echo "$2" >"tree/$1"
  if found=$("$check" tree); then
    echo "not found: $1: $2"
    failures=$((failures + 1))
  elif [ "$(printf '%s\n' "$found" | grep -c "^$1:1: .*$3")" != 1 ]; then
    printf 'found otherwise: %s: %s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3" "$found"
    failures=$((failures + 1))
  fi
}

# allowed FILE LINE: no finding.
allowed() {
  fresh
  echo "$2" >"tree/$1"
  found=$("$check" tree) || {
    printf 'found, but it is allowed: %s: %s\n  %s\n' "$1" "$2" "$found"
    failures=$((failures + 1))
  }
}

planted src/base/a.cpp '#include "compatpack/io/source.hpp"' 'base may not include io'
planted include/compatpack/io/a.hpp '#include "compatpack/formats/elf.hpp"' 'io may not include formats'
planted src/formats/a.cpp '  #  include "compatpack/pipeline/planner.hpp"' 'formats may not include pipeline'
planted src/formats/a_test.cpp '#include "compatpack/cli/options.hpp"' 'formats may not include cli'
planted src/knowledge/a.cpp '#include "compatpack/io/source.hpp"' 'knowledge may not include io'
planted src/host/a.cpp '#include "compatpack/pipeline/planner.hpp"' 'host may not include pipeline'
planted src/pipeline/a.cpp '#include "compatpack/host/driver.hpp"' 'pipeline may not include host'
planted src/commands/a.cpp '#include "compatpack/cli/options.hpp"' 'commands may not include cli'
planted src/cli/a.cpp '#include "compatpack/misc/a.hpp"' 'misc is no layer'
planted src/base/a.cpp '#include <compatpack/base/text.hpp>' 'in double quotes'
planted src/base/a.cpp '#include "../io/source.hpp"' 'another path'
planted src/base/a.cpp '#include "private.hpp"' 'another path'
planted src/base/a.cpp '#include "support/temp_dir.hpp"' 'no test'
planted src/formats/rpm.cpp '#include <archive.h>' 'archive.h'
planted src/formats/rpm.cpp '#include <archive_entry.h>' 'archive_entry.h'
planted include/compatpack/formats/decoder.hpp '#include <lzma.h>' 'lzma.h'
planted src/pipeline/a.cpp '#include <zstd.h>' 'zstd.h'
planted src/pipeline/a.cpp '#include <lz4frame.h>' 'lz4frame.h'
planted src/io/source.cpp '#include <openssl/evp.h>' 'openssl/evp.h'
planted src/cli/main.cpp '#include <CLI/CLI.hpp>' 'CLI/CLI.hpp'
planted include/compatpack/pipeline/receipt.hpp '#include <nlohmann/json.hpp>' 'nlohmann/json.hpp'
planted src/cli/a.cpp '#include "activation_templates.hpp"' 'belongs in src/pipeline/activation.cpp only'
planted src/base/a.cpp '#include <doctest/doctest.h>' 'doctest'

allowed src/formats/a.cpp '#include "compatpack/io/source.hpp"'
allowed src/commands/a.cpp '#include "compatpack/host/driver.hpp"'
allowed src/pipeline/a.cpp '#include "compatpack/knowledge/catalog.hpp"'
allowed src/cli/main.cpp '#include "compatpack/commands/extract.hpp"'
allowed src/formats/archive.cpp '#include <archive.h>'
allowed src/formats/codec_xz.cpp '#include <lzma.h>'
allowed src/io/digest.cpp '#include <openssl/evp.h>'
allowed src/cli/options.cpp '#include <CLI/CLI.hpp>'
allowed src/pipeline/receipt.cpp '#include <nlohmann/json.hpp>'
allowed src/pipeline/activation.cpp '#include "activation_templates.hpp"'
allowed src/io/a_test.cpp '#include "support/temp_dir.hpp"'
allowed src/base/a.cpp '// #include "compatpack/io/source.hpp"'

rm -rf tree && mkdir -p tree/src tree/include
! "$check" tree >found || {
  echo 'an empty tree passes'
  failures=$((failures + 1))
}

[ "$failures" = 0 ] || exit 1
echo 'check_layers.sh finds all that was planted'
