// Files of graphs: what is read from them, and what is said of those that are wrong.
#include "workload/graph/reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/error.h"
#include "workload/catalog.h"
#include "workload/census.h"
#include "workload/graph/algorithms.h"
#include "workload/graph/generators.h"

namespace nearfar::reader_test {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// A file that lives as long as its test.
class TempFile {
 public:
  explicit TempFile(const std::string& text, const std::string& extension = ".txt")
      : path_(std::filesystem::temp_directory_path() /
              ("nearfar_graph_" + std::to_string(::getpid()) + "_" + std::to_string(count_++) + extension)) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { std::filesystem::remove(path_); }

  std::string path() const { return path_.string(); }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

Csr read(const std::string& text, const std::string& extension = ".txt") {
  return read_graph(TempFile(text, extension).path());
}

/// The message, from the line number on.
std::string refusal(const std::string& text, const std::string& extension = ".txt") {
  const TempFile file(text, extension);
  try {
    read_graph(file.path());
  } catch (const InputError& error) {
    const std::string message = error.what();
    return message.starts_with(file.path() + ":") ? message.substr(file.path().size() + 1) : message;
  }
  return "accepted";
}

TEST(MatrixMarket, ReadsGeneralMatricesInAnyOrder) {
  const Csr csr = read(
      "%%MatrixMarket matrix coordinate integer general\n% a comment\n\n3 3 4\n3 1 7\n1 2 5\n% another\n1 3 2\n2 2 "
      "9\n");
  EXPECT_EQ(csr.row, (Numbers{0, 2, 3, 4}));
  EXPECT_EQ(csr.col, (Numbers{1, 2, 1, 0}));
  EXPECT_EQ(csr.weight, (Numbers{5, 2, 9, 7}));
}

TEST(MatrixMarket, MirrorsTheTriangleOfSymmetricMatrices) {
  const Csr csr = read("%%matrixmarket MATRIX Coordinate Pattern Symmetric\r\n3 3 3\r\n1 1\r\n2 1\r\n3 2\r\n", ".mtx");
  EXPECT_EQ(csr.row, (Numbers{0, 2, 4, 5}));
  EXPECT_EQ(csr.col, (Numbers{0, 1, 0, 2, 1}));
  EXPECT_TRUE(csr.weight.empty());
  const Csr skew = read("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1.5\n");
  EXPECT_EQ(skew.col, (Numbers{1, 0}));
  EXPECT_TRUE(skew.weight.empty()) << "1.5 is no weight";
}

TEST(MatrixMarket, KeepsTheLightestOfRepeatedEntries) {
  const Csr csr = read("%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 2 3\n1 1 1\n1 2 4\n");
  EXPECT_EQ(csr.col, (Numbers{0, 1}));
  EXPECT_EQ(csr.weight, (Numbers{1, 3}));
}

TEST(MatrixMarket, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n"),
            "3:5: expected a value, not `nan`.\n    3 | 1 1 nan\n      |     ^");
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  EXPECT_EQ(refusal("1 2\n", ".mtx"),
            "1:1: a Matrix Market file begins with `%%MatrixMarket matrix coordinate …`.\n    1 | 1 2\n      | ^");
  EXPECT_EQ(refusal("%%MatrixMarket matrix array real general\n"),
            "1:23: `array` matrices cannot be read as graphs; the format may be coordinate.\n    1 | %%MatrixMarket "
            "matrix array real general\n      |                       ^");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate complex general\n").substr(0, 97),
            "1:34: `complex` matrices cannot be read as graphs; the field may be real, integer, pattern.\n    1");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate real hermitian\n").substr(0, 45),
            "1:39: `hermitian` matrices cannot be read as ");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate reel general\n").substr(0, 78),
            "1:34: the field may be real, integer, pattern, not `reel`. Did you mean `real`");
  EXPECT_EQ(refusal(banner).substr(0, 70), "1:49: the file ends before the line `rows columns entries`.\n    1 | %%");
  EXPECT_EQ(refusal(banner + "2 3 1\n1 1\n"),
            "2:3: a graph needs a square matrix; this one is 2 × 3.\n    2 | 2 3 1\n      |   ^");
  EXPECT_EQ(refusal(banner + "2 2 1\n1 3\n"), "3:3: expected a column from 1 to 2, not `3`.\n    3 | 1 3\n      |   ^");
  EXPECT_EQ(refusal(banner + "2 2 1\n0 1\n"), "3:1: expected a row from 1 to 2, not `0`.\n    3 | 0 1\n      | ^");
  EXPECT_EQ(refusal(banner + "2 2 1\n1\n"), "3:2: expected a column, but the line ends.\n    3 | 1\n      |  ^");
  EXPECT_EQ(refusal(banner + "2 2 1\n1 x\n"), "3:3: expected a column, not `x`.\n    3 | 1 x\n      |   ^");
  EXPECT_EQ(refusal(banner + "2 2 1\n1 2 3\n"),
            "3:5: there is more on the line than row and column.\n    3 | 1 2 3\n      |     ^");
  EXPECT_EQ(refusal(banner + "2 2 2\n1 2\n").substr(0, 48), "3:4: the file ends after 1 of its 2 entries.\n   ");
  EXPECT_EQ(refusal(banner + "2 2 1\n1 2\n2 1\n").substr(0, 46), "4:1: there are more than the 1 entries announc");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1\n").substr(0, 43),
            "3:4: expected a value, but the line ends.\n ");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n1 2\n").substr(0, 66),
            "3:3: a symmetric matrix is given by its lower triangle, but (1, 2)");
}

TEST(EdgeList, ReadsPairsWithOrWithoutWeights) {
  const Csr plain = read("# from to\n0 1\n\n4 0\n1 4\n");
  EXPECT_EQ(plain.vertices(), 5U);
  EXPECT_EQ(plain.row, (Numbers{0, 1, 2, 2, 2, 3}));
  EXPECT_EQ(plain.col, (Numbers{1, 4, 0}));
  EXPECT_TRUE(plain.weight.empty());
  EXPECT_EQ(read("1 0 9\n0 1 4").weight, (Numbers{4, 9}));
  EXPECT_EQ(read("0 1 5\n0 1 4\n1 0 1\n").weight, (Numbers{4, 1})) << "the lightest of two";
}

TEST(EdgeList, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("1 0 9\n0 1\n"),
            "2:4: the edges before have a weight: either all have one, or none.\n    2 | 0 1\n      |    ^");
  EXPECT_EQ(refusal("1 0\n0 1 9\n"),
            "2:5: the edges before have no weight, but this one has: either all have one, or none.\n    2 | 0 1 9\n"
            "      |     ^");
  EXPECT_EQ(refusal("1 0 1.5\n"), "1:5: expected a weight, not `1.5`.\n    1 | 1 0 1.5\n      |     ^");
  EXPECT_EQ(refusal("1 0 0\n"), "1:5: expected a weight from 1 to 1073741824, not `0`.\n    1 | 1 0 0\n      |     ^");
  EXPECT_EQ(refusal("0 1\n2 -3\n"), "2:3: expected a vertex, not `-3`.\n    2 | 2 -3\n      |   ^");
  EXPECT_EQ(refusal("0 1 2 3\n"),
            "1:7: there is more on the line than `from to weight`.\n    1 | 0 1 2 3\n      |       ^");
  EXPECT_EQ(refusal("0 99999999999\n").substr(0, 65),
            "1:3: expected a vertex from 0 to 2147483647, not `99999999999`.\n ");
  EXPECT_EQ(refusal("").substr(0, 38), "1:1: there is no edge in this file; a ");
  EXPECT_EQ(refusal("# nothing\n").substr(0, 38), "1:1: there is no edge in this file; a ");
  EXPECT_THROW(read_graph("/no/such/file"), InputError);
  EXPECT_THROW(read_graph("/tmp"), InputError);
}

TEST(Dimacs, ReadsArcsWithWeights) {
  const Csr csr = read("c roads\np sp 3 3\na 1 2 10\na 2 3 20\nc\na 3 1 0\n", ".gr");
  EXPECT_EQ(csr.col, (Numbers{1, 2, 0}));
  EXPECT_EQ(csr.weight, (Numbers{10, 20, 1}));
  EXPECT_EQ(refusal("p sp 2 1\ne 1 2 3\n", ".gr").substr(0, 45), "2:1: expected the line `a from to weight`.\n  ");
  EXPECT_EQ(refusal("p sp 2 2\na 1 2 3\n", ".gr").substr(0, 44), "2:8: the file ends after 1 of its 2 edges.\n ");
  EXPECT_EQ(refusal("p sp 2 1\na 1 2 3\na 2 1 3\n", ".gr").substr(0, 48),
            "3:1: there are more than the 1 edges announced.\n");
}

TEST(Metis, ReadsALineOfNeighboursForEachVertex) {
  const Csr csr = read("% a path\n3 2\n2\n1 3\n2\n", ".graph");
  EXPECT_EQ(csr.row, (Numbers{0, 1, 3, 4}));
  EXPECT_EQ(csr.col, (Numbers{1, 0, 2, 1}));
  EXPECT_EQ(read("2 0\n\n\n", ".graph").edges(), 0U);
  EXPECT_EQ(refusal("2 1\n2\n", ".graph").substr(0, 48), "2:2: the file ends after 1 of its 2 vertices.\n  ");
  EXPECT_EQ(refusal("2 1\n2\n\n", ".graph").substr(0, 58),
            "3:1: 1 edges announced make 2 neighbours, but there are 1.");
}

RC_GTEST_PROP(MatrixMarket, RoundTrip, ()) {
  const std::uint32_t n = *rc::gen::inRange(1U, 30U);
  Csr csr = uniform_graph(n, *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{n} * n + 1), 1);
  draw_weights(csr, 100, 1);
  std::string text = "%%MatrixMarket matrix coordinate integer general\n" + std::to_string(n) + " " +
                     std::to_string(n) + " " + std::to_string(csr.edges()) + "\n";
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t e = csr.row[v]; e < csr.row[v + 1]; ++e) {
      text += std::to_string(v + 1) + " " + std::to_string(csr.col[e] + 1) + " " + std::to_string(csr.weight[e]) + "\n";
    }
  }
  const Csr again = read(text);
  RC_ASSERT(again.row == csr.row);
  RC_ASSERT(again.col == csr.col);
  RC_ASSERT(again.weight == csr.weight);
}

TEST(Input, IsTheGraphOfTheWorkload) {
  const TempFile file("0 1 5\n1 2 5\n2 3 5\n3 0 5\n");
  const auto sssp = make_workload("SSSP", SizeClass::Small, {}, 1, file.path());
  EXPECT_EQ(testing::buffer(*sssp, "vector1").bytes, 16U);
  EXPECT_EQ(sssp->launches().size(), 1U + 3 * 4) << "three rounds find a new distance each, the fourth finds none";
  for (const char* name : {"PR", "Color"}) {
    EXPECT_NO_THROW(testing::take_census(*make_workload(name, SizeClass::Small, {}, 1, file.path()))) << name;
  }
  try {
    make_workload("MT", SizeClass::Small, {}, 1, file.path());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), "MT reads no graph, so it cannot take `" + file.path() + "`.");
  }
}

TEST(Input, MayBeRenumberedWithItsWeights) {
  Csr csr = uniform_graph(200, 1500, 1);
  draw_weights(csr, 1000, 1);
  const Csr other = renumber(csr, 5);
  Numbers before = csr.weight, after = other.weight;
  std::ranges::sort(before);
  std::ranges::sort(after);
  EXPECT_EQ(before, after);
  const auto distances = [](const Csr& graph) {
    // Which vertex vertex 0 has become does not matter for the sums over all sources.
    std::uint64_t sum = 0;
    for (std::uint32_t source = 0; source < graph.vertices(); ++source) {
      for (const std::uint32_t distance : min_plus_rounds(graph, source, 1000).distance) sum += distance;
    }
    return sum;
  };
  EXPECT_EQ(distances(csr), distances(other));
}

TEST(Input, TakesThePlaceOfParametersOfGenerators) {
  const TempFile file("0 1\n1 0\n");
  for (const ParameterSetting& setting : effective_parameters("SSSP", SizeClass::Small, {}, file.path())) {
    EXPECT_TRUE(setting.name != "n" && setting.name != "m" && setting.name != "graph" && setting.name != "band");
  }
  const std::vector<ParameterSetting> settings = {{"n", 64}};
  EXPECT_THROW(effective_parameters("SSSP", SizeClass::Small, settings, file.path()), InputError);
  EXPECT_THROW(make_workload("SSSP", SizeClass::Small, settings, 1, file.path()), InputError);
  EXPECT_NO_THROW(effective_parameters("SSSP", SizeClass::Small, settings));
}

}  // namespace
}  // namespace nearfar::reader_test
