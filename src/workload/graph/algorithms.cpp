#include "workload/graph/algorithms.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <pcg_random.hpp>

namespace nearfar {

ShortestPaths min_plus_rounds(const Csr& graph, std::uint32_t source, std::uint64_t most_rounds) {
  assert(graph.weight.size() == graph.edges());
  const std::uint32_t n = graph.vertices();
  ShortestPaths paths;
  paths.distance.assign(n, ShortestPaths::kFar);
  paths.distance[source] = 0;
  std::vector<std::uint32_t> before;
  for (std::uint64_t round = 0; round < most_rounds && !paths.converged; ++round) {
    before = paths.distance;
    IndexSet changed(n);
    paths.converged = true;
    for (std::uint32_t v = 0; v < n; ++v) {
      std::uint32_t least = before[v];
      for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
        least = std::min(least, before[graph.col[e]] + graph.weight[e]);
      }
      if (least == before[v]) continue;
      paths.distance[v] = least;
      paths.converged = false;
      changed.insert(v);
    }
    paths.changed.push_back(std::move(changed));
  }
  return paths;
}

PushedPaths push_rounds(const Csr& graph, std::uint32_t source, std::uint64_t most_rounds) {
  assert(graph.weight.size() == graph.edges());
  const std::uint32_t n = graph.vertices();
  PushedPaths paths;
  paths.distance.assign(n, ShortestPaths::kFar);
  paths.distance[source] = 0;
  std::vector<std::uint32_t> before, active{source}, next;
  for (std::uint64_t round = 0; round < most_rounds && !active.empty(); ++round) {
    PushRound now{IndexSet(n), IndexSet(graph.edges())};
    before = paths.distance;
    next.clear();
    for (const std::uint32_t u : active) {
      now.active.insert(u);
      for (std::uint32_t e = graph.row[u]; e < graph.row[u + 1]; ++e) {
        const std::uint32_t v = graph.col[e], over = before[u] + graph.weight[e];
        if (over >= before[v]) continue;
        now.improving.insert(e);
        if (paths.distance[v] == before[v]) next.push_back(v);
        paths.distance[v] = std::min(paths.distance[v], over);
      }
    }
    paths.rounds.push_back(std::move(now));
    std::ranges::sort(next);
    std::swap(active, next);
  }
  paths.converged = active.empty();
  return paths;
}

PushedPaths push_rounds_by_parts(const Csr& graph, std::uint32_t source, std::uint64_t part,
                                 std::uint64_t most_rounds) {
  assert(graph.weight.size() == graph.edges());
  struct Sent {
    std::uint64_t rank;
    std::uint32_t vertex, distance;
  };
  const std::uint32_t n = graph.vertices();
  std::vector<std::vector<std::uint32_t>> known((n + part - 1) / part, std::vector(n, ShortestPaths::kFar));
  for (auto& of_rank : known) of_rank[source] = 0;
  PushedPaths paths;
  std::vector<std::uint32_t>& distance = paths.distance;
  distance.assign(n, ShortestPaths::kFar);
  distance[source] = 0;
  std::vector<std::uint32_t> active{source}, next;
  std::vector<Sent> sent;
  for (std::uint64_t round = 0; round < most_rounds && !active.empty(); ++round) {
    PushRound now{IndexSet(n), IndexSet(graph.edges())};
    sent.clear();
    for (const std::uint32_t u : active) {
      now.active.insert(u);
      const std::uint64_t rank = u / part;
      for (std::uint32_t e = graph.row[u]; e < graph.row[u + 1]; ++e) {
        const std::uint32_t v = graph.col[e], over = known[rank][u] + graph.weight[e];
        if (over >= known[rank][v]) continue;
        now.improving.insert(e);
        sent.push_back({rank, v, over});
      }
    }
    next.clear();
    for (const Sent& each : sent) {
      std::uint32_t& view = known[each.rank][each.vertex];
      view = std::min(view, each.distance);
      if (each.distance >= distance[each.vertex]) continue;
      distance[each.vertex] = each.distance;
      next.push_back(each.vertex);
    }
    for (const std::uint32_t v : next) known[v / part][v] = distance[v];
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    paths.rounds.push_back(std::move(now));
    std::swap(active, next);
  }
  paths.converged = active.empty();
  return paths;
}

std::vector<PushRound> fullest_rounds(std::vector<PushRound> rounds, std::uint64_t count) {
  if (count == 0 || count >= rounds.size()) return rounds;
  std::vector<std::size_t> order(rounds.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return rounds[i].improving.count(); });
  order.resize(count);
  std::ranges::sort(order);
  std::vector<PushRound> fullest;
  for (const std::size_t i : order) fullest.push_back(std::move(rounds[i]));
  return fullest;
}

std::vector<std::uint32_t> breadth_first_levels(const Csr& graph, std::uint32_t source) {
  std::vector<std::uint32_t> level(graph.vertices(), kUnreached);
  std::vector<std::uint32_t> reached{source};
  level[source] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const std::uint32_t neighbour : graph.neighbours(reached[i])) {
      if (level[neighbour] != kUnreached) continue;
      level[neighbour] = level[reached[i]] + 1;
      reached.push_back(neighbour);
    }
  }
  return level;
}

Coloring color_rounds(const Csr& graph, std::uint64_t seed, std::uint64_t most_rounds) {
  const std::uint32_t n = graph.vertices();
  pcg64 random(seed, 11);
  std::vector<std::uint64_t> value(n);  // 64 bits, so that no two neighbours have the same
  for (std::uint64_t& each : value) each = random();

  Coloring coloring;
  coloring.color.assign(n, Coloring::kNever);
  std::vector<std::uint32_t> left(n), next;
  for (std::uint32_t v = 0; v < n; ++v) left[v] = v;
  for (bool stop = false; !stop && coloring.rounds < most_rounds; ++coloring.rounds) {
    stop = true;
    next.clear();
    for (const std::uint32_t v : left) {
      bool largest = true;
      for (const std::uint32_t u : graph.neighbours(v)) {
        // A neighbour coloured in this very round still counts as uncoloured. A vertex with one neighbour does not
        // look at it: so the program has it.
        if (coloring.color[u] < coloring.rounds || graph.degree(v) == 1) continue;
        stop = false;
        largest = largest && value[v] > value[u];
      }
      if (largest) {
        coloring.color[v] = coloring.rounds;
      } else {
        next.push_back(v);
      }
    }
    std::swap(left, next);
  }
  return coloring;
}

std::vector<std::uint32_t> draw_distances(std::uint32_t vertices, std::uint64_t seed) {
  pcg32 random(seed, 12);
  std::vector<std::uint32_t> distance(std::size_t{vertices} * vertices);
  for (std::uint32_t& each : distance) each = random(201);
  for (std::size_t v = 0; v < vertices; ++v) distance[v * (vertices + 1)] = 0;
  return distance;
}

AllPairs floyd_warshall_rounds(std::uint32_t vertices, std::uint64_t seed) {
  const std::size_t n = vertices;
  AllPairs pairs{draw_distances(vertices, seed), {}};
  for (std::size_t k = 0; k < n; ++k) {
    IndexSet& improved = pairs.improved.emplace_back(n * n);
    for (std::size_t y = 0; y < n; ++y) {
      for (std::size_t x = 0; x < n; ++x) {
        // Row k and column k do not change in round k: the way from k to itself is 0 long.
        const std::uint32_t over = pairs.distance[y * n + k] + pairs.distance[k * n + x];
        if (over >= pairs.distance[y * n + x]) continue;
        pairs.distance[y * n + x] = over;
        improved.insert(y * n + x);
      }
    }
  }
  return pairs;
}

Ranks rank_rounds(const Csr& matrix, double damping, std::uint64_t most_rounds) {
  const std::uint32_t n = matrix.vertices();
  std::vector<double> entries(n);
  for (const std::uint32_t column : matrix.col) entries[column] += 1;
  Ranks ranks;
  ranks.rank.assign(n, 1.0 / n);
  std::vector<double> share(n);
  for (bool converged = false; !converged && ranks.rounds < most_rounds; ++ranks.rounds) {
    for (std::uint32_t v = 0; v < n; ++v) share[v] = entries[v] > 0 ? ranks.rank[v] / entries[v] : 0;
    converged = true;
    for (std::uint32_t v = 0; v < n; ++v) {
      double sum = 0;
      for (const std::uint32_t column : matrix.neighbours(v)) sum += share[column];
      const double rank = (1 - damping) / n + damping * sum;
      converged = converged && std::abs(rank - ranks.rank[v]) <= 1e-6 / n;
      ranks.rank[v] = rank;
    }
  }
  return ranks;
}

}  // namespace nearfar
