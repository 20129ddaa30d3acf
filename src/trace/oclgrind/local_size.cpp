// Loaded before Oclgrind into a program that is recorded: gives a kernel a workgroup size where the program leaves it
// to the device. Oclgrind would run workgroups of one work-item, which no GPU does.
//
// The size that the kernel requires, if it says one; else of each dimension the largest divisor of the grid up to 256,
// 16 × 16 or 8 × 8 × 4.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <dlfcn.h>

#include <cstddef>

namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

constexpr std::size_t kMost[3][3] = {{256, 1, 1}, {16, 16, 1}, {8, 8, 4}};

std::size_t largest_divisor(std::size_t of, std::size_t most) {
  while (most > 1 && of % most != 0) --most;
  return most;
}

bool required_size(cl_command_queue queue, cl_kernel kernel, std::size_t (&size)[3]) {
  static auto* const queue_info = real<decltype(clGetCommandQueueInfo)>("clGetCommandQueueInfo");
  static auto* const group_info = real<decltype(clGetKernelWorkGroupInfo)>("clGetKernelWorkGroupInfo");
  cl_device_id device = nullptr;
  if (queue_info == nullptr || group_info == nullptr) return false;
  if (queue_info(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) != CL_SUCCESS) return false;
  return group_info(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size, nullptr) == CL_SUCCESS &&
         size[0] != 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) cl_int clEnqueueNDRangeKernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset, const std::size_t* global,
    const std::size_t* local, cl_uint events, const cl_event* list, cl_event* event) {
  static auto* const enqueue = real<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
  if (enqueue == nullptr) return CL_INVALID_OPERATION;
  std::size_t chosen[3] = {1, 1, 1};
  if (local == nullptr && global != nullptr && queue != nullptr && kernel != nullptr && dimensions >= 1 &&
      dimensions <= 3) {
    if (!required_size(queue, kernel, chosen)) {
      for (cl_uint i = 0; i < dimensions; ++i) chosen[i] = largest_divisor(global[i], kMost[dimensions - 1][i]);
    }
    local = chosen;
  }
  return enqueue(queue, kernel, dimensions, offset, global, local, events, list, event);
}
