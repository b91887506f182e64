#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# examples/ for containers: Charliecloud for real, where it is installed and user namespaces are
# allowed; Apptainer and enroot with made-up programs, as neither is in Debian, but what they would run
# is run; for Kubernetes the commands of the pods, and that the files say what a pod may say.
# (examples/dockerfile/ is scripts/try-image's.)
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

command -v bash >/dev/null || skip 'no bash'
examples=$REPO/examples
plain_work
"$FIXTURE_TOOL" nvidia-run --version 550.54.15 --out driver.run --file "libcuda.so.550.54.15=$CUDA_STUB"
tree=$work/550.54.15
"$COMPATPACK" extract driver.run --quiet --no-sync --out "$tree"
# env.sh asks a made-up host.
host=$work/host-driver
sed -i "s#/sys/module/nvidia/version#$host#g; s#/proc/driver/nvidia/version#/nowhere#g" "$tree/env.sh"
echo 535.129.03 >"$host"
COMPATPACK_JOB_TREE=$work/current
export COMPATPACK_JOB_TREE
ln -s 550.54.15 "$work/current"
PATH=$work/bin:$PATH
unset LIBRARY_PATH
mkdir "$work/bin"

# made_up NAME: a program that writes its arguments to $work/NAME.args, one a line, and then does what
# stands on stdin.
made_up() {
  {
    printf '#!/bin/bash\nprintf "%%s\\n" "$@" >"%s"\n' "$work/$1.args"
    cat
  } >"$work/bin/$1"
  chmod 755 "$work/bin/$1"
}

# --- Apptainer ---

# It sets LD_LIBRARY_PATH, as --nv has it, and runs the command; /compat is where the tree was bound to.
made_up apptainer <<EOF
shift 5
export LD_LIBRARY_PATH=/image/lib:/.singularity.d/libs
exec "\${@//\/compat\/env.sh/$tree/env.sh}"
EOF
apptainer() { # STATUS CMD...
  wanted=$1
  shift
  expect_status "$wanted" -- "$examples/apptainer/with-compat" image.sif "$@"
}
apptainer 0 "$ENV_PROBE" env
expect_stdout "LD_LIBRARY_PATH=[$tree:/image/lib:/.singularity.d/libs]"
expect_equal "$(head -n 5 "$work/apptainer.args")" "exec
--nv
--bind
$COMPATPACK_JOB_TREE:/compat:ro
image.sif"
apptainer 0 "$ENV_PROBE" cuda
expect_stdout "[$tree/libcuda.so.1]"
echo 580.1 >"$host"
apptainer 0 "$ENV_PROBE" env
expect_stdout 'LD_LIBRARY_PATH=[/image/lib:/.singularity.d/libs]'
expect_stderr 'not activated'
echo 535.129.03 >"$host"
apptainer 7 bash -c 'exit 7'
expect_status 2 -- "$examples/apptainer/with-compat" image.sif

# What the definition file says is run when the image is.
sed -n '/^%runscript$/,$p' "$examples/apptainer/compat.def" | sed "1d; s#/opt/compat#$tree#g" >runscript
expect_status 0 -- env LD_LIBRARY_PATH=/.singularity.d/libs sh runscript "$ENV_PROBE" env
expect_stdout "LD_LIBRARY_PATH=[$tree:/.singularity.d/libs]"
expect_equal "$(sed -n '/^%files$/{n;p;}' "$examples/apptainer/compat.def")" '    /apps/compat/550.54.15 /opt/compat'

# --- enroot ---

made_up enroot-mount <<EOF
cat >"$work/mounted"
EOF
hook() { # what the image says of its environment
  rm -f "$work/mounted"
  printf '%s\n' 'PATH=/bin' "$@" >"$work/environ"
  expect_status 0 -- env ENROOT_ROOTFS="$work/rootfs" ENROOT_ENVIRON="$work/environ" "$examples/enroot/90-compat.sh"
}
hook LD_LIBRARY_PATH=/before LD_LIBRARY_PATH=/image/lib NAME=value
expect_equal "$(cat "$work/environ")" 'PATH=/bin
NAME=value
LD_LIBRARY_PATH=/opt/compat:/image/lib
TRITON_LIBCUDA_PATH=/opt/compat
JULIA_CUDA_USE_COMPAT=false'
expect_equal "$(cat "$work/enroot-mount.args" "$work/mounted")" "--root
$work/rootfs
-
$COMPATPACK_JOB_TREE /opt/compat none x-create=dir,bind,ro,nosuid,nodev,private"
hook
expect_text "$work/environ" 'LD_LIBRARY_PATH=/opt/compat
'
# A job that has the tree active on the host gets it in its container all the same.
COMPATPACK_TREE=$COMPATPACK_JOB_TREE LD_LIBRARY_PATH=$COMPATPACK_JOB_TREE hook
expect_file "$work/mounted"
untouched() {
  hook "LD_LIBRARY_PATH=/image/lib"
  expect_equal "$(cat "$work/environ")" 'PATH=/bin
LD_LIBRARY_PATH=/image/lib'
  expect_no "$work/mounted"
}
COMPATPACK_MODE=off untouched
COMPATPACK_JOB_TREE=$work/absent untouched
echo 580.1 >"$host"
untouched
expect_stderr 'not activated'
COMPATPACK_TREE=$COMPATPACK_JOB_TREE LD_LIBRARY_PATH=$COMPATPACK_JOB_TREE untouched
echo 535.129.03 >"$host"

# --- Kubernetes ---

# pod FILE FIELD: the words of one list in a pod, one a line. It ends with an error where the file has a
# field that a pod cannot have, or mounts a volume that it does not name.
pod() {
  python3 - "$examples/kubernetes/$1" "$2" <<'EOF'
import sys, yaml

KNOWN = {
    "": {"apiVersion", "kind", "metadata", "spec"},
    "metadata": {"name"},
    "spec": {"restartPolicy", "initContainers", "containers", "volumes"},
    "containers": {"name", "image", "command", "args", "resources", "volumeMounts"},
    "resources": {"limits"},
    "limits": {"nvidia.com/gpu"},
    "volumeMounts": {"name", "mountPath", "subPath", "readOnly"},
    "volumes": {"name", "emptyDir", "image"},
    "image": {"reference", "pullPolicy"},
    "emptyDir": set(),
}

def check(value, where=""):
    if isinstance(value, list):
        for item in value:
            check(item, where)
    elif isinstance(value, dict):
        assert set(value) <= KNOWN[where], f"{where}: {set(value) - KNOWN[where]}"
        for name, inner in value.items():
            check(inner, "containers" if name == "initContainers" else name)

pod = yaml.safe_load(open(sys.argv[1]))
check(pod)
assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
spec = pod["spec"]
containers = {c["name"]: c for c in spec.get("initContainers", []) + spec["containers"]}
volumes = {v["name"] for v in spec["volumes"]}
mounted = {m["name"] for c in containers.values() for m in c["volumeMounts"]}
assert mounted == volumes, f"mounted {mounted}, there are {volumes}"
container = containers[sys.argv[2]]
print("\n".join(container["command"] + container.get("args", [])))
EOF
}
if python3 -c 'import yaml' 2>/dev/null; then
  pod init-container.yaml compat >"$work/words"
  mkdir "$work/volume"
  # shellcheck disable=SC2046 # one word a line, none with blanks
  expect_status 0 -- $(sed "s#^/usr/local/cuda/compat/#$tree/#; s#^/compat/#$work/volume/#" "$work/words")
  expect_same "$tree" "$work/volume"
  for file in init-container.yaml image-volume.yaml; do
    pod $file main >"$work/words"
    expect_equal "$(sed -n '1,2p; 4,$p' "$work/words")" 'bash
-c
bash
python
train.py'
    expect_status 0 -- bash -c "$(sed -n "3s#/compat/#$tree/#p" "$work/words")" bash "$ENV_PROBE" env
    expect_stdout "LD_LIBRARY_PATH=[$tree]"
  done
else
  echo 'left out: Kubernetes: no python3 with yaml'
fi

# --- Charliecloud ---

image=$work/image
# in_image PROGRAM...: copies it and what it is linked with.
in_image() {
  for program in "$@"; do
    cp "$program" "$image/bin/"
    for library in $(ldd "$program" 2>/dev/null | grep -o '/[^ ]*'); do
      mkdir -p "$image$(dirname "$library")"
      cp -L "$library" "$image$library"
    done
  done
}
for folder in bin dev etc home mnt proc sys tmp usr; do mkdir -p "$image/$folder"; done
in_image "$(command -v bash)" "$ENV_PROBE"
touch "$image/etc/passwd" "$image/etc/group" "$image/etc/hosts" "$image/etc/resolv.conf"
sed -i "s#$host#/etc/host-driver#g" "$tree/env.sh"
echo 535.129.03 >"$image/etc/host-driver"
USER=${USER:-nobody}
export USER
if ! command -v ch-run >/dev/null; then
  echo 'left out: Charliecloud is not installed'
elif ! said=$(ch-run "$image" -- /bin/bash -c : 2>&1); then
  echo "left out: Charliecloud does not run here: $said"
else
  charlie() { # STATUS CMD...
    wanted=$1
    shift
    expect_status "$wanted" -- "$examples/charliecloud/with-compat" "$image" "$@"
  }
  probe=/bin/${ENV_PROBE##*/}
  charlie 0 "$probe" cuda
  expect_stdout 'libcuda.so.1 is [/mnt/libcuda.so.1]'
  LD_LIBRARY_PATH=/image/lib charlie 0 "$probe" env
  expect_stdout 'LD_LIBRARY_PATH=[/mnt:/image/lib]'
  charlie 7 /bin/bash -c 'exit 7'
  COMPATPACK_MODE=off charlie 0 "$probe" cuda
  expect_stdout 'no libcuda.so.1'
  echo 580.1 >"$image/etc/host-driver"
  charlie 0 "$probe" cuda
  expect_stdout 'no libcuda.so.1'
  expect_stderr 'not activated'
fi
