// A histogram of 16 bins: each workgroup of 128 counts in local memory, and adds what it has found to the result.
// Work-item i of a workgroup looks at i % 4 + 1 values, so that the work-items of a wavefront leave their loops at
// different times.
#include "host.h"

namespace {

const char* const kSource = R"(
__kernel void count(__global const uint* values, __global uint* bins, __local uint* own) {
  uint i = get_local_id(0);
  if (i < 16) own[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint first = get_global_id(0) * 4;
  for (uint k = 0; k <= i % 4; ++k) atomic_inc(&own[values[first + k] % 16]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < 16) atomic_add(&bins[i], own[i]);
}
)";

}  // namespace

int main() {
  constexpr size_t kItems = 512, kGroup = 128, kBins = 16;
  const Host host;
  std::vector<cl_uint> values(4 * kItems), expected(kBins), zero(kBins);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<cl_uint>(i * i + 7 * i);
  for (size_t i = 0; i < kItems; ++i) {
    for (size_t k = 0; k <= i % kGroup % 4; ++k) ++expected[values[4 * i + k] % kBins];
  }
  cl_mem in = host.copy_of(values), bins = host.copy_of(zero);
  cl_kernel count = host.kernel(kSource, "count");
  set(count, 0, in);
  set(count, 1, bins);
  must(clSetKernelArg(count, 2, sizeof(cl_uint) * kBins, nullptr), "local memory");
  host.run(count, {kItems}, {kGroup});
  return say(host.contents<cl_uint>(bins, kBins) == expected);
}
