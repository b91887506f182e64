#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# examples/squashfs/ with the real tools, mounted where /dev/fuse may be used; and examples/cvmfs/ with a
# made-up cvmfs_server, which is not in Debian.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

examples=$REPO/examples
plain_work
"$FIXTURE_TOOL" nvidia-run --version 550.54.15 --out driver.run --file "libcuda.so.550.54.15=$CUDA_STUB"
tree=$work/550.54.15
"$COMPATPACK" extract driver.run --quiet --no-sync --out "$tree"
ln -s 550.54.15 "$work/current"

# --- squashfs ---

if command -v mksquashfs >/dev/null; then
  expect_status 0 -- "$examples/squashfs/pack" "$work/current" first.sqfs
  expect_stdout ''
  cp -R "$tree" "$work/again"
  touch -d 2001-01-01 "$work/again/env.sh" "$work/again"
  expect_status 0 -- "$examples/squashfs/pack" "$work/again" second.sqfs
  expect_same first.sqfs second.sqfs
  unsquashfs -no-progress -quiet -d unpacked first.sqfs >unsquashed
  expect_same "$tree" unpacked
  expect_status 0 -- "$COMPATPACK" verify unpacked
  expect_equal "$(unsquashfs -lln first.sqfs | grep -c ' 0/0 ')" "$(find "$tree" | wc -l)"
  expect_status 2 -- "$examples/squashfs/pack" "$tree"

  if ! command -v squashfuse >/dev/null || ! command -v fusermount3 >/dev/null || ! command -v bash >/dev/null; then
    echo 'left out: mounting: squashfuse, fusermount3 or bash is not installed'
  elif [ ! -r /dev/fuse ] || [ ! -w /dev/fuse ]; then
    echo 'left out: mounting: /dev/fuse is not for this user'
  else
    mkdir "$work/mounted"
    squashfuse first.sqfs "$work/mounted"
    # shellcheck disable=SC2016 # for bash
    said=$(COMPATPACK_MODE=on bash -c '. "$0/env.sh" && exec "$1" cuda' "$work/mounted" "$ENV_PROBE" 2>&1) || :
    fusermount3 -u "$work/mounted"
    expect_equal "$said" "libcuda.so.1 is [$work/mounted/libcuda.so.1], version 12040"
  fi
else
  echo 'left out: squashfs-tools is not installed'
fi

# --- CVMFS ---

mkdir "$work/bin" "$work/repository"
cat >"$work/bin/cvmfs_server" <<EOF
#!/bin/sh
echo "\$* in \$PWD" >>"$work/server"
EOF
sed "s#/cvmfs/\$repository#$work/repository#" "$examples/cvmfs/publish" >"$work/publish"
chmod 755 "$work/bin/cvmfs_server" "$work/publish"
ln -s "$COMPATPACK" "$work/bin/compatpack"
publish() {
  rm -f "$work/server"
  expect_status "$1" -- env PATH="$work/bin:$PATH" "$work/publish" software.example.org "$2" compat
}
publish 0 "$work/current"
expect_equal "$(cat "$work/server")" 'transaction software.example.org in /
publish software.example.org in /'
expect_same "$tree" "$work/repository/compat/550.54.15"
# A tree that is there is not mixed with another.
publish 1 "$work/current"
expect_equal "$(tail -n 1 "$work/server")" 'abort -f software.example.org in /'
rm -r "$work/repository/compat"
echo damaged >>"$tree/libcuda.so.550.54.15"
publish 4 "$tree"
expect_equal "$(tail -n 1 "$work/server")" 'abort -f software.example.org in /'
