// One program for what others use: the argument says which.
#include <cstring>
#include <string>

#include "host.h"

namespace {

constexpr size_t kItems = 128;

std::vector<cl_int> numbers(size_t count = kItems) {
  std::vector<cl_int> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<cl_int>(i);
  return all;
}

const char* const kTwice = "__kernel void twice(__global int* x) { size_t i = get_global_id(0); x[i] = 2 * x[i]; }";

int twice_of(const Host& host, cl_mem buffer, cl_mem seen, size_t first, size_t items, std::vector<size_t> offset,
             std::vector<size_t> local) {
  cl_kernel twice = host.kernel(kTwice, "twice");
  set(twice, 0, buffer);
  host.run(twice, {items}, local, offset);
  const std::vector<cl_int> now = host.contents<cl_int>(seen, kItems);
  bool right = true;
  for (size_t i = 0; i < kItems; ++i) {
    const bool touched = i >= first && i < first + items;
    right = right && now[i] == static_cast<cl_int>(touched ? 2 * i : i);
  }
  return say(right);
}

/// Work-items of a part of the grid, by an offset.
int offset() {
  const Host host;
  std::vector<cl_int> x = numbers();
  cl_mem buffer = host.copy_of(x);
  return twice_of(host, buffer, buffer, 64, 64, {64}, {64});
}

/// No local size.
int no_local() {
  const Host host;
  std::vector<cl_int> x = numbers();
  cl_mem buffer = host.copy_of(x);
  return twice_of(host, buffer, buffer, 0, 96, {}, {});
}

/// A part of a buffer as a buffer.
int sub_buffer() {
  const Host host;
  std::vector<cl_int> x = numbers();
  cl_mem buffer = host.copy_of(x);
  const cl_buffer_region region{64 * sizeof(cl_int), 64 * sizeof(cl_int)};
  cl_int code = CL_SUCCESS;
  cl_mem part = clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  must(code, "sub-buffer");
  return twice_of(host, part, buffer, 64, 64, {}, {64});
}

/// The program's own memory as a buffer, and what the host does through maps.
int host_memory() {
  const Host host;
  std::vector<cl_int> x = numbers();
  cl_mem buffer = host.buffer(kItems * sizeof(cl_int), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, x.data());
  cl_kernel twice = host.kernel(kTwice, "twice");
  set(twice, 0, buffer);
  host.run(twice, {kItems}, {64});
  const auto map = [&](cl_map_flags flags, size_t first, size_t bytes) {
    cl_int code = CL_SUCCESS;
    void* at = clEnqueueMapBuffer(host.queue, buffer, CL_TRUE, flags, first, bytes, 0, nullptr, nullptr, &code);
    must(code, "map");
    return static_cast<cl_int*>(at);
  };
  cl_int* some = map(CL_MAP_WRITE, 256, 256);
  for (int i = 0; i < 64; ++i) some[i] = i;
  must(clEnqueueUnmapMemObject(host.queue, buffer, some, 0, nullptr, nullptr), "unmap");
  host.run(twice, {kItems}, {64});
  cl_int* all = map(CL_MAP_READ, 0, kItems * sizeof(cl_int));
  bool right = true;
  for (int i = 0; i < 128; ++i) right = right && all[i] == (i < 64 ? 4 * i : 2 * (i - 64));
  must(clEnqueueUnmapMemObject(host.queue, buffer, all, 0, nullptr, nullptr), "unmap");
  clFinish(host.queue);
  return say(right);
}

/// Two contexts with a buffer each, two queues in one of them, a copy and a fill.
int contexts() {
  const Host one, two;
  cl_command_queue other = clCreateCommandQueue(one.context, one.device, 0, nullptr);
  std::vector<cl_int> x = numbers();
  cl_mem first = one.copy_of(x), second = two.copy_of(x), third = one.buffer(kItems * sizeof(cl_int));
  const cl_int pattern = 7;
  must(clEnqueueFillBuffer(other, third, &pattern, sizeof pattern, 256, 256, 0, nullptr, nullptr), "fill");
  must(clEnqueueCopyBuffer(other, first, third, 0, 0, 256, 0, nullptr, nullptr), "copy");
  clFinish(other);
  const std::vector<cl_int> copied = one.contents<cl_int>(third, kItems);
  bool right = true;
  for (int i = 0; i < 128; ++i) right = right && copied[static_cast<size_t>(i)] == (i < 64 ? i : 7);
  if (!right) return say(false);
  twice_of(one, first, first, 0, kItems, {}, {64});
  return twice_of(two, second, second, 0, kItems, {}, {64});
}

/// Loads and stores of several sizes: doubles, vectors, three components, single bytes.
int sizes() {
  const Host host;
  const char* source = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void sizes(__global double* d, __global float4* v, __global float* three, __global uchar* c,
                    __global double8* wide) {
  size_t i = get_global_id(0);
  d[i] += 1;
  v[i] += (float4)(1, 2, 3, 4);
  vstore3(vload3(i, three) + 1, i, three);
  c[i] += 1;
  wide[i] += 1;
}
)";
  std::vector<cl_double> d(64, 1), wide(512, 3);
  std::vector<cl_float> v(256, 1), three(192, 2);
  std::vector<cl_uchar> c(64, 9);
  cl_mem in_d = host.copy_of(d), in_v = host.copy_of(v), in_three = host.copy_of(three), in_c = host.copy_of(c);
  cl_mem in_wide = host.copy_of(wide);
  cl_kernel sizes = host.kernel(source, "sizes");
  set(sizes, 0, in_d);
  set(sizes, 1, in_v);
  set(sizes, 2, in_three);
  set(sizes, 3, in_c);
  set(sizes, 4, in_wide);
  host.run(sizes, {64}, {64});
  return say(host.contents<cl_double>(in_d, 64)[63] == 2 && host.contents<cl_float>(in_v, 256)[255] == 5 &&
             host.contents<cl_float>(in_three, 192)[191] == 3 && host.contents<cl_uchar>(in_c, 64)[63] == 10 &&
             host.contents<cl_double>(in_wide, 512)[511] == 4);
}

/// An asynchronous copy into local memory, and constants that all work-items read.
int constants() {
  const Host host;
  const char* source = R"(
__constant int kWeights[4] = {3, 5, 7, 11};
__kernel void weigh(__global const int* x, __global int* y, __constant int* factor, __local int* own) {
  event_t copied = async_work_group_copy(own, x + get_group_id(0) * 64, 64, 0);
  wait_group_events(1, &copied);
  int i = get_local_id(0), sum = 0;
  for (int k = 0; k < 4; ++k) sum += own[(i + k) % 64] * kWeights[(get_group_id(0) + k) % 4];
  y[get_global_id(0)] = sum * factor[0];
}
)";
  std::vector<cl_int> x = numbers(), factor{2};
  cl_mem in = host.copy_of(x), out = host.buffer(kItems * sizeof(cl_int)), by = host.copy_of(factor);
  cl_kernel weigh = host.kernel(source, "weigh");
  set(weigh, 0, in);
  set(weigh, 1, out);
  set(weigh, 2, by);
  must(clSetKernelArg(weigh, 3, 64 * sizeof(cl_int), nullptr), "local memory");
  host.run(weigh, {kItems}, {64});
  const int weights[4] = {3, 5, 7, 11};
  const std::vector<cl_int> y = host.contents<cl_int>(out, kItems);
  bool right = true;
  for (size_t g = 0; g < 2; ++g) {
    for (size_t i = 0; i < 64; ++i) {
      int sum = 0;
      for (size_t k = 0; k < 4; ++k) sum += x[g * 64 + (i + k) % 64] * weights[(g + k) % 4];
      right = right && y[g * 64 + i] == 2 * sum;
    }
  }
  return say(right);
}

/// Work-items that part: nested branches, an early return, a function that both sides call, a loop of different length.
int parting() {
  const Host host;
  const char* source = R"(
__attribute__((noinline)) int look(__global const int* x, int i) { return x[i] + 1; }
__kernel void part(__global const int* x, __global int* y, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  int sum = 0;
  if (i % 2 == 0) {
    sum = look(x, i);
    if (i % 4 == 0) sum += x[i + 1];
  } else {
    sum = look(x, i - 1);
  }
  for (int k = 0; k < i % 3; ++k) sum += x[k];
  y[i] = sum;
}
)";
  std::vector<cl_int> x = numbers();
  cl_mem in = host.copy_of(x), out = host.buffer(kItems * sizeof(cl_int));
  cl_kernel part = host.kernel(source, "part");
  set(part, 0, in);
  set(part, 1, out);
  set(part, 2, cl_int{100});
  host.run(part, {kItems}, {64});
  const std::vector<cl_int> y = host.contents<cl_int>(out, kItems);
  bool right = true;
  for (int i = 0; i < 100; ++i) {
    int sum = i % 2 == 0 ? i + 1 : i;
    if (i % 4 == 0) sum += i + 1;
    for (int k = 0; k < i % 3; ++k) sum += k;
    right = right && y[static_cast<size_t>(i)] == sum;
  }
  return say(right);
}

/// Reads behind the end of its buffer.
int outside() {
  const Host host;
  std::vector<cl_int> x = numbers();
  cl_mem in = host.copy_of(x), out = host.buffer(kItems * sizeof(cl_int));
  cl_kernel next = host.kernel(
      "__kernel void next(__global int* x, __global int* y) { size_t i = get_global_id(0); y[i] = x[i + 1]; }", "next");
  set(next, 0, in);
  set(next, 1, out);
  host.run(next, {kItems}, {64});
  return say(host.contents<cl_int>(out, kItems)[0] == 1);
}

int image() {
  const Host host;
  const cl_image_format format{CL_R, CL_FLOAT};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = 8;
  cl_int code = CL_SUCCESS;
  cl_mem picture = clCreateImage(host.context, CL_MEM_READ_ONLY, &format, &description, nullptr, &code);
  must(code, "image");
  cl_mem out = host.buffer(64 * sizeof(cl_float));
  cl_kernel read = host.kernel(R"(
__constant sampler_t kNearest = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST;
__kernel void look(read_only image2d_t picture, __global float* y) {
  int i = get_global_id(0);
  y[i] = read_imagef(picture, kNearest, (int2)(i % 8, i / 8)).x;
}
)",
                               "look");
  set(read, 0, picture);
  set(read, 1, out);
  host.run(read, {64}, {64});
  return say(true);
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "offset") return offset();
  if (what == "no-local") return no_local();
  if (what == "sub-buffer") return sub_buffer();
  if (what == "host-memory") return host_memory();
  if (what == "contexts") return contexts();
  if (what == "sizes") return sizes();
  if (what == "constants") return constants();
  if (what == "parting") return parting();
  if (what == "outside") return outside();
  if (what == "image") return image();
  if (what == "no-kernel") {
    const Host host;
    return say(host.buffer(64) != nullptr);
  }
  if (what == "exit") {
    offset();
    return 3;
  }
  if (what == "crash") {
    offset();
    std::abort();
  }
  std::fprintf(stderr, "there is no feature `%s`\n", what.c_str());
  return 9;
}
