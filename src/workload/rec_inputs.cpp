// The study gives footprints, not dimensions: these are the round ones that fit. Programs that are whole here: ATAX,
// C2D, FIR, GEMV, J2D, SC. Of the others a part runs on buffers of the published size: rows of workgroups that fill
// the compute units of four GPUs once (GEMM, MM2, MM3), pairs of steps all over the elimination (LU), and few of the
// iterations (PR, ST).
#include "workload/rec_inputs.h"

#include <algorithm>

namespace nearfar {

std::span<const RecInput> rec_inputs() {
  static const std::vector<RecInput> all{
      {"ATAX", 128, {{"nx", 4096}, {"ny", 8192}, {"repeats", 1}}, {134299648, 40895232}},
      {"C2D", 512, {{"n", 8192}}, {536870912, 29303820}},
      {"FIR", 128, {{"n", 1 << 24}}, {134217856, 21757952}},
      {"GEMM", 128, {{"ni", 4096}, {"nj", 4096}, {"nk", 2048}, {"strips", 20}}, {134217728, 167854080}},
      {"GEMV", 256, {{"n", 8192}}, {268697600, 96471040}},
      {"J2D", 128, {{"n", 4096}, {"steps", 20}}, {134217728, 188487760}},
      {"LU", 128, {{"n", 5792}, {"steps", 2}, {"places", 16}}, {134189056, 103512444}},
      {"MM2", 128, {{"n", 2560}, {"strips", 32}}, {131072000, 419553280}},
      {"MM3", 64, {{"n", 1536}, {"strips", 52}}, {66060288, 368169984}},
      {"PR", 256, {{"n", 1 << 20}, {"m", 31'981'568}, {"iterations", 4}}, {268435460, 164604064}},
      {"SC", 512, {{"width", 8190}, {"height", 8190}}, {536739892, 50577543}},
      {"ST", 128, {{"rows", 4098}, {"columns", 4098}, {"iterations", 20}}, {134807808, 67502080}},
  };
  return all;
}

const RecInput* find_rec_input(std::string_view workload) {
  const auto all = rec_inputs();
  const auto found = std::ranges::find(all, workload, &RecInput::workload);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace nearfar
