// SPDX-License-Identifier: Apache-2.0

// Prints the driver version that a bundle's header says: driver_version BUNDLE
//
//   c++ -o driver_version driver_version.cpp $(pkg-config --cflags --libs compatpack)
//
// or with the CMakeLists.txt beside it. Where `cmake --install` had a --prefix of its own, such as
// ~/.local, pkg-config needs PKG_CONFIG_PATH=~/.local/lib/pkgconfig, and CMake
// -DCMAKE_PREFIX_PATH=~/.local.

#include <iostream>

#include <compatpack/pipeline/bundle.hpp>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: driver_version BUNDLE\n";
    return 2;
  }
  const auto bundle = compatpack::pipeline::Bundle::open(argv[1], nullptr, compatpack::Limits());
  if (!bundle) {
    std::cerr << compatpack::render(bundle.error());
    return compatpack::exit_status(bundle.error().code);
  }
  const auto& driver = (*bundle)->info().driver;
  std::cout << (driver ? driver->text() : "unknown") << '\n';
}
