// `nearfar record-opencl` on real OpenCL programs (tests/cli/opencl), which Oclgrind runs. What their kernels load and
// store can be counted by hand; arithmetic is as the compiler makes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "cli/process.h"

namespace nearfar::record_opencl_test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using namespace nearfar::testing;

TEST(RecordOpencl, WithoutThePluginItSaysWhatToInstall) {
  const Outcome outcome =
      run_shell("NEARFAR_OCLGRIND_RUNTIME=/nowhere " + kProgram + "record-opencl -o /nowhere.nft -- true");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("install the Debian packages oclgrind, liboclgrind-dev, llvm-14-dev and ocl-icd-opencl-dev"));
}

TEST(RecordOpencl, TheCommandLine) {
  EXPECT_THAT(nearfar("record-opencl -o x.nft").err, HasSubstr("needs a program, as in `nearfar record-opencl -o"));
  EXPECT_THAT(nearfar("record-opencl -- true").err, HasSubstr("needs -o FILE"));
  EXPECT_THAT(nearfar("record-opencl -o x.nft --host copie -- true").err,
              HasSubstr("--host is one of copies, accesses, none, not `copie`. Did you mean `copies`?"));
  EXPECT_EQ(nearfar("record-opencl -o x.nft").code, 2);
}

#ifdef OPENCL_PROGRAMS

class OpenclPrograms : public ::testing::Test {
 protected:
  /// Records a program of tests/cli/opencl, which must find its result right.
  std::string record(const std::string& program, const std::string& options = "") {
    const Outcome outcome = attempt(program, options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, StartsWith("right\n"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("WRONG")));
    return nearfar("trace export " + trace()).out;
  }
  Outcome attempt(const std::string& program, const std::string& options = "") {
    return nearfar("record-opencl -o " + trace() + " " + options + " -- " OPENCL_PROGRAMS "/opencl_" + program);
  }
  std::string trace() const { return scratch_.file("f.nft"); }
  std::string file(const std::string& name) const { return scratch_.file(name); }

  void runs_on_one_and_four_gpus() {
    for (const unsigned gpus : {1, 4}) {
      const Outcome outcome = nearfar(fmt::format("run trace:{} --check --set gpus={}", trace(), gpus));
      EXPECT_EQ(outcome.code, 0) << outcome.err;
    }
  }

  ScratchFolder scratch_;
};

/// The lines of one wavefront, without what the compiler decides: arithmetic and waits.
std::string memory_of(const std::string& text, unsigned group, unsigned wave, unsigned launch = 0) {
  std::size_t at = 0;
  for (unsigned i = 0; i <= launch; ++i) at = text.find("\nlaunch ", at) + 1;
  at = text.find(fmt::format("\nwave {} {}\n", group, wave), at);
  if (at == std::string::npos) return "";
  std::istringstream in(text.substr(at + 1));
  std::string line, found;
  std::getline(in, line);
  while (std::getline(in, line)) {
    if (line.starts_with("wave") || line.starts_with("launch") || line.starts_with("copy")) break;
    if (!line.starts_with("valu") && !line.starts_with("salu") && !line.starts_with("wait")) found += line + "\n";
  }
  return found;
}

TEST_F(OpenclPrograms, VectorAdd) {
  const std::string text = record("vector_add");
  EXPECT_THAT(text, AllOf(HasSubstr("buffer \"a\" 0x100000000 4000 distribute r 0\n"
                                    "buffer \"b\" 0x100001000 4000 distribute r 0\n"
                                    "buffer \"c\" 0x100002000 4000 distribute w 0\n"
                                    "copy host 0x100000000 4096 1 0\ncopy host 0x100001000 4096 1 0\n"
                                    "launch \"add\" 4 1 1 256 1 0 offset x\n"),
                          EndsWith("copy 0x100002000 host 4096 1 0\n")));
  EXPECT_EQ(memory_of(text, 1, 2),
            "load 4 row 0x100000600\nload 4 row 0x100001600\nstore 4 row 0x100002600\n");  // elements from 384 on
  // Of the last wavefront, elements from 960 on, 40 are left.
  EXPECT_EQ(memory_of(text, 3, 3),
            "load 4 row 0x100000f00 40 0\nload 4 row 0x100001f00 40 0\nstore 4 row 0x100002f00 40 0\n");
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, HistogramWithLocalAtomicsAndDivergence) {
  const std::string text = record("histogram");
  EXPECT_THAT(text, HasSubstr("copy host 0x100000000 8192 1 0\ncopy host 0x100002000 128 1 0\n"
                              "launch \"count\" 4 1 1 128 1 64 offset x\n"));
  // Work-item i reads values 4 i to 4 i + i % 4: all the first, three of four the second, half the third, and so on;
  // each is counted in local memory. Only the first 16 work-items clear the bins and add them to the result.
  const auto loop = [](unsigned first) {
    const std::uint64_t at = 0x100000000 + 16 * std::uint64_t{first};
    return fmt::format(
        "load 4 rows {:#x} 64 0 1 0 16 0\nlocal 1\nload 4 stride {:#x} 16 0xeeeeeeeeeeeeeeee\nlocal 1\n"
        "load 4 stride {:#x} 16 0xcccccccccccccccc\nlocal 1\nload 4 stride {:#x} 16 0x8888888888888888\nlocal 1\n",
        at, at + 16 + 4, at + 32 + 8, at + 48 + 12);
  };
  for (unsigned group = 0; group < 4; ++group) {
    EXPECT_EQ(memory_of(text, group, 0),
              "local 1\nbarrier\n" + loop(128 * group) + "barrier\nlocal 1\natomic 4 row 0x100002000 16 0\n");
    EXPECT_EQ(memory_of(text, group, 1), "barrier\n" + loop(128 * group + 64) + "barrier\n");
  }
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, MatrixMultiplicationInTiles) {
  const std::string text = record("matrix");
  EXPECT_THAT(text, HasSubstr("launch \"multiply\" 2 2 1 16 16 2048 offset y\n"));
  // Wavefront 1 of workgroup (1, 0): rows 4 to 7, columns 16 to 31. Rows are 128 bytes apart. A tile's elements go to
  // local memory, and come back as 16 pairs.
  const std::string tile = "barrier\nlocal 32\nbarrier\n";
  EXPECT_EQ(memory_of(text, 1, 1),
            "load 4 rows 0x100000200 16 0 4 16 4 128\nlocal 1\nload 4 rows 0x100001240 16 0 4 16 4 128\nlocal 1\n" +
                tile +
                "load 4 rows 0x100000240 16 0 4 16 4 128\nlocal 1\nload 4 rows 0x100001a40 16 0 4 16 4 128\nlocal 1\n" +
                tile + "store 4 rows 0x100002240 16 0 4 16 4 128\n");
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, WorkItemsThatPart) {
  const std::string text = record("features parting");
  // Even ones call the function, those that are multiples of 4 read on, then odd ones call it from the other side; the
  // loop's rounds are taken by those with i % 3 > 0 and then i % 3 > 1; those from 100 on have returned.
  EXPECT_EQ(memory_of(text, 1, 0),
            "load 4 stride 0x100000100 4 0x555555555\nload 4 stride 0x100000104 4 0x111111111\n"
            "load 4 stride 0x100000100 4 0xaaaaaaaaa\nload 4 stride 0x100000000 0 0x6db6db6db\n"
            "load 4 stride 0x100000004 0 0x492492492\nstore 4 row 0x100001100 36 0\n");
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, GridsThatBeginElsewhereAndNoLocalSize) {
  EXPECT_THAT(record("features offset"),
              AllOf(HasSubstr("launch \"twice\" 1 1 1 64"), HasSubstr("load 4 row 0x100000100\n")));
  runs_on_one_and_four_gpus();
  // The largest divisor of 96 that is at most 256.
  EXPECT_THAT(record("features no-local"), HasSubstr("launch \"twice\" 1 1 1 96 1 "));
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, BuffersOfAllKinds) {
  EXPECT_EQ(memory_of(record("features sub-buffer"), 0, 0), "load 4 row 0x100000100\nstore 4 row 0x100000100\n");
  runs_on_one_and_four_gpus();
  EXPECT_THAT(record("features host-memory"),
              AllOf(HasSubstr("copy host 0x100000000 512 1 0\nlaunch"),
                    HasSubstr("copy host 0x100000100 256 1 0\nlaunch"), EndsWith("copy 0x100000000 host 512 1 0\n")));
  runs_on_one_and_four_gpus();
  const std::string text = record("features contexts");
  EXPECT_THAT(text, HasSubstr("copy host 0x100000000 512 1 0\ncopy host 0x100001000 512 1 0\n"
                              "copy host 0x100002100 256 1 0\ncopy 0x100000000 0x100002000 256 1 0\n"
                              "copy 0x100002000 host 512 1 0\nlaunch"));
  EXPECT_EQ(memory_of(text, 0, 0, 0), "load 4 row 0x100000000\nstore 4 row 0x100000000\n");
  EXPECT_EQ(memory_of(text, 0, 0, 1), "load 4 row 0x100001000\nstore 4 row 0x100001000\n");
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, SizesOfAccesses) {
  const std::string text = memory_of(record("features sizes"), 0, 0);
  for (const char* each : {"load 8 row 0x100000000\n", "store 16 row 0x100001000\n", "load 12 row 0x100002000\n",
                           "store 1 row 0x100003000\n", "load 16 rows 0x100004030 64 0 1 0 64 0\n"}) {
    EXPECT_THAT(text, HasSubstr(each));
  }
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, ConstantsAreScalarAndACopyIsTheWorkgroups) {
  const std::string text = record("features constants");
  EXPECT_EQ(
      memory_of(text, 1, 0),
      "local 1\nload 4 row 0x100000100\nbarrier\nlocal 1\nsload 4 0x100003004\nlocal 1\nsload 4 0x100003008\nlocal 1\n"
      "sload 4 0x10000300c\nlocal 1\nsload 4 0x100003000\nsload 4 0x100002000\nstore 4 row 0x100001100\n");
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, TheHostsPartAsOneLikes) {
  EXPECT_THAT(record("vector_add", "--host accesses"),
              AllOf(HasSubstr("host-write 0x100000000 4000\n"), EndsWith("host-read 0x100002000 4000\n")));
  EXPECT_THAT(record("vector_add", "--host none"), AllOf(Not(HasSubstr("host-")), Not(HasSubstr("copy"))));
  // Without the host's part it runs where pages move.
  EXPECT_EQ(nearfar("run trace:" + trace() + " --system mmu-4gpu --check").code, 0);
}

TEST_F(OpenclPrograms, TheSameTraceEveryTime) {
  record("histogram");
  const std::string first = read_file(trace());
  record("histogram");
  EXPECT_EQ(read_file(trace()), first);
}

TEST_F(OpenclPrograms, TheTutorialsProgram) {
  const Outcome outcome = nearfar("record-opencl -o " + trace() + " -- " OPENCL_PROGRAMS "/opencl_dot 1024");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("1024\n"));
  const std::string text = nearfar("trace export " + trace()).out;
  // Sums go from 128 work-items on down to 1: of the four wavefronts two take part in the first step, one in the
  // others. A step is two loads and a store of local memory; the first product is a store, the last sum a load.
  std::string first = "load 4 row 0x100000000\nload 4 row 0x100001000\nlocal 1\n";
  for (unsigned width = 128; width > 0; width /= 2) first += "barrier\nlocal 3\n";
  EXPECT_EQ(memory_of(text, 0, 0), first.substr(0, first.size() - 1 - std::string("local 3").size()) +
                                       "local 4\nstore 4 row 0x100002000 1 0\n");
  EXPECT_EQ(memory_of(text, 0, 1),
            "load 4 row 0x100000100\nload 4 row 0x100001100\nlocal 1\nbarrier\nlocal 3\n"
            "barrier\nbarrier\nbarrier\nbarrier\nbarrier\nbarrier\nbarrier\n");
  runs_on_one_and_four_gpus();
}

// --- what goes wrong is one error, and there is no file

TEST_F(OpenclPrograms, ErrorsOfPrograms) {
  const auto error_of = [&](const std::string& program) {
    const Outcome outcome = attempt(program);
    EXPECT_EQ(outcome.code, 2) << program;
    EXPECT_FALSE(std::filesystem::exists(trace())) << program;
    return outcome.err;
  };
  EXPECT_THAT(error_of("features no-kernel"), HasSubstr("error: The program launched no kernel"));
  EXPECT_THAT(error_of("features crash"), HasSubstr("was ended by signal 6 (Aborted), so there is no trace of it."));
  EXPECT_THAT(error_of("features exit"), HasSubstr("ended with exit code 3, so there is no trace of it; --any-exit"));
  EXPECT_THAT(error_of("features image"), HasSubstr("Kernel 'look' takes an image (argument 0, image2d_t)"));
  EXPECT_THAT(error_of("nothing"), HasSubstr("cannot be run: No such file or directory."));
  EXPECT_EQ(attempt("features exit", "--any-exit").code, 0);
}

TEST_F(OpenclPrograms, WhatTakesNoPartInOpencl) {
  const Outcome outcome = nearfar("record-opencl -o " + trace() + " -- true");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("`true` did not use OpenCL"));
  const std::string twice = OPENCL_PROGRAMS "/opencl_vector_add; " OPENCL_PROGRAMS "/opencl_vector_add";
  EXPECT_THAT(nearfar("record-opencl -o " + trace() + " -- sh -c '" + twice + "'").err,
              HasSubstr("Two programs use OpenCL"));
}

TEST_F(OpenclPrograms, AccessesOutsideOfBuffersAreLeftOut) {
  const Outcome outcome = attempt("features outside");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("nearfar: 1 accesses of kernels lay in no buffer, and were left out."));
  EXPECT_THAT(memory_of(nearfar("trace export " + trace()).out, 1, 0), HasSubstr("load 4 row 0x100000104 63 0\n"));
  runs_on_one_and_four_gpus();
}

TEST_F(OpenclPrograms, AFullDiskIsOneError) {
  // A limit on the size of files is met as a full disk is: the write fails.
  const Outcome outcome = run_shell("(trap '' XFSZ; ulimit -f 0; " + kProgram + "record-opencl -o " + trace() +
                                    " -- " OPENCL_PROGRAMS "/opencl_vector_add) 2>&1 | cat; test ! -e " + trace());
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("cannot be written: File too large."));
}

#else

TEST(OpenclPrograms, NeedOclgrind) {
  ASSERT_EQ(std::getenv("NEARFAR_TEST_EXTRAS"), nullptr) << "Oclgrind is needed and not installed";
  GTEST_SKIP() << "Oclgrind is not installed; ./test extras installs it";
}

#endif

}  // namespace
}  // namespace nearfar::record_opencl_test
