// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/digesting_source.hpp"

namespace compatpack::io {

Result<std::size_t> DigestingSource::read(std::span<std::byte> into) {
  CP_TRY(const std::size_t count, inner_.read(into));
  digest_.update(into.first(count));
  return count;
}

}  // namespace compatpack::io
