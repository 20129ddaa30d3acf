// c[i] = a[i] + b[i] for 1000 elements: the last wavefront is not full.
#include "host.h"

namespace {

const char* const kSource = R"(
__kernel void add(__global const float* a, __global const float* b, __global float* c, int n) {
  int i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}
)";

}  // namespace

int main() {
  constexpr int kElements = 1000;
  const Host host;
  std::vector<float> a(kElements), b(kElements);
  for (int i = 0; i < kElements; ++i) {
    a[static_cast<size_t>(i)] = static_cast<float>(i);
    b[static_cast<size_t>(i)] = static_cast<float>(2 * i);
  }
  cl_mem in_a = host.copy_of(a), in_b = host.buffer(sizeof(float) * kElements);
  cl_mem out = host.buffer(sizeof(float) * kElements, CL_MEM_WRITE_ONLY);
  must(clEnqueueWriteBuffer(host.queue, in_b, CL_TRUE, 0, sizeof(float) * kElements, b.data(), 0, nullptr, nullptr),
       "write");
  cl_kernel add = host.kernel(kSource, "add");
  set(add, 0, in_a);
  set(add, 1, in_b);
  set(add, 2, out);
  set(add, 3, kElements);
  host.run(add, {1024}, {256});
  const std::vector<float> sum = host.contents<float>(out, kElements);
  bool right = true;
  for (int i = 0; i < kElements; ++i) right = right && sum[static_cast<size_t>(i)] == static_cast<float>(3 * i);
  return say(right);
}
