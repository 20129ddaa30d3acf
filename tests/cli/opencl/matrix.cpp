// C = A · B for matrices of 32 × 32, by tiles of 16 × 16 in local memory.
#include "host.h"

namespace {

const char* const kSource = R"(
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void multiply(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float tile_a[TILE][TILE], tile_b[TILE][TILE];
  int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    tile_a[y][x] = a[row * n + t * TILE + x];
    tile_b[y][x] = b[(t * TILE + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
)";

}  // namespace

int main() {
  constexpr int kN = 32;
  constexpr size_t kSide = kN;
  const Host host;
  std::vector<float> a(kSide * kSide), b(kSide * kSide);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  cl_mem in_a = host.copy_of(a), in_b = host.copy_of(b), out = host.buffer(sizeof(float) * kSide * kSide);
  cl_kernel multiply = host.kernel(kSource, "multiply", "-DTILE=16");
  set(multiply, 0, in_a);
  set(multiply, 1, in_b);
  set(multiply, 2, out);
  set(multiply, 3, kN);
  host.run(multiply, {kSide, kSide}, {});  // the kernel says its workgroup
  const std::vector<float> c = host.contents<float>(out, kSide * kSide);
  bool right = true;
  for (size_t row = 0; row < kSide; ++row) {
    for (size_t column = 0; column < kSide; ++column) {
      float sum = 0;
      for (size_t k = 0; k < kSide; ++k) sum += a[row * kSide + k] * b[k * kSide + column];
      right = right && c[row * kSide + column] == sum;
    }
  }
  return say(right);
}
