// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <clocale>

#include <doctest/doctest.h>

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // as the program does
  return doctest::Context(argc, argv).run();
}
