// The kernels of neural networks, as records: what a launch works on. Each has a grid, with the ranks along z, and the
// stream of each of its wavefronts. A record must outlive its streams.
//
// The kernels are those of MGPUSim's networks (DNNMark's layers): no library, an element an item, products in tiles.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "workload/catalog/im2col.h"
#include "workload/dnn/tensor.h"

namespace nearfar::dnn {

inline constexpr std::uint32_t kGroup = 64;  ///< items in a workgroup of the kernels in one dimension

/// Images become the columns of a matrix (Im2col).
struct Unroll {
  Unrolling shape;
  Tensor from, to;
};

/// d = a·b + c in tiles. a is m × k; b is k × n, or n × k where it is the transpose of what lies in memory.
struct Gemm {
  Matrix a, b, c, d;
  std::uint64_t m = 0, n = 0, k = 0;
  std::uint32_t tile = 16;  ///< results on a side of a workgroup's tile: 16, 32 or 64
  std::uint32_t heads = 1;  ///< products of each rank
  std::uint32_t bytes = 4;  ///< of an element
  bool transposed = false;  ///< b is
};

/// Each element of an array from one of another: transpositions, rotations, repetitions, dilations.
struct Gather {
  Tensor from, to;
  std::array<std::uint64_t, 3> extent{1, 1, 1};  ///< of what is made, the last dimension fastest
  std::array<std::int64_t, 3> stride{};          ///< elements of `from` for a step in each dimension
  std::uint64_t origin = 0;                      ///< element of `from` where all indices are 0
  std::uint64_t every = 1;  ///< indices of the last two dimensions that have an element in `from`; elsewhere is zero
  std::uint32_t bytes = 4;  ///< of an element

  std::uint64_t elements() const { return extent[0] * extent[1] * extent[2]; }
};

/// Element by element, with operands that have one value for each channel.
struct Map {
  std::uint64_t elements = 0;
  std::array<Tensor, 4> in{};
  std::uint32_t inputs = 1;
  std::array<Tensor, 3> out{};
  std::uint32_t outputs = 1;
  std::uint32_t arithmetic = 3;  ///< vector-ALU instructions
  std::array<Tensor, 5> by_channel{};
  std::uint32_t channel_inputs = 0;
  std::uint64_t area = 1, channels = 1;  ///< element e is of channel (e / area) mod channels
  std::uint64_t pieces = 1;              ///< above 1, rank r has the r-th of so many pieces: the ranks share all arrays
};

/// The sum of every row, an item a row: lanes are as far apart as rows are long.
struct Sum {
  Tensor from, to;
  std::uint64_t rows = 0, length = 0;
};

/// The largest of every window of a plane, and where it is; backwards, what came from there.
struct Pool {
  Tensor from, to, places;
  std::uint64_t planes = 0, side = 0, result_side = 0;
  std::uint32_t kernel = 2, stride = 2, pad = 0;
  bool backward = false;   ///< from the gradients of the results to those of the planes
  std::uint64_t salt = 0;  ///< where the largest element of a window is, is drawn by this

  /// Position in window (y, x) of a rank's plane of its largest element: its row times `kernel` plus its column.
  std::uint32_t place_of(std::uint64_t rank, std::uint64_t plane, std::uint64_t y, std::uint64_t x) const;
};

/// Sums over all elements of a channel of images in planes: a workgroup a channel.
struct Moments {
  std::array<Tensor, 2> in{};
  std::uint32_t inputs = 1;
  std::array<Tensor, 2> out{};  ///< one value a channel in each
  std::uint64_t images = 0, channels = 0, area = 0;
};

/// Probabilities from the network's results, an item an image; results of a class lie side by side.
struct Softmax {
  Tensor from, to;
  std::uint64_t classes = 0, images = 0;
};

/// Twice through every row, a workgroup a row: layer normalization, softmax of the scores.
struct RowPass {
  Tensor from, to;
  Tensor scale{}, shift{};  ///< of layer normalization, as long as a row
  bool scaled = false;
  std::uint64_t rows = 0, length = 0;
  std::uint32_t arithmetic = 6;  ///< vector-ALU instructions for an element, both passes together
  std::uint32_t bytes = 4;
};

/// How the items of a rank go through what the ranks exchange: each takes a word, then the one `items` words later.
struct Striding {
  std::uint32_t items = 1024;
  std::uint32_t word = 4;  ///< bytes; pieces are counted in words
};

/// A step of the ring: every rank stores a piece of its array into the next rank's.
struct Push {
  Tensor from, to;
  Pieces pieces;
  std::uint64_t ahead = 0;  ///< rank r sends piece (r + ahead) mod ranks
  Striding by{};
};

/// A rank adds what it has received to its own.
struct Reduce {
  Tensor received, own;
  Pieces pieces;
  std::uint64_t ahead = 0;   ///< rank r adds piece (r + ahead) mod ranks
  std::uint64_t copies = 1;  ///< received
  bool stacked = false;      ///< they lie one after the other, each a longest piece long; else at the piece's own place
  bool average = false;
  Striding by{};
};

/// What every rank stores into all others at once.
enum class Sent : std::uint8_t {
  Theirs,  ///< to each its piece, where those of all senders lie one after the other
  Own,     ///< the own piece to each, to its own place
  Swapped  ///< to each its piece, to the place of the sender's piece; the one for itself too
};

struct Scatter {
  Tensor from, to;
  Pieces pieces;
  Sent sent = Sent::Theirs;
  Striding by{};
};

/// Every rank stores its whole array into all others, where those of all senders lie one after the other.
struct Spread {
  Tensor from, to;
  Pieces pieces;
  Striding by{};
};

/// Every rank loads everybody's array and keeps the sum.
struct Pull {
  Tensor from, to;
  Pieces pieces;
  Striding by{};
};

/// Every rank loads words from one array and stores them into another, of which one or both are multicast memory: its
/// own piece, or all of it.
struct Through {
  Tensor from, to;
  Pieces pieces;
  bool whole = false;
  Striding by{};
};

/// A step of a tree, in which every level of it works on another chunk of the arrays.
struct TreeStep {
  Tensor own, received;  ///< received: two arrays one after the other, of the left and of the right child
  Tree tree;
  Pieces chunks;
  std::uint64_t step = 0;
  Striding by{};
};

/// Ranks store what they have added up into their parents' received arrays.
struct Climb : TreeStep {};

/// Ranks add what their children have stored to their own.
struct Join : TreeStep {};

/// Ranks store the sum into their children's arrays.
struct Descend : TreeStep {};

/// y = w·x, a wavefront a row, with x in local memory.
struct Gemv {
  Tensor w, x, y;
  std::uint64_t rows = 0, columns = 0;
  std::uint32_t bytes = 4;
  std::uint32_t ranks = 1;  ///< above 1, results go to all of them, rank r's behind those of rank r - 1
  bool collect = false;     ///< a workgroup stores its results side by side, not each by itself
};

/// A new token's attention to those before it: a workgroup a head.
struct Attend {
  Tensor query, keys, values, to;
  std::uint64_t context = 0;           ///< tokens attended to
  std::uint64_t heads = 0, width = 0;  ///< of each rank; elements of a head
  std::uint32_t bytes = 4;
  std::uint32_t ranks = 1;  ///< above 1, results go to all of them
};

using Kernel = std::variant<Unroll, Gemm, Gather, Map, Sum, Pool, Moments, Softmax, RowPass, Push, Reduce, Scatter,
                            Spread, Pull, Through, Climb, Join, Descend, Gemv, Attend>;

/// The grid of one rank; the network adds the ranks.
Launch grid(const Unroll& kernel);
Launch grid(const Gemm& kernel);
Launch grid(const Gather& kernel);
Launch grid(const Map& kernel);
Launch grid(const Sum& kernel);
Launch grid(const Pool& kernel);
Launch grid(const Moments& kernel);
Launch grid(const Softmax& kernel);
Launch grid(const RowPass& kernel);
Launch grid(const Push& kernel);
Launch grid(const Reduce& kernel);
Launch grid(const Scatter& kernel);
Launch grid(const Spread& kernel);
Launch grid(const Pull& kernel);
Launch grid(const Through& kernel);
Launch grid(const TreeStep& kernel);
Launch grid(const Gemv& kernel);
Launch grid(const Attend& kernel);

Stream stream(const Unroll& kernel, const Wave& wave);
Stream stream(const Gemm& kernel, const Wave& wave);
Stream stream(const Gather& kernel, const Wave& wave);
Stream stream(const Map& kernel, const Wave& wave);
Stream stream(const Sum& kernel, const Wave& wave);
Stream stream(const Pool& kernel, const Wave& wave);
Stream stream(const Moments& kernel, const Wave& wave);
Stream stream(const Softmax& kernel, const Wave& wave);
Stream stream(const RowPass& kernel, const Wave& wave);
Stream stream(const Push& kernel, const Wave& wave);
Stream stream(const Reduce& kernel, const Wave& wave);
Stream stream(const Scatter& kernel, const Wave& wave);
Stream stream(const Spread& kernel, const Wave& wave);
Stream stream(const Pull& kernel, const Wave& wave);
Stream stream(const Through& kernel, const Wave& wave);
Stream stream(const Climb& kernel, const Wave& wave);
Stream stream(const Join& kernel, const Wave& wave);
Stream stream(const Descend& kernel, const Wave& wave);
Stream stream(const Gemv& kernel, const Wave& wave);
Stream stream(const Attend& kernel, const Wave& wave);

}  // namespace nearfar::dnn
