// The catalogue: names, sizes, parameters, and what a person is told who mistypes one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "config/error.h"
#include "workload/census.h"

namespace nearfar::catalog_test {
namespace {

using namespace nearfar::testing;

std::string refusal(std::string_view name, std::vector<ParameterSetting> settings) {
  try {
    make(name, std::move(settings));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Catalog, ListsTheWorkloadsByName) {
  std::vector<std::string> names;
  for (const WorkloadInfo& info : catalog()) {
    names.push_back(info.name);
    std::ranges::transform(names.back(), names.back().begin(), [](unsigned char c) { return std::tolower(c); });
  }
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  for (const WorkloadInfo& info : catalog()) {
    EXPECT_FALSE(info.title.empty() || info.suite.empty() || info.sentence.empty()) << info.name;
    for (const WorkloadParameter& parameter : info.parameters) {
      EXPECT_FALSE(parameter.sentence.empty()) << info.name << " " << parameter.name;
      for (const std::uint64_t value :
           {parameter.small, parameter.medium, parameter.paper, parameter.minimum, parameter.maximum}) {
        EXPECT_TRUE(value >= parameter.minimum && value <= parameter.maximum &&
                    value % parameter.step == parameter.offset)
            << info.name << " " << parameter.name << " " << value;
      }
    }
  }
}

TEST(Catalog, SizesHaveTheFootprintsOfTheirSpecification) {
  const auto mebibytes = [](std::string_view name, SizeClass size) {
    std::uint64_t bytes = 0;
    const auto workload = make_workload(name, size, {}, 1);
    for (const Buffer& each : workload->buffers()) bytes += each.bytes;
    return static_cast<double>(bytes) / (1 << 20);
  };
  struct Case {
    const char* name;
    double small, medium, paper, tolerance = 0.01;  // 0: not given, or slow to make
  };
  for (const auto& [name, small, medium, paper, tolerance] : {
           Case{"AES", 1, 8, 32},
           {"ATAX", 2.3, 16, 64.05, 0.05},
           {"BackProp", 0, 108, 108, 0.05},
           {"BICG", 2.3, 16, 128.09, 0.05},
           {"BS", 0.125, 1, 32},
           {"C2D", 8, 128, 512},
           {"Color", 0, 30.5, 30.5, 0.05},
           {"Conv2d", 9.8, 158, 79, 0.5},
           {"FFT", 16, 64, 64},
           {"FIR", 4, 32, 128},
           {"GEMM", 0, 0, 128},
           {"GEMV", 0, 0, 256.25},
           {"GESUMMV", 0, 0, 128.05},
           {"Hotspot", 12, 12, 12},
           {"Im2col", 7.6, 120, 60, 0.1},
           {"J2D", 0, 0, 128},
           {"KM", 2.0, 32.5, 65, 0.05},
           {"LU", 0, 0, 128, 0.1},
           {"LUD", 1.196, 0, 1.196},
           {"MM", 3, 18.75, 48},
           {"MM2", 0, 0, 125},
           {"MM3", 0, 0, 63},
           {"MT", 32, 512, 32},
           {"MVT", 0, 0, 128.13},
           {"NW", 27, 192, 531.82, 0.2},
           {"PR", 1.2, 19, 0, 0.05},
           {"SC", 8, 128, 511.9, 0.1},
           {"SSSP", 2.7, 42, 0, 0.1},
           {"ST", 8.2, 128.6, 128.6, 0.1},
       }) {
    if (small > 0) {
      EXPECT_NEAR(mebibytes(name, SizeClass::Small), small, tolerance) << name;
    }
    if (medium > 0) {
      EXPECT_NEAR(mebibytes(name, SizeClass::Medium), medium, tolerance) << name;
    }
    if (paper > 0) {
      EXPECT_NEAR(mebibytes(name, SizeClass::Paper), paper, tolerance) << name;
    }
  }
}

TEST(Catalog, BuffersFollowEachOtherOnPagesOfTheirOwn) {
  for (const WorkloadInfo& info : catalog()) {
    const auto workload = make(info.name);
    VirtAddr next = kFirstBuffer;
    for (const Buffer& each : workload->buffers()) {
      EXPECT_EQ(each.base, next) << info.name << " " << each.name;
      next = each.base + pages_of(each) * kPageBytes;
    }
  }
}

TEST(Catalog, LaunchesSplitAndBuffersLieAsTheSuitesDo) {
  const auto split = [](std::string_view name) { return make(name)->launches()[0].split; };
  for (const char* name : {"FIR", "KM", "MM", "MT"}) EXPECT_EQ(split(name), Split::Offset) << name;
  for (const char* name : {"PR", "ST"}) EXPECT_EQ(split(name), Split::Blocks) << name;
  EXPECT_EQ(make("MM")->launches()[0].split_dim, Dim::Y);
  EXPECT_EQ(make("MT")->launches()[0].split_dim, Dim::X);
  EXPECT_EQ(buffer(*make("FIR"), "coeff").placement, Placement::Private);
  EXPECT_EQ(buffer(*make("KM"), "clusters").placement, Placement::Private);
  for (const char* name : {"PR", "ST"}) {
    const auto workload = make(name);
    for (const Buffer& each : workload->buffers()) EXPECT_EQ(each.placement, Placement::Interleave) << name;
  }
  EXPECT_EQ(make("KM")->launches().size(), 6U);
  EXPECT_EQ(make("ST", {{"iterations", 7}})->launches().size(), 7U);
  EXPECT_EQ(make("MT")->launches()[0].local_bytes, 16U << 10);
}

TEST(Catalog, NamesTheNearestOfAMistypedName) {
  EXPECT_EQ(refusal("FRI", {}),
            "There is no workload `FRI`; `nearfar list workloads` shows them all. Did you mean `FIR`?");
  EXPECT_EQ(refusal("MT", {{"widht", 64}}), "MT has no parameter `widht`; it has width, host. Did you mean `width`?");
  EXPECT_EQ(refusal("PR", {{"qqqqqq", 64}}),
            "PR has no parameter `qqqqqq`; it has n, m, graph, band, permute, iterations.");
}

TEST(Catalog, SaysWhatAParameterMayBe) {
  EXPECT_EQ(
      refusal("MT", {{"width", 100}}),
      "The parameter `width` of MT is 100, but must be a multiple of 64 and from 64 to 131072; the nearest possible "
      "value is 128.");
  EXPECT_EQ(
      refusal("MT", {{"width", 0}}),
      "The parameter `width` of MT is 0, but must be a multiple of 64 and from 64 to 131072; the nearest possible "
      "value is 64.");
  EXPECT_EQ(
      refusal("MT", {{"width", ~std::uint64_t{0}}}),
      "The parameter `width` of MT is 18446744073709551615, but must be a multiple of 64 and from 64 to 131072; the "
      "nearest possible value is 131072.");
  EXPECT_EQ(refusal("ST", {{"rows", 1024}}),
            "The parameter `rows` of ST is 1024, but must be 2 more than a multiple of 16 and from 18 to 65538; the "
            "nearest possible value is 1026.");
  EXPECT_EQ(refusal("ST", {{"columns", 1}}),
            "The parameter `columns` of ST is 1, but must be 2 more than a multiple of 64 and from 66 to 65538; the "
            "nearest possible value is 66.");
  EXPECT_EQ(
      refusal("MM", {{"n", 47}}),
      "The parameter `n` of MM is 47, but must be a multiple of 32 and from 32 to 65536; the nearest possible value "
      "is 32.");
  EXPECT_EQ(refusal("MM", {{"a_rows", 2}}),
            "The parameter `a_rows` of MM is 2, but must be from 0 to 1; the nearest possible value is 1.");
  EXPECT_EQ(refusal("FIR", {{"n", 1000}}),
            "The parameter `n` of FIR is 1000, but must be a multiple of 256 and from 256 to 1073741824; the nearest "
            "possible value is 1024.");
  EXPECT_EQ(refusal("KM", {{"points", 0}}),
            "The parameter `points` of KM is 0, but must be from 1 to 268435456; the nearest possible value is 1.");
}

TEST(Catalog, SaysWhichParametersDoNotGoTogether) {
  EXPECT_EQ(
      refusal("PR", {{"n", 10}, {"m", 101}}),
      "The parameter `m` of PR is 101, but a matrix with n² entries cannot have more; the nearest possible value is "
      "100.");
  EXPECT_EQ(refusal("PR", {{"n", 1000}, {"graph", 1}}),
            "The parameter `n` of PR is 1000, but must be a power of two when graph is 1 (R-MAT); the nearest possible "
            "value is 1024.");
  EXPECT_EQ(refusal("PR", {{"n", 10}, {"m", 100}}), "accepted");
  EXPECT_EQ(refusal("SSSP", {{"n", 110}}),
            "The parameter `n` of SSSP is 110, but must be a square number when graph is 2 (mesh) or 4 (road); the "
            "nearest possible value is 100.");
  EXPECT_EQ(refusal("SSSP", {{"n", 100}, {"source", 100}}),
            "The parameter `source` of SSSP is 100, but must be one of the vertices; the nearest possible value is "
            "99.");
  EXPECT_EQ(refusal("BS", {{"n", 1000}}),
            "The parameter `n` of BS is 1000, but must be a power of two; the nearest possible value is 1024.");
  EXPECT_EQ(refusal("BS", {{"n", 1024}, {"first_stage", 10}}),
            "The parameter `first_stage` of BS is 10, but must be below the number of stages, log2 n; the nearest "
            "possible value is 9.");
  EXPECT_EQ(refusal("NW", {{"n", 100}}),
            "The parameter `n` of NW is 100, but must be a multiple of block; the nearest possible value is 96.");
  EXPECT_EQ(refusal("Im2col", {{"kernel", 64}, {"side", 8}}),
            "The parameter `kernel` of Im2col is 64, but must fit into the padded image; the nearest possible value is "
            "10.");
}

TEST(Catalog, TheLastOfSeveralSettingsCounts) {
  EXPECT_EQ(make("MT", {{"width", 64}, {"width", 128}})->launches()[0].groups_x, 2U);
}

TEST(Catalog, ReadsSizes) {
  for (const SizeClass size : {SizeClass::Small, SizeClass::Medium, SizeClass::Paper, SizeClass::Rec}) {
    EXPECT_EQ(parse_size(size_name(size)), size);
  }
  try {
    parse_size("papre");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "There is no size `papre`; the sizes are small, medium, paper, rec. Did you mean `paper`?");
  }
}

}  // namespace
}  // namespace nearfar::catalog_test
