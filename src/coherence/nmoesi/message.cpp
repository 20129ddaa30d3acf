#include "coherence/nmoesi/message.h"

namespace nearfar::nmoesi {

ByteMask Geometry::bytes_of(Mask mask) const {
  ByteMask bytes;
  for (; mask != 0; mask &= mask - 1) {
    bytes = bytes | ByteMask::range(static_cast<unsigned>(std::countr_zero(mask)) * granule, granule);
  }
  return bytes;
}

Mask Geometry::granules_of(const ByteMask& bytes) const {
  const unsigned granules = line_bytes / granule;
  if (bytes == ByteMask::all(line_bytes)) return granules == 64 ? ~Mask{0} : (Mask{1} << granules) - 1;
  Mask mask = 0;
  for (unsigned i = 0; i < granules; ++i) {
    if (!(bytes & ByteMask::range(i * granule, granule)).empty()) mask |= Mask{1} << i;
  }
  return mask;
}

bool Geometry::covers_granules(const ByteMask& bytes) const {
  return bytes == ByteMask::all(line_bytes) || bytes_of(granules_of(bytes)) == bytes;
}

void Geometry::overlay(LineImage& to, const LineImage& from, Mask mask) const {
  if (mask == 0) return;
  const ByteMask bytes = bytes_of(mask);
  if (from.is_uniform()) {
    to.write(bytes, from.uniform(), line_bytes);
  } else {
    to.set_each(line_bytes, [&](unsigned byte) { return bytes.test(byte) ? from.at(byte) : to.at(byte); });
  }
}

}  // namespace nearfar::nmoesi
