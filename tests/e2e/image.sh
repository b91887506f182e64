#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# compatpack image: the same bytes again, what is refused, and what other programs make of an image: skopeo,
# umoci, and a registry on the loopback interface. (buildah needs root to run a program in one: that is in
# scripts/try-image.) Parts whose programs are missing are left out, and say so.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# Names of images have no newlines.
work=$(mktemp -d "${TMPDIR:-/tmp}/image.XXXXXX")
registry=
finish_image() {
  if [ -n "$registry" ]; then
    kill "$registry" 2>/dev/null || :
    wait "$registry" 2>/dev/null || :
  fi
  chmod -R u+rwX "$work"
  rm -rf "$work"
  e2e_finish "$1"
}
trap 'finish_image $?' EXIT
cd "$work"
unset SOURCE_DATE_EPOCH

has() { # PART PROGRAM...
  for program in $2; do
    command -v "$program" >/dev/null || {
      echo "left out: $1, without $program"
      return 1
    }
  done
}
image() { expect_status 0 -- "$COMPATPACK" image "$@"; }
digest_of() { printf 'sha256:%s' "$(sha256sum "$1" | cut -d' ' -f1)"; }
# The digest of a layout's one manifest, and the path of the one layer.
manifest_of() { grep -o '"digest":"sha256:[0-9a-f]*"' "$1/index.json" | cut -d'"' -f4; }
layer_of() { find "$1/blobs" -type f -size +50k; }

"$FIXTURE_TOOL" nvidia-run --version 550.54.15 --filler 3000 --out driver.run
"$COMPATPACK" extract driver.run --no-sync --out tree >extracted
"$COMPATPACK" extract driver.run --no-sync --prefix /usr/local/cuda/compat --out there >extracted

# --- the same again ---

image driver.run --out image
expect_stdout "tree      /usr/local/cuda/compat"
expect_stdout 'verified: '
expect_stdout 'skopeo copy oci:image:latest docker://REGISTRY/NAME:550.54.15'
expect_equal "$(ls -A)" 'driver.run
extracted
image
there
tree'
expect_file image/index.json 0644
expect_equal "$(find image -type d -exec stat -c %a {} + | sort -u)" 755
# By another road, on another day, and as someone else.
mkdir -p elsewhere/deep
(
  umask 077
  cd elsewhere/deep
  TZ=Pacific/Apia LC_ALL=tr_TR.UTF-8 "$COMPATPACK" image ../../tree/ --out "$work/again" >"$work/out"
  cp -a ../../tree copy
  chmod 700 copy
  touch copy/*
  TZ=America/Lima LC_ALL=C "$COMPATPACK" image copy --out "$work/third" >"$work/out"
)
rm out
expect_same image again
expect_equal "$(find again -exec stat -c '%F %a' {} + | sort -u)" 'directory 755
regular file 644'
expect_same image third
chmod -R go+rX elsewhere
for format in archive layer; do
  image driver.run --format "$format" --out "one.$format"
  image tree --format "$format" --out "two.$format" --json
  expect_same "one.$format" "two.$format"
  expect_file "two.$format" 0644
done
expect_same one.layer "$(layer_of image)"
expect_equal "$(digest_of one.layer)" "$("$COMPATPACK" image tree --out image --json | grep -A1 '"layer"' | grep -o 'sha256:[0-9a-f]*')"
SOURCE_DATE_EPOCH=1700000000 image tree --out dated
expect_text "dated/blobs/sha256/$(manifest_of dated | cut -d: -f2)" '2023-11-14T22:13:20Z'
SOURCE_DATE_EPOCH=0 image tree --out zero
expect_same image zero
for bad in '' -1 1e9 ' 1' 99999999999; do
  expect_error 2 SOURCE_DATE_EPOCH -- env SOURCE_DATE_EPOCH="$bad" "$COMPATPACK" image tree --out bad
done

# --- what the layer holds ---

expect_equal "$(tar -tvf one.layer --numeric-owner | grep -v '^lrwx.*\.so' | awk '{ print $1, $2, $4, $5 }' | sort -u -k1,2 -k3,4)" \
  '-rw-r--r-- 0/0 1970-01-01 00:00
-rwxr-xr-x 0/0 1970-01-01 00:00
drwxr-xr-x 0/0 1970-01-01 00:00'
expect_equal "$(tar -tf one.layer | head -n 5)" 'usr/
usr/local/
usr/local/cuda/
usr/local/cuda/compat/
usr/local/cuda/compat/LICENSE'
expect_equal "$(tar -tf one.layer | LC_ALL=C sort)" "$(tar -tf one.layer)"
mkdir root
tar -xf one.layer -C root
# What extract makes for that place, scripts and receipt and all; modes as the umask here lets them be.
expect_same root/usr/local/cuda/compat there
expect_equal "$(find root -type f -name 'libcuda.so.*.*')" root/usr/local/cuda/compat/libcuda.so.550.54.15
expect_status 0 -- "$COMPATPACK" verify root/usr/local/cuda/compat
expect_stdout whole
expect_text root/usr/local/cuda/compat/env.csh /usr/local/cuda/compat
image tree --volume --prefix /opt/compat --format layer --out volume
expect_stdout '/opt/compat, where the image is to be mounted'
mkdir mounted
tar -xf volume -C mounted
expect_status 0 -- "$COMPATPACK" verify mounted
expect_text mounted/env.csh /opt/compat

# --- again, over what is there, and what is refused ---

image driver.run --out image
expect_stdout 'up to date'
image tree --out one.archive --format archive
expect_stdout 'up to date'
shown_all() { find . \( -type d -print \) -o -exec stat -c '%n %s %Y' {} + | sort; }
refuse() { # STATUS TEXT ARGUMENT...: and nothing is left or changed
  before=$(shown_all)
  status=$1
  text=$2
  shift 2
  expect_error "$status" "$text" -- "$COMPATPACK" image "$@"
  expect_stdout ''
  expect_equal "$(shown_all)" "$before"
}
echo mine >file
mkdir folder
echo mine >folder/file
ln -s nowhere dangling
refuse 1 'target holds another image' tree --out image --tag other
refuse 1 'target holds something else' tree --out one.layer --format layer --prefix /opt/x
refuse 1 'target holds something that compatpack did not make' tree --out folder --force
refuse 1 'target holds something that compatpack did not make' tree --out file --force
refuse 1 'target holds something that compatpack did not make' tree --out tree --force
refuse 1 'something that is no file' tree --out folder --format layer --force
refuse 1 'a link that leads nowhere' tree --out dangling --format layer --force
refuse 1 'Not a directory' tree --out file/x --format layer
refuse 1 'Not a directory' tree --out file/x --format archive --force
refuse 2 'not a tag' tree --out x --tag a/b
refuse 2 --base tree --out x --format layer --base image
refuse 2 --base tree --out x --volume --base image
refuse 2 --ld-library-path tree --out x --format layer --ld-library-path
refuse 2 --arch tree --out x --arch x86_64
refuse 2 --sha256 tree --out x --sha256 00
refuse 2 'not an absolute path' tree --out x --prefix compat
refuse 2 'not a folder in an image' tree --out x --prefix /
refuse 2 'not a folder in an image' tree --out x --prefix /opt/../etc
refuse 1 "system's library folders" tree --out x --prefix /usr/lib/compat
refuse 1 "system's library folders" tree --out x --prefix /./usr/lib/x
refuse 1 "system's library folders" tree --out x --prefix /././lib
refuse 2 'lies in what is to be read' tree --out tree/x
refuse 2 'lies in what is to be read' tree --out tree/new/x --format layer
refuse 2 'lies in what is to be read' tree --base image --out image/x
for prefix in /.wh.opt/x /opt/.wh.x /opt/.wh..wh..opq; do
  refuse 2 'would hide another one' tree --out x --prefix "$prefix"
done
refuse 3 'tar cannot hold this entry' tree --out x --prefix "/$(printf '%0200d' 0)/$(printf '%0200d' 0)"
refuse 3 '' folder --out x
refuse 1 '' absent --out x
cp -a tree unread
for receipt in '{}' '{' "$(head -c 200 tree/compatpack.json)"; do
  printf '%s' "$receipt" >unread/compatpack.json
  refuse 3 'not a compat tree' unread --out x
done
sed 's/"format": 1/"format": 2/' tree/compatpack.json >unread/compatpack.json
refuse 3 'a newer compatpack' unread --out x
rm unread/compatpack.json
mkfifo unread/compatpack.json
refuse 3 'not a compat tree' unread --out x
rm unread/compatpack.json
ln -s nowhere unread/compatpack.json
refuse 3 'not a compat tree' unread --out x
rm -r unread
refuse 4 MD5 driver.run --out x --md5 01234567890123456789012345678901
image tree --out image --tag other --force
expect_text image/index.json '"other"'
image tree --out file --format layer --force
expect_same file one.layer
expect_equal "$(find . -name '.*' ! -name .)" ''
# Several at once: one writes it, and the others find it.
mkdir once
for format in layout archive layer; do
  for number in 1 2 3 4; do
    "$COMPATPACK" image tree --format "$format" --out "once/$format" -q 2>"once.$number" &
    eval "run$number=$!"
  done
  # shellcheck disable=SC2154 # set by eval
  for run in "$run1" "$run2" "$run3" "$run4"; do
    wait "$run" || fail "several at once, $format" 'status 0' "$(cat once.?)"
  done
done
expect_equal "$(ls -A once)" 'archive
layer
layout'
rm -r once once.?
# What appears at the target while the image is made is not replaced unseen, though --force is there.
image tree --out meanwhile
LD_PRELOAD=$FAULT_SHIM FAULT_CALL=fsync FAULT_NUMBER=1 FAULT_HOW=stop \
  "$COMPATPACK" image tree --out meanwhile --tag other --force >said 2>&1 &
run=$!
until grep -q '^State:.T' "/proc/$run/status"; do sleep 0.05; done
rm -r meanwhile
mkdir meanwhile
echo mine >meanwhile/file
kill -CONT "$run"
status=0
wait "$run" || status=$?
expect_equal "$status" 1
expect_text said 'target holds something that compatpack did not make'
expect_equal "$(ls -A meanwhile)" file
rm -r meanwhile said
# Two images in a layout, or a file beside one: not ours to replace.
cp -a image added
echo mine >added/blobs/sha256/mine
refuse 1 'files that are not of its image' tree --out added --force
# A layout that is damaged is mended by --force alone.
: >"$(layer_of image)"
refuse 1 'a damaged one' tree --out image --tag other
image tree --out image --tag other --force
image tree --out image --tag other
expect_stdout 'up to date'

# --- a damaged tree ---

damaged() { # TEXT: of the tree at bad, whatever is made of it, and whether its scripts are made anew or not
  for format in layout archive layer; do
    for prefix in /usr/local/cuda/compat /opt/compat; do
      refuse 4 "$1" bad --out x --format "$format" --prefix "$prefix"
    done
  done
  rm -rf bad
}
poke() { # FILE: one of its bytes is another
  printf '\001' | dd of="$1" bs=1 seek=600 conv=notrunc status=none
}
copy_tree() { cp -a there bad; }
copy_tree
poke bad/libcuda.so.550.54.15
damaged 'has other content'
copy_tree
poke bad/env.csh
damaged 'has other content'
copy_tree
: >bad/LICENSE
damaged 'has another size'
cp -rL there bad
damaged 'verify --repair'
copy_tree
rm bad/libcuda.so.1
damaged 'is missing'
copy_tree
rm bad/LICENSE
mkfifo bad/LICENSE
damaged 'is not a file'
cp -a tree bad
: >bad/notes
image bad --out noted
expect_stderr 'bad/notes is not of this tree, and left out'
expect_same noted zero

# --- a full disk ---

# Each write fails in turn: then nothing is left, neither of the image nor of the bundle's tree.
mkdir full
walk() { # SOURCE CALL HOW OPTION...
  source=$1
  call=$2
  how=$3
  shift 3
  number=1
  while :; do
    rm -f reached
    status=0
    LD_PRELOAD=$FAULT_SHIM FAULT_NO_WAIT=1 FAULT_REACHED=reached FAULT_CALL=$call FAULT_HOW=$how FAULT_NUMBER=$number \
      "$COMPATPACK" image "$source" --out full/x "$@" -q >out 2>err || status=$?
    [ -s reached ] || break
    case $status in
      0) rm -r full/x ;;
      1) expect_text err 'compatpack: error: ' ;;
      *) fail "$call $number" 'status 0 or 1' "$status: $(cat err)" ;;
    esac
    expect_equal "$call $number: $(ls -A full)" "$call $number: "
    faults=$((faults + 1))
    number=$((number * 4 / 3 + 1))
  done
  expect_equal "$status: $(ls -A full)" '0: x'
  rm -r full/x
}
if grep -q __asan_init "$COMPATPACK"; then
  echo 'left out: faults, with a sanitizer'
else
  faults=0
  for format in layout archive layer; do
    walk tree write ENOSPC --format "$format"
    walk tree fsync EIO --format "$format"
    walk tree renameat2 EIO --format "$format"
  done
  walk driver.run write ENOSPC
  walk driver.run openat EMFILE --format archive
  walk tree renameat2 EINVAL --format layer
  [ "$faults" -gt 50 ] || fail 'the walk' 'more than 50 faults' "$faults"
  echo "$faults faults"
fi
rm -f out err reached
# On disk before it is seen: each file and folder was waited for after its last change.
settled() { # FORMAT NAME...: what must have been, and the line that it must come before
  LD_PRELOAD=$FAULT_SHIM FAULT_LOG=log "$COMPATPACK" image tree --out full/x --format "$1" -q
  shift
  for name; do
    awk -v name="$name" '
      BEGIN { bad = 1 }
      END { exit bad }
      { call = $1; sub(/^[^ ]* /, "") }
      index($0, ".compatpack-staging-") == 0 { next }
      call == "rename" && / -> x$/ { bad = !settled; exit }
      { path = $0; sub(/ -> .*/, "", path); sub(/.*\.compatpack-staging-[a-z2-7]*/, "", path) }
      call != "fsync" && index(path "/", name "/") == 1 { settled = 0 }
      call == "fsync" && path == name { settled = 1 }' log || fail "fsync of [$name]" 'before it appears' "$(cat log)"
  done
  rm -r full/x log
}
settled layer ''
settled archive ''
settled layout '' /blobs /blobs/sha256 /index.json /oci-layout

# What a killed run has left goes with the next.
mkdir full/.x.compatpack-staging-abcdef
: >full/.x.compatpack-staging-ghijkl
image tree --out full/x --format layer
expect_equal "$(ls -A full)" x

# --- skopeo ---

copy() { skopeo --insecure-policy copy -q "$@" >copied 2>&1 || fail "skopeo copy $*" 'status 0' "$(cat copied)"; }
if has skopeo skopeo; then
  expect_status 0 -- skopeo --insecure-policy inspect --no-tags oci:zero
  expect_stdout '"Digest": "'"$(manifest_of zero)"'"'
  expect_stdout '"Architecture": "amd64"'
  expect_stdout '"compatpack.driver": "550.54.15"'
  expect_stdout '"compatpack.bundle": "driver.run"'
  expect_stdout '"compatpack.bundle.sha256": "'"$(digest_of driver.run | cut -d: -f2)"'"'
  expect_stdout '"org.opencontainers.image.version": "550.54.15"'
  expect_stdout '"Env": null'
  # By itself skopeo compresses layers on the way.
  copy --preserve-digests oci:zero oci:copied-layout:latest
  expect_equal "$(manifest_of copied-layout)" "$(manifest_of zero)"
  expect_same "$(layer_of copied-layout)" one.layer
  copy --preserve-digests oci-archive:one.archive oci:copied-archive:latest
  expect_equal "$(manifest_of copied-archive)" "$(manifest_of zero)"
fi

# --- umoci ---

if has umoci umoci; then
  umoci --log=error unpack --rootless --image zero unpacked
  expect_same unpacked/rootfs/usr/local/cuda/compat there
  expect_file unpacked/rootfs/usr/local/cuda/compat/libcuda.so.550.54.15 0755
  expect_status 0 -- "$COMPATPACK" verify unpacked/rootfs/usr/local/cuda/compat
fi

# --- on a base ---

# What somebody has put on top of it is theirs.
if has 'a layer on top' umoci; then
  image tree --out topped
  tar -cf more.tar file
  umoci --log=error raw add-layer --image topped:latest more.tar
  umoci --log=error gc --layout topped
  refuse 1 'an image that something was added to' tree --out topped --force
fi

if has --base 'umoci skopeo'; then
  mkdir rootfs
  echo base >rootfs/of-base
  tar -C rootfs --owner=0 --group=0 -cf rootfs.tar of-base
  umoci --log=error init --layout base
  umoci --log=error new --image base:one
  umoci --log=error config --image base:one --os linux --architecture amd64 --config.env A=b --config.user 7 \
    --config.env LD_LIBRARY_PATH=/of/base --config.label own=kept --config.entrypoint /bin/run
  umoci --log=error raw add-layer --image base:one rootfs.tar
  umoci --log=error gc --layout base
  image driver.run --base base --out based
  expect_status 0 -- skopeo --insecure-policy inspect --config oci:based
  expect_stdout '"LD_LIBRARY_PATH=/of/base"'
  expect_stdout '"User": "7"'
  expect_stdout '"/bin/run"'
  expect_stdout '"own": "kept"'
  expect_stdout '"compatpack.driver": "550.54.15"'
  image driver.run --base base --ld-library-path --out based --force
  expect_status 0 -- skopeo --insecure-policy inspect --config oci:based
  expect_stdout '"LD_LIBRARY_PATH=/usr/local/cuda/compat:/of/base"'
  expect_stdout '"A=b"'
  umoci --log=error unpack --rootless --image based both
  expect_text both/rootfs/of-base base
  expect_same both/rootfs/usr/local/cuda/compat there
  image driver.run --base base --ld-library-path --out based.tar --format archive
  copy --preserve-digests oci-archive:based.tar oci:copied-based:latest
  expect_equal "$(manifest_of copied-based)" "$(manifest_of based)"
  # On an image that has the very layer.
  image tree --base zero --out twice
  copy oci:twice oci:copied-twice:latest
  image tree --base twice --out thrice
  expect_equal "$(tr ',' '\n' <"thrice/blobs/sha256/$(manifest_of thrice | cut -d: -f2)" | grep -c layer.v1)" 3
  expect_equal "$(layer_of thrice | wc -l)" 2
  # An older tree there is hidden, file by file.
  "$FIXTURE_TOOL" nvidia-run --version 535.54.03 --filler 3000 --out older.run
  image older.run --out older
  image tree --base older --out newer
  umoci --log=error unpack --rootless --image newer newer-root
  expect_same newer-root/rootfs/usr/local/cuda/compat there
  # Folders of the base stay as they are, and links in it are not replaced.
  mkdir -p linked/tmp linked/usr/local/cuda-12.4/lib64
  chmod 1777 linked/tmp
  chmod 711 linked/usr
  ln -s cuda-12.4 linked/usr/local/cuda
  tar -C linked --owner=7 --group=8 -cf linked.tar .
  umoci --log=error new --image base:linked
  umoci --log=error config --image base:linked --os linux --architecture amd64
  umoci --log=error raw add-layer --image base:linked linked.tar
  copy oci:base:linked oci:linked-base:latest
  refuse 1 'a link to cuda-12.4' tree --base linked-base --out x
  image tree --base linked-base --prefix /usr/local/cuda-12.4/compat --out linked-image
  expect_equal "$(tar -tvf "$(layer_of linked-image)" --numeric-owner | head -n 2 | awk '{ print $1, $2, $6 }')" 'drwx--x--x 7/8 usr/
drwxr-xr-x 7/8 usr/local/'
  image tree --base linked-base --prefix /tmp/compat --out linked-image --force
  expect_equal "$(tar -tvf "$(layer_of linked-image)" --numeric-owner | head -n 1 | awk '{ print $1, $2, $6 }')" 'drwxrwxrwt 7/8 tmp/'
  image tree --base twice --out thrice.tar --format archive
  expect_equal "$(tar -tf thrice.tar | sort | uniq -d)" ''
  copy --preserve-digests oci-archive:thrice.tar oci:copied-thrice:latest
  expect_equal "$(manifest_of copied-thrice)" "$(manifest_of thrice)"
  # Several images, and none that fits.
  umoci --log=error config --image base:one --tag two --config.env A=c
  refuse 3 'several images' driver.run --out x --base base
  "$FIXTURE_TOOL" nvidia-run --version 550.54.15 --arch aarch64 --out arm.run
  refuse 3 'no image for the tree' arm.run --arch aarch64 --out x --base zero
  expect_stderr 'one image for linux/arm64'
  expect_stderr 'none linux/amd64'
  # A base that lies.
  blob=$(layer_of zero)
  cp -a zero lying
  poke "lying/${blob#zero/}"
  refuse 4 'blob does not match its digest' tree --out x --base lying
  refuse 4 'blob does not match its digest' tree --out x --base lying --format archive
fi

# --- a registry ---

if has 'a registry' 'skopeo docker-registry'; then
  mkdir registry
  cat >registry.yml <<END
version: 0.1
log: {level: info, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: '127.0.0.1:0'}
END
  : >registry.log # which is looked at before the program has opened it
  docker-registry serve registry.yml >registry.log 2>&1 &
  registry=$!
  port=
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    port=$(sed -n 's/.*listening on 127\.0\.0\.1:\([0-9]*\).*/\1/p' registry.log)
    [ -z "$port" ] || break
    sleep 0.2
  done
  [ -n "$port" ] || fail docker-registry 'to listen' "$(cat registry.log)"
  at="docker://127.0.0.1:$port/compat:550.54.15"
  copy --dest-tls-verify=false oci:zero "$at"
  expect_status 0 -- skopeo --insecure-policy inspect --tls-verify=false "$at"
  expect_stdout '"compatpack.driver": "550.54.15"'
  copy --src-tls-verify=false "$at" oci:pulled:latest
  if has 'to unpack what was pulled' umoci; then
    umoci --log=error unpack --rootless --image pulled pulled-root
    expect_same pulled-root/rootfs/usr/local/cuda/compat there
  fi
  copy --preserve-digests --dest-tls-verify=false oci:zero "$at"
  copy --preserve-digests --src-tls-verify=false "$at" oci:kept:latest
  expect_equal "$(manifest_of kept)" "$(manifest_of zero)"
fi
