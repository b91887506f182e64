// SPDX-License-Identifier: Apache-2.0

// Prints the driver version that a bundle's header says: driver_version BUNDLE
//
//   c++ -o driver_version driver_version.cpp $(pkg-config --cflags --libs compatpack)

#include <iostream>

#include <compatpack/pipeline/bundle.hpp>

int main(int argc, char** argv) {
  const auto bundle =
      compatpack::pipeline::Bundle::open(argc > 1 ? argv[1] : "", nullptr, compatpack::Limits());
  if (!bundle) {
    std::cerr << compatpack::render(bundle.error());
    return compatpack::exit_status(bundle.error().code);
  }
  const auto& driver = (*bundle)->info().driver;
  std::cout << (driver ? driver->text() : "unknown") << '\n';
}
