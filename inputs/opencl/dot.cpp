// The tutorial's program (docs/opencl.md): the dot product of two vectors in OpenCL. Each workgroup of 256 adds up its
// part in local memory, and the host adds what the workgroups have found.
//
//   g++ dot.cpp -lOpenCL -o dot && ./dot 65536
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static const char* const source = R"(
__kernel void dot_product(__global const float* a, __global const float* b, __global float* partial,
                          __local float* sums) {
  int i = get_local_id(0);
  sums[i] = a[get_global_id(0)] * b[get_global_id(0)];
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < width) sums[i] += sums[i + width];
  }
  if (i == 0) partial[get_group_id(0)] = sums[0];
}
)";

int main(int count, char** words) {
  const size_t n = count > 1 ? strtoul(words[1], nullptr, 10) : 65536, group = 256, groups = n / group;
  std::vector<float> a(n, 0.5f), b(n, 2.0f), partial(groups);

  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    fprintf(stderr, "There is no OpenCL device.\n");
    return 1;
  }
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
  cl_mem in_a = clCreateBuffer(context, CL_MEM_READ_ONLY, n * sizeof(float), nullptr, nullptr);
  cl_mem in_b = clCreateBuffer(context, CL_MEM_READ_ONLY, n * sizeof(float), nullptr, nullptr);
  cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, groups * sizeof(float), nullptr, nullptr);
  clEnqueueWriteBuffer(queue, in_a, CL_TRUE, 0, n * sizeof(float), a.data(), 0, nullptr, nullptr);
  clEnqueueWriteBuffer(queue, in_b, CL_TRUE, 0, n * sizeof(float), b.data(), 0, nullptr, nullptr);

  cl_program program = clCreateProgramWithSource(context, 1, const_cast<const char**>(&source), nullptr, nullptr);
  if (clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) {
    fprintf(stderr, "The kernel cannot be built.\n");
    return 1;
  }
  cl_kernel kernel = clCreateKernel(program, "dot_product", nullptr);
  clSetKernelArg(kernel, 0, sizeof in_a, &in_a);
  clSetKernelArg(kernel, 1, sizeof in_b, &in_b);
  clSetKernelArg(kernel, 2, sizeof out, &out);
  clSetKernelArg(kernel, 3, group * sizeof(float), nullptr);
  clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &n, &group, 0, nullptr, nullptr);
  clEnqueueReadBuffer(queue, out, CL_TRUE, 0, groups * sizeof(float), partial.data(), 0, nullptr, nullptr);

  float sum = 0;
  for (const float each : partial) sum += each;
  printf("%g\n", static_cast<double>(sum));
  return sum == static_cast<float>(n) ? 0 : 1;
}
