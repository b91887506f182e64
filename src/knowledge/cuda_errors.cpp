// SPDX-License-Identifier: Apache-2.0
#include "compatpack/knowledge/cuda_errors.hpp"

#include <array>

namespace compatpack::knowledge {
namespace {

// Codes and names are the CUDA driver API's (CUresult). What 803 and 804 mean for forward
// compatibility is said on NVIDIA's forward-compatibility page; 802 and 805 are read from reports.
constexpr auto kErrors = std::to_array<CudaErrorRow>({
    {0, "CUDA_SUCCESS", "it works", ""},
    {1, "CUDA_ERROR_INVALID_VALUE", "an argument was refused", ""},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "the GPU has no memory left for so little",
     "see what else runs on it, and try again"},
    {3, "CUDA_ERROR_NOT_INITIALIZED",
     "the driver could not start; so it answers on some hosts that are older than it accepts",
     "see what `compatpack check` says of this host's driver"},
    {34, "CUDA_ERROR_STUB_LIBRARY",
     "the toolkit's stub was loaded, which is for linking programs and cannot run them",
     "take the stubs folder out of LD_LIBRARY_PATH"},
    {35, "CUDA_ERROR_INSUFFICIENT_DRIVER", "the program needs a newer driver than was loaded",
     "activate a tree of a newer driver"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "the call needs a newer driver than was loaded",
     "activate a tree of a newer driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the GPU is busy, or in a mode that allows no one else",
     "see what else runs on it (nvidia-smi)"},
    {100, "CUDA_ERROR_NO_DEVICE", "no GPU is visible to this process",
     "run it where a GPU is: within a job, or in a container that was given one; and look at "
     "CUDA_VISIBLE_DEVICES"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "a GPU that was asked for does not exist",
     "look at CUDA_VISIBLE_DEVICES"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "the device code could not be read", ""},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "there is no context on the GPU", ""},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "there is no device code for this GPU",
     "this GPU is of an architecture that the driver in the tree no longer drives"},
    {218, "CUDA_ERROR_INVALID_PTX", "the JIT compiler refused the PTX", ""},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "libnvidia-ptxjitcompiler.so.1 was not found",
     "the tree lacks its JIT compiler: see `compatpack verify TREE`, and extract again"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the PTX is newer than the JIT compiler that was loaded",
     "the JIT compiler is of an older driver: see which libnvidia-ptxjitcompiler.so.1 was loaded"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "JIT compilation is switched off",
     "unset CUDA_DISABLE_PTX_JIT"},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "a library lacks a symbol",
     "the libraries are of more than one driver: extract the tree again"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "a library could not be started",
     "see `compatpack verify TREE`"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "the operating system refused a call",
     "see whether this user may open /dev/nvidiactl and /dev/nvidia0, and limits on memory"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "the kernel touched memory that is not its own", ""},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "the kernel failed on the GPU",
     "look for Xid messages in the kernel's log (dmesg)"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "the operation is not permitted",
     "see whether this user may open /dev/nvidiactl and /dev/nvidia0"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "the operation is not supported here", ""},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY",
     "the system is not ready: often NVSwitch without the fabric manager",
     "ask whether nvidia-fabricmanager runs, in the version of the host's kernel driver"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "this libcuda and the kernel driver are not a pair that is allowed",
     "use a tree whose driver is newer and accepts this host's branch, or none: see `compatpack "
     "check` "
     "and `compatpack matrix`"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "forward compatibility is not for a GPU that is visible, such as a GeForce",
     "hide that GPU with CUDA_VISIBLE_DEVICES if another is there, else deactivate the tree"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "the MPS server could not be reached",
     "MPS and its clients must use the same driver libraries: stop MPS, or start it with the tree "
     "active"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", "the MPS server does not answer", "restart MPS"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "the MPS server is not ready", "try again"},
    {999, "CUDA_ERROR_UNKNOWN", "the driver does not say why",
     "see whether /dev/nvidia-uvm is there (nvidia-modprobe -u makes it), and the kernel's log "
     "(dmesg)"},
});

}  // namespace

CudaErrorRow cuda_error(int code) {
  for (const CudaErrorRow& row : kErrors) {
    if (row.code == code) {
      return row;
    }
  }
  return {code, "an error that compatpack does not know", "its number is all that is known", ""};
}

}  // namespace compatpack::knowledge
