#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Includes point downward only, and each foreign library is known to one file only.
#
#   check_layers.sh [FOLDER]     FOLDER holds src/ and include/; default: this project
#
# Prints each violation as FILE:LINE: what; exit status 1 if there is one.
set -eu
root=${1:-$(dirname "$0")/..}
cd "$root"

find src include -type f \( -name '*.cpp' -o -name '*.hpp' \) | LC_ALL=C sort | awk '
BEGIN {
  # A layer, and what it may include besides itself. pipeline, host and knowledge stand side by side,
  # but knowledge is data that the other two look up.
  allowed["base"]      = ""
  allowed["io"]        = "base"
  allowed["formats"]   = "base io"
  allowed["knowledge"] = "base"
  allowed["host"]      = "base io formats knowledge"
  allowed["pipeline"]  = "base io formats knowledge"
  allowed["commands"]  = "base io formats knowledge host pipeline"
  allowed["cli"]       = "base io formats knowledge host pipeline commands"

  # Headers that the build makes, and who may include them.
  generated["activation_templates.hpp"] = "src/pipeline/activation.cpp"
  generated["modulefile_templates.hpp"] = "src/pipeline/modulefile.cpp"
  generated["compat_matrix_csv.hpp"] = "src/knowledge/compat_table.cpp"

  # A header (a regular expression on its name), and the files that may include it.
  n = 0
  confine("archive(_entry)?[.]h",      "src/formats/(archive|tar_writer)[.]cpp")
  confine("lzma[.]h",                  "src/formats/codec_xz[.]cpp")
  confine("zstd[.]h",                  "src/formats/codec_zstd[.]cpp")
  confine("zlib[.]h",                  "src/formats/codec_gzip[.]cpp")
  confine("bzlib[.]h",                 "src/formats/codec_bzip2[.]cpp")
  confine("lz4[a-z]*[.]h",             "src/formats/codec_lz4[.]cpp")
  confine("openssl/.*",                "src/io/digest[.]cpp")
  confine("CLI/.*",                    "src/cli/options[.]cpp")
  confine("nlohmann/.*", "src/formats/(fwd_compat_note|oci)[.]cpp|src/pipeline/receipt[.]cpp|src/commands/[a-z_]*[.][ch]pp|src/.*_test[.]cpp")
  confine("doctest/.*",                "src/.*_test[.]cpp")
}

function confine(header, files) {
  n++
  confined[n] = "^(" header ")$"
  home[n] = "^(" files ")$"
}

function report(what) {
  print file ":" line ": " what
  bad = 1
}

function stands_beside(name,   folder, path, ignored, there) {
  folder = file
  sub(/[^\/]*$/, "", folder)
  path = folder name
  there = (getline ignored < path) >= 0
  close(path)
  return there
}

function check(name, quoted,   parts, other, layer, i) {
  if (name ~ /^compatpack\//) {
    if (!quoted) {
      report("<" name ">: our own headers are included in double quotes")
    }
    split(name, parts, "/")
    other = parts[2]
    split(file, parts, "/")
    layer = parts[1] == "include" ? parts[3] : parts[2]
    if (!(layer in allowed)) {
      report("folder " layer " is no layer; add it to check_layers.sh")
    } else if (!(other in allowed)) {
      report(name ": " other " is no layer")
    } else if (other != layer && index(" " allowed[layer] " ", " " other " ") == 0) {
      report(name ": " layer " may not include " other)
    }
    return
  }
  if (quoted && name in generated) {
    if (file != generated[name]) {
      report(name ": belongs in " generated[name] " only")
    }
    return
  }
  # A header beside the file is private to its folder, and so of the same layer.
  if (quoted && name !~ /^support\// && !(name !~ /\// && stands_beside(name))) {
    report("\"" name "\": included by another path than compatpack/<layer>/")
  }
  if (quoted && name ~ /^support\// && file !~ /_test[.]cpp$/) {
    report(name ": test support in a file that is no test")
  }
  for (i = 1; i <= n; i++) {
    if (name ~ confined[i] && file !~ home[i]) {
      report(name ": belongs in " home[i] " only")
    }
  }
}

{
  file = $0
  line = 0
  files++
  while ((status = (getline text < file)) > 0) {
    line++
    if (text !~ /^[ \t]*#[ \t]*include/) {
      continue
    }
    if (match(text, /"[^"]*"/)) {
      check(substr(text, RSTART + 1, RLENGTH - 2), 1)
    } else if (match(text, /<[^>]*>/)) {
      check(substr(text, RSTART + 1, RLENGTH - 2), 0)
    } else {
      report("an include that names no file")
    }
  }
  if (status < 0) {
    report("cannot be read")
  }
  close(file)
}

END {
  if (!files) {
    print "check_layers: no source found"
    bad = 1
  }
  exit bad
}'
