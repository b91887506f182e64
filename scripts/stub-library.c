// SPDX-License-Identifier: Apache-2.0
//
// Stands in for a library of a driver where none is at hand. It knows its CUDA version and no GPU.
int cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return 0;
}

int cuInit(unsigned flags) {
  (void)flags;
  return 100;  // CUDA_ERROR_NO_DEVICE
}
