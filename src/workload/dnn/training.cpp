#include "workload/dnn/training.h"

#include <algorithm>
#include <utility>

namespace nearfar::dnn {
namespace {

constexpr std::uint64_t kLineFloats = 16;
enum Exchange : std::uint64_t { kRing, kAllToAll, kPull };

}  // namespace

Training::Training(const Parameters& parameters, std::uint64_t seed, Layers layers)
    : Network(parameters["ranks"]),
      batch_(parameters["batch"]),
      steps_(parameters["steps"]),
      phases_(parameters["phases"]),
      first_part_(parameters["first_part"]),
      parts_(parameters["parts"]),
      exchange_(parameters["exchange"]),
      tile_(parameters.u32("tile")),
      shared_(parameters["shared"] == 1),
      seed_(seed),
      layers_(std::move(layers)) {
  parameters.log2("tile", "must be 16, 32 or 64");
  parameters.log2("divisor", "must be 1, 2, 4, 8 or 16");
  if (first_part_ >= layers_.parts) parameters.refuse("first_part", "is beyond the last part", layers_.parts - 1);
  if (phases_ == kExchange && ranks() == 1) parameters.refuse("ranks", "one rank alone exchanges nothing", 2);
  allocate_weights();
  allocate_scratch();
}

void Training::allocate_weights() {
  std::uint64_t end = 0;
  const auto append = [&](std::uint64_t weights, std::uint64_t others) {
    const std::uint64_t first = (end + kLineFloats - 1) / kLineFloats * kLineFloats;
    spans_.push_back({.first = first, .weights = weights, .others = others});
    end = first + weights + others;
  };
  for (const Convolution& c : layers_.convolutions) append(c.weights(), c.normalized ? 2 * c.out : c.out);
  for (const Dense& d : layers_.dense) append(d.in * d.out, d.out);
  const auto array = [&](const char* name) { return shared_ ? shared(name, 4 * end) : on_each(name, 4 * end); };
  weights_ = array("weights");
  momentum_ = array("m");
  velocity_ = array("v");
  weight_gradients_ = on_each("gradients", 4 * end);
  // All-to-all, a rank receives a piece of every other, of which the last may be shorter than there is room for.
  received_ = on_each("received", 4 * (end + ranks()));
}

/// What lives only from one kernel of a layer to the next: as large as the largest layer needs it.
void Training::allocate_scratch() {
  std::uint64_t columns = 1, product = 1, addend = 1, turned = 1, turned_gradient = 1, dilated = 1, weights = 1;
  const auto grow = [](std::uint64_t& size, std::uint64_t needed) { size = std::max(size, needed); };
  for (const Convolution& c : layers_.convolutions) {
    const std::uint64_t area = c.side * c.side, result_area = c.result_side() * c.result_side();
    const std::uint64_t kernel = std::uint64_t{c.kernel} * c.kernel;
    grow(columns, batch_ * kernel * std::max(c.in * result_area, c.out * area));
    grow(product, batch_ * std::max(c.out * result_area, c.in * area));
    grow(addend, std::max(batch_ * c.in * area, c.weights()));
    grow(addend, batch_ * c.out * result_area);
    grow(turned, batch_ * std::max(c.in * area, c.out * result_area));
    grow(turned_gradient, batch_ * c.out * result_area);
    const std::uint64_t dilated_side = (c.result_side() - 1) * c.stride + 1;
    if (c.stride > 1) grow(dilated, batch_ * c.out * dilated_side * dilated_side);
    grow(weights, c.weights());
  }
  for (const Dense& d : layers_.dense) {
    grow(product, batch_ * d.in);
    grow(addend, std::max(batch_ * std::max(d.in, d.out), d.in * d.out));
    grow(turned, batch_ * d.in);
    grow(weights, d.in * d.out);
  }
  columns_ = on_each("col", 4 * columns);
  product_ = on_each("product", 4 * product);
  addend_ = on_each("addend", 4 * addend);
  turned_ = on_each("turned", 4 * turned);
  turned_gradient_ = on_each("turned_gradient", 4 * turned_gradient);
  dilated_ = on_each("dilated", 4 * dilated);
  rotated_ = on_each("rotated", 4 * weights);
  turned_weights_ = on_each("turned_weights", 4 * weights);
}

Activation Training::make(const std::string& name, std::uint64_t channels, std::uint64_t side, bool in_rows) {
  const Activation made{.id = values_.size(), .channels = channels, .side = side, .in_rows = in_rows};
  values_.push_back(on_each(name + std::to_string(made.id), 4 * floats(made)));
  activations_.push_back(made);
  same_gradient_.push_back(made.id);
  return made;
}

void Training::record(std::function<void()> forward, std::function<void()> backward) {
  operations_.push_back({part_, std::move(forward), std::move(backward)});
}

std::size_t Training::gradient_id(std::size_t id) const {
  while (same_gradient_[id] != id) id = same_gradient_[id];
  return id;
}

void Training::allocate_gradients() {
  for (const Activation& each : activations_) {
    const bool own = has_gradient(each) && gradient_id(each.id) == each.id;
    gradients_.push_back(own ? on_each("gradient" + std::to_string(each.id), 4 * floats(each)) : Tensor{});
  }
}

void Training::launch(const char* name, const Kernel& kernel) {
  if (runs(part_)) add(name, kernel);
}

Activation Training::images(std::uint64_t channels, std::uint64_t side) {
  const Activation made = make("images", channels, side);
  images_ = made.id;
  return made;
}

Activation Training::convolve(std::size_t convolution, const Activation& x) {
  const Convolution c = layers_.convolutions[convolution];
  const Activation y = make("convolved", c.out, c.result_side());
  spans_[convolution].part = part_;
  const Span span = spans_[convolution];
  record([=, this] { convolve_forward(c, span, x, y); },
         [=, this] {
           convolve_weights(c, span, x, y);
           if (has_gradient(x)) convolve_back(c, span, x, y);
         });
  return y;
}

Activation Training::connect(std::size_t dense, const Activation& x) {
  const Dense d = layers_.dense[dense];
  const Activation y = make("connected", d.out, 1, true);
  Span& own = spans_[layers_.convolutions.size() + dense];
  own.part = part_;
  record([=, this, span = own] { connect_forward(d, span, x, y); },
         [=, this, span = own] { connect_back(d, span, x, y); });
  return y;
}

Activation Training::normalize(std::size_t convolution, const Activation& x) {
  const Activation y = make("normalized", x.channels, x.side);
  const Tensor moments = on_each("moments" + std::to_string(y.id), 8 * x.channels);
  const Span span = spans_[convolution];
  record([=, this] { normalize_forward(span, moments, x, y); }, [=, this] { normalize_back(span, moments, x, y); });
  return y;
}

Activation Training::rectify(const Activation& x) {
  const Activation y = make("rectified", x.channels, x.side, x.in_rows);
  record([=, this] { launch("relu", Map{.elements = floats(x), .in = {value(x)}, .out = {value(y)}}); },
         [=, this] {
           launch("relu_back",
                  Map{.elements = floats(x), .in = {value(y), gradient(y)}, .inputs = 2, .out = {gradient(x)}});
         });
  return y;
}

Activation Training::largest(const Activation& x, std::uint32_t kernel, std::uint32_t stride, std::uint32_t pad) {
  const std::uint64_t result_side = (x.side + 2 * pad - kernel) / stride + 1;
  const Activation y = make("pooled", x.channels, result_side);
  Pool pool{.from = value(x),
            .to = value(y),
            .places = on_each("places" + std::to_string(y.id), 4 * floats(y)),
            .planes = batch_ * x.channels,
            .side = x.side,
            .result_side = result_side,
            .kernel = kernel,
            .stride = stride,
            .pad = pad,
            .salt = seed_ + y.id};
  record([=, this] { launch("max_pool", pool); },
         [=, this]() mutable {
           pool.from = gradient(y);
           pool.to = gradient(x);
           pool.backward = true;
           launch("max_pool_back", pool);
         });
  return y;
}

Activation Training::average(const Activation& x) {
  const Activation y = make("averaged", x.channels, 1);
  const std::uint64_t planes = batch_ * x.channels;
  record([=, this] { launch("average", Sum{.from = value(x), .to = value(y), .rows = planes, .length = x.area()}); },
         [=, this] {
           gather("repeat", gradient(y), gradient(x), {1, planes, x.area()}, {0, 1, 0});
         });
  return y;
}

Activation Training::sum(const Activation& x, const Activation& y) {
  const Activation z = make("sum", x.channels, x.side);
  same_gradient_[x.id] = same_gradient_[y.id] = z.id;
  record(
      [=, this] {
        launch("add", Map{.elements = floats(z), .in = {value(x), value(y)}, .inputs = 2, .out = {value(z)}});
      },
      [] {});
  return z;
}

std::array<Activation, 2> Training::fork(const Activation& x) {
  std::array<Activation, 2> both{x, x};
  for (Activation& each : both) {
    each.id = values_.size();
    values_.push_back(value(x));
    activations_.push_back(each);
    same_gradient_.push_back(each.id);
  }
  record([] {},
         [=, this] {
           launch("add", Map{.elements = floats(x),
                             .in = {gradient(both[0]), gradient(both[1])},
                             .inputs = 2,
                             .out = {gradient(x)}});
         });
  return both;
}

void Training::train(const Activation& scores) {
  allocate_gradients();
  probabilities_ = on_each("probabilities", 4 * floats(scores));
  labels_ = on_each("labels", 4 * batch_);
  record([=, this] { loss_forward(scores); }, [=, this] { loss_back(scores); });
  const auto pass = [&](const Operation& operation, const std::function<void()>& direction) {
    part_ = operation.part;
    direction();
  };
  for (std::uint64_t step = 0; step < steps_; ++step) {
    if ((phases_ & kForward) != 0) {
      for (const Operation& each : operations_) pass(each, each.forward);
    }
    if ((phases_ & kBackward) != 0) {
      for (auto each = operations_.rbegin(); each != operations_.rend(); ++each) pass(*each, each->backward);
    }
    if ((phases_ & kExchange) != 0 && ranks() > 1) {
      for (auto span = spans_.rbegin(); span != spans_.rend(); ++span) {
        if (runs(span->part)) exchange(*span);
      }
    }
    if ((phases_ & kUpdate) != 0) {
      for (const Span& span : spans_) {
        if (runs(span.part)) update(span);
      }
    }
  }
  operations_.clear();
}

void Training::exchange(const Span& span) {
  const Tensor own = weight_gradients_.after(4 * span.first), received = received_.after(4 * span.first);
  const Pieces pieces{span.length(), ranks()};
  switch (exchange_) {
    case kRing: ring(own, received, pieces, true); break;
    case kAllToAll:
      direct_reduce(own, received, pieces, true);
      direct_gather(own, pieces);
      break;
    default: add("pull", Pull{.from = own, .to = received, .pieces = pieces});
  }
}

void Training::update(const Span& span) {
  const bool pulled = exchange_ == kPull && ranks() > 1 && (phases_ & kExchange) != 0;
  const auto own = [&](const Tensor& array) { return array.after(4 * span.first); };
  add("adam", Map{.elements = span.length(),
                  .in = {own(weights_), own(pulled ? received_ : weight_gradients_), own(momentum_), own(velocity_)},
                  .inputs = 4,
                  .out = {own(weights_), own(momentum_), own(velocity_)},
                  .outputs = 3,
                  .arithmetic = 20,
                  .pieces = shared_ ? ranks() : 1});
}

std::vector<WorkloadParameter> training_parameters(const std::array<std::uint64_t, 3>& divisor,
                                                   const std::array<std::uint64_t, 3>& batch,
                                                   const std::array<std::uint64_t, 3>& ranks,
                                                   const std::array<std::uint64_t, 3>& phases,
                                                   const std::array<std::uint64_t, 3>& first_part,
                                                   const std::array<std::uint64_t, 3>& parts) {
  return {sized("divisor", "channels and hidden features are this many times fewer than published", divisor, 1, 16),
          sized("batch", "images of a rank", batch, 1, 1024),
          sized("ranks", "GPUs that train together, each with all weights and images of its own", ranks, 1, 64),
          constant("steps", "training steps, one after the other", 1, 1, 1000),
          sized("phases", "sum of the phases of a step that run: 1 forward, 2 backward, 4 exchange, 8 update", phases,
                1, 15),
          sized("first_part", "first part of the network that runs", first_part, 0, 63),
          sized("parts", "parts of the network that run; 0 runs all from the first on", parts, 0, 64),
          constant("exchange", "how gradients are added up: 0 ring, 1 all to all, 2 by loads from every rank", 0, 0, 2),
          constant("shared", "1: all ranks share one copy of the weights, and each updates a piece of it", 0, 0, 1),
          constant("tile", "results on a side of a product's tile: 16, 32 or 64", 16, 16, 64, 16)};
}

}  // namespace nearfar::dnn
