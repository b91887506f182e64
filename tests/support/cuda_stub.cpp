// SPDX-License-Identifier: Apache-2.0

// A libcuda.so.1 that only knows its version, for tests of which library the loader takes.

extern "C" int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}
