// What the small OpenCL programs of the tests share: a device, kernels built from source, and an end at the first
// error.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

inline void must(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what, code);
  std::exit(9);
}

inline cl_device_id first_device() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  must(clGetPlatformIDs(1, &platform, nullptr), "platform");
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "device");
  return device;
}

/// A context with a queue.
struct Host {
  cl_device_id device = first_device();
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);

  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }

  cl_mem buffer(size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE, void* from = nullptr) const {
    cl_int code = CL_SUCCESS;
    cl_mem made = clCreateBuffer(context, flags, bytes, from, &code);
    must(code, "buffer");
    return made;
  }
  template <class T>
  cl_mem copy_of(std::vector<T>& data) const {
    return buffer(data.size() * sizeof(T), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, data.data());
  }
  template <class T>
  std::vector<T> contents(cl_mem from, size_t count) const {
    std::vector<T> data(count);
    must(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, count * sizeof(T), data.data(), 0, nullptr, nullptr), "read");
    return data;
  }

  cl_kernel kernel(const char* source, const char* name, const char* options = "") const {
    cl_int code = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
    if (clBuildProgram(program, 1, &device, options, nullptr, nullptr) != CL_SUCCESS) {
      char log[4096] = "";
      clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr);
      std::fprintf(stderr, "%s\n", log);
      std::exit(9);
    }
    cl_kernel made = clCreateKernel(program, name, &code);
    must(code, name);
    return made;
  }

  void run(cl_kernel kernel, std::vector<size_t> global, std::vector<size_t> local,
           std::vector<size_t> offset = {}) const {
    must(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(global.size()),
                                offset.empty() ? nullptr : offset.data(), global.data(),
                                local.empty() ? nullptr : local.data(), 0, nullptr, nullptr),
         "kernel");
    must(clFinish(queue), "finish");
  }
};

template <class T>
void set(cl_kernel kernel, cl_uint index, const T& value) {
  must(clSetKernelArg(kernel, index, sizeof(T), &value), "argument");
}

/// The exit code of a program that knows whether its result is right.
inline int say(bool right) {
  std::puts(right ? "right" : "WRONG");
  return right ? 0 : 1;
}
