//===- Convolution.cpp - Convolutions by one-thread library calls ---------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Device/Convolution.h"
#include "LibraryObjects.h"
#include "OneThread.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <string_view>

using namespace smp;
using namespace smp::runtime;
using namespace smp::runtime::dnnl;

namespace {

/// The tensors of a convolution (input, kernels, output), whatever is asked
/// for.
enum Role { Source, Kernels, Target };
using Layouts = std::array<dnnl_memory_desc_t, 3>;

/// Bytes that the library's parts of a scratch begin at multiples of.
constexpr size_t alignment = 256;
size_t aligned(size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The operands a, b and c of a command, by pass.
std::array<Role, 3> rolesOf(ConvolutionPass pass) {
  switch (pass) {
  case ConvolutionPass::Forward:
    return {Source, Kernels, Target};
  case ConvolutionPass::BackwardData:
    return {Target, Kernels, Source};
  case ConvolutionPass::BackwardWeights:
    return {Target, Source, Kernels};
  }
  return {};
}

/// Layouts of one tile: dense and row-major, or of the library's choice.
bool describe(const ConvolutionCommand &c, bool choose, Layouts &layouts) {
  int64_t rows = c.rows / c.tiles;
  dnnl_dims_t input = {rows, c.input[0], c.input[1], c.input[2]};
  dnnl_dims_t output = {rows, c.output[0], c.output[1], c.output[2]};
  dnnl_dims_t plain = {c.output[0], c.input[0], c.kernel[0], c.kernel[1]};
  dnnl_dims_t grouped = {c.groups, c.output[0] / c.groups,
                         c.input[0] / c.groups, c.kernel[0], c.kernel[1]};
  auto init = [&](Role role, int rank, const dnnl_dims_t sizes,
                  dnnl_format_tag_t tag) {
    return ok(dnnl_memory_desc_init_by_tag(&layouts[role], rank, sizes,
                                           dnnl_f32,
                                           choose ? dnnl_format_tag_any : tag));
  };
  return init(Source, 4, input, dnnl_nchw) &&
         init(Target, 4, output, dnnl_nchw) &&
         (c.groups > 1 ? init(Kernels, 5, grouped, dnnl_goihw)
                       : init(Kernels, 4, plain, dnnl_oihw));
}

bool describe(const ConvolutionCommand &c, ConvolutionPass pass,
              const Layouts &layouts, dnnl_convolution_desc_t &description) {
  dnnl_dims_t strides = {c.stride[0], c.stride[1]};
  dnnl_dims_t dilates = {c.dilation[0] - 1, c.dilation[1] - 1};
  dnnl_dims_t padding = {c.padding[0], c.padding[1]};
  const dnnl_memory_desc_t *input = &layouts[Source],
                           *output = &layouts[Target],
                           *kernels = &layouts[Kernels];
  constexpr auto kind = dnnl_convolution_direct;
  if (pass == ConvolutionPass::Forward)
    return ok(dnnl_dilated_convolution_forward_desc_init(
        &description, dnnl_forward_training, kind, input, kernels, nullptr,
        output, strides, dilates, padding, padding));
  if (pass == ConvolutionPass::BackwardData)
    return ok(dnnl_dilated_convolution_backward_data_desc_init(
        &description, kind, input, kernels, output, strides, dilates, padding,
        padding));
  return ok(dnnl_dilated_convolution_backward_weights_desc_init(
      &description, kind, input, kernels, nullptr, output, strides, dilates,
      padding, padding));
}

/// The layout that an implementation has for a tensor.
dnnl_memory_desc_t layoutOf(const Description &chosen, ConvolutionPass pass,
                            Role role) {
  bool gradient = role == Target    ? pass != ConvolutionPass::Forward
                  : role == Kernels ? pass == ConvolutionPass::BackwardWeights
                                    : pass == ConvolutionPass::BackwardData;
  dnnl_query_t query =
      gradient ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
  if (role == Source)
    query = gradient ? dnnl_query_diff_src_md : dnnl_query_src_md;
  else if (role == Target)
    query = gradient ? dnnl_query_diff_dst_md : dnnl_query_dst_md;
  return *dnnl_primitive_desc_query_md(chosen.get(), query, 0);
}

/// The number under which a primitive takes a tensor.
int argumentOf(ConvolutionPass pass, Role role) {
  bool forward = pass == ConvolutionPass::Forward;
  if (role == Target)
    return forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST;
  if (role == Source)
    return pass == ConvolutionPass::BackwardData ? DNNL_ARG_DIFF_SRC
                                                 : DNNL_ARG_SRC;
  return pass == ConvolutionPass::BackwardWeights ? DNNL_ARG_DIFF_WEIGHTS
                                                  : DNNL_ARG_WEIGHTS;
}

size_t scratchOf(const Description &description) {
  const dnnl_memory_desc_t *layout = dnnl_primitive_desc_query_md(
      description.get(), dnnl_query_scratchpad_md, 0);
  return layout ? dnnl_memory_desc_get_size(layout) : 0;
}

} // namespace

struct Convolution::Impl {
  /// An operand: where it comes from or goes to, and how.
  struct Port {
    Role role = Source;
    size_t stride = 0; ///< bytes from tile to tile
    dnnl_memory_desc_t plain = {}, own = {};
    size_t place = 0; ///< in the scratch, where the layouts differ
    Primitive reorder;
    bool differs() const { return bool(reorder); }
  };
  /// What executes tiles, on one thread at a time. These are many small
  /// objects: a runner for each tile of a large model would be 20 MB.
  struct Runner {
    std::atomic_flag busy;
    Stream stream;
    std::array<Memory, 3> plain, own;
    Memory scratch;
  };

  explicit Impl(const ConvolutionCommand &command) : command(command) {}

  bool prepare(int threads);
  bool openLibrary();
  bool choose();
  bool choose(bool layouts);
  bool accept(const Description &candidate);
  bool makeReorder(Port &port, bool isResult, size_t &scratch);
  bool makeRunner(Runner &runner) const;
  template <typename Work> void withRunner(Work work);
  bool runTile(const Runner &runner, int64_t tile,
               std::array<std::byte *, 3> operands, std::byte *scratch) const;
  bool reorder(const Runner &runner, size_t port, bool isResult) const;

  ConvolutionCommand command;
  std::string name;
  Engine engine;
  Attributes attributes;
  Description chosen;
  Primitive primitive;
  std::array<Port, 3> ports; ///< a, b and c
  size_t scratchPlace = 0;   ///< behind the reordered operands
  size_t scratchEnd = 0;     ///< bytes of a tile in use
  std::vector<Runner> runners;
};

/// A copy between the command's layout and the implementation's.
bool Convolution::Impl::makeReorder(Port &port, bool isResult,
                                    size_t &scratch) {
  const dnnl_memory_desc_t &from = isResult ? port.own : port.plain;
  const dnnl_memory_desc_t &to = isResult ? port.plain : port.own;
  Description description;
  if (!ok(dnnl_reorder_primitive_desc_create(description.out(), &from,
                                             engine.get(), &to, engine.get(),
                                             attributes.get())) ||
      !ok(dnnl_primitive_create(port.reorder.out(), description.get())))
    return false;
  scratch = std::max(scratch, scratchOf(description));
  return true;
}

/// Takes an implementation if all that it needs fits.
bool Convolution::Impl::accept(const Description &candidate) {
  std::array<Role, 3> roles = rolesOf(command.pass);
  Layouts plain;
  if (!describe(command, /*choose=*/false, plain))
    return false;
  size_t end = 0, scratch = scratchOf(candidate);
  for (size_t i = 0; i < 3; ++i) {
    Port port;
    port.role = roles[i];
    port.plain = plain[roles[i]];
    port.own = layoutOf(candidate, command.pass, roles[i]);
    // The kernels are the same for all tiles, their gradient has parts.
    bool shared = port.role == Kernels && i != 2;
    port.stride = shared ? 0 : dnnl_memory_desc_get_size(&port.plain);
    if (!dnnl_memory_desc_equal(&port.plain, &port.own)) {
      if (!makeReorder(port, /*isResult=*/i == 2, scratch))
        return false;
      port.place = end;
      end += aligned(dnnl_memory_desc_get_size(&port.own));
    }
    ports[i] = std::move(port);
  }
  scratchPlace = end;
  scratchEnd = end + scratch;
  return scratchEnd <= size_t(command.scratch.bytes / command.tiles);
}

/// The plain loops of the library, which are right and very slow.
static bool isReference(std::string_view name) {
  return name.starts_with("ref");
}

/// The library's implementations in its order of preference.
bool Convolution::Impl::choose(bool layouts) {
  Layouts described;
  dnnl_convolution_desc_t description;
  Description hint;
  if (!describe(command, layouts, described))
    return false;
  if (command.pass != ConvolutionPass::Forward &&
      (!describe(command, ConvolutionPass::Forward, described, description) ||
       !ok(dnnl_primitive_desc_create(
           hint.out(), &description, attributes.get(), engine.get(), nullptr))))
    return false;
  Iterator iterator;
  if (!describe(command, command.pass, described, description) ||
      !ok(dnnl_primitive_desc_iterator_create(iterator.out(), &description,
                                              attributes.get(), engine.get(),
                                              hint.get())))
    return false;
  do {
    Description candidate;
    *candidate.out() = dnnl_primitive_desc_iterator_fetch(iterator.get());
    const char *info = "";
    if (!candidate ||
        !ok(dnnl_primitive_desc_query(candidate.get(), dnnl_query_impl_info_str,
                                      0, static_cast<void *>(&info))) ||
        (layouts && isReference(info)) || !accept(candidate))
      continue;
    name = info;
    chosen = std::move(candidate);
    return true;
  } while (ok(dnnl_primitive_desc_iterator_next(iterator.get())));
  return false;
}

/// Layouts of the library's own first: those of a lesser instruction set, where
/// the best do not fit, are better than plain ones.
bool Convolution::Impl::choose() {
  return choose(/*layouts=*/true) || choose(/*layouts=*/false);
}

bool Convolution::Impl::makeRunner(Runner &runner) const {
  auto make = [&](Memory &memory, const dnnl_memory_desc_t *layout) {
    return ok(dnnl_memory_create(memory.out(), layout, engine.get(),
                                 DNNL_MEMORY_NONE));
  };
  dnnl_memory_desc_t bytes;
  size_t rest = size_t(command.scratch.bytes / command.tiles) - scratchPlace;
  dnnl_dims_t size = {dnnl_dim_t(std::max<size_t>(rest, 1))};
  if (!ok(dnnl_memory_desc_init_by_tag(&bytes, 1, size, dnnl_u8, dnnl_x)) ||
      !ok(dnnl_stream_create(runner.stream.out(), engine.get(),
                             dnnl_stream_default_flags)) ||
      !make(runner.scratch, &bytes))
    return false;
  for (size_t i = 0; i < 3; ++i)
    if (!make(runner.plain[i], &ports[i].plain) ||
        (ports[i].differs() && !make(runner.own[i], &ports[i].own)))
      return false;
  return true;
}

bool Convolution::Impl::openLibrary() {
  return ok(dnnl_engine_create(engine.out(), dnnl_cpu, 0)) &&
         ok(dnnl_primitive_attr_create(attributes.out())) &&
         ok(dnnl_primitive_attr_set_scratchpad_mode(attributes.get(),
                                                    dnnl_scratchpad_mode_user));
}

bool Convolution::Impl::prepare(int threads) {
  if (!openLibrary() || !choose() ||
      !ok(dnnl_primitive_create(primitive.out(), chosen.get())))
    return false;
  runners = std::vector<Runner>(
      size_t(std::min<int64_t>(std::max(threads, 1), command.tiles)));
  return std::ranges::all_of(
      runners, [&](Runner &runner) { return makeRunner(runner); });
}

/// Calls `work` with a runner that no other thread has: where commands that
/// share a convolution overlap there may be none left, and one is made.
template <typename Work> void Convolution::Impl::withRunner(Work work) {
  for (Runner &runner : runners)
    if (!runner.busy.test_and_set(std::memory_order_acquire)) {
      work(&runner);
      runner.busy.clear(std::memory_order_release);
      return;
    }
  Runner own;
  work(makeRunner(own) ? &own : nullptr);
}

bool Convolution::Impl::reorder(const Runner &runner, size_t port,
                                bool isResult) const {
  const Memory &plain = runner.plain[port], &own = runner.own[port];
  dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_FROM, isResult ? own.get() : plain.get()},
      {DNNL_ARG_TO, isResult ? plain.get() : own.get()},
      {DNNL_ARG_SCRATCHPAD, runner.scratch.get()}};
  return ok(dnnl_primitive_execute(ports[port].reorder.get(),
                                   runner.stream.get(), 3, arguments));
}

bool Convolution::Impl::runTile(const Runner &runner, int64_t tile,
                                std::array<std::byte *, 3> operands,
                                std::byte *scratch) const {
  dnnl_exec_arg_t arguments[4];
  for (size_t i = 0; i < 3; ++i) {
    const Port &port = ports[i];
    bool differs = port.differs();
    const Memory &memory = differs ? runner.own[i] : runner.plain[i];
    std::byte *plain = operands[i] + size_t(tile) * port.stride;
    if (!ok(dnnl_memory_set_data_handle(runner.plain[i].get(), plain)) ||
        (differs &&
         !ok(dnnl_memory_set_data_handle(memory.get(), scratch + port.place))))
      return false;
    arguments[i] = {argumentOf(command.pass, port.role), memory.get()};
  }
  arguments[3] = {DNNL_ARG_SCRATCHPAD, runner.scratch.get()};
  if (!ok(dnnl_memory_set_data_handle(runner.scratch.get(),
                                      scratch + scratchPlace)))
    return false;
  for (size_t i = 0; i < 2; ++i)
    if (ports[i].differs() && !reorder(runner, i, /*isResult=*/false))
      return false;
  return ok(dnnl_primitive_execute(primitive.get(), runner.stream.get(), 4,
                                   arguments)) &&
         (!ports[2].differs() || reorder(runner, 2, /*isResult=*/true)) &&
         ok(dnnl_stream_wait(runner.stream.get()));
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

Convolution::Convolution(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Convolution::~Convolution() = default;

const std::string &Convolution::implementation() const { return impl->name; }

Result<std::unique_ptr<Convolution>>
Convolution::create(const ConvolutionCommand &command, int threads) {
  useOneThread();
  auto impl = std::make_unique<Impl>(command);
  if (!impl->prepare(threads))
    return Error{"expects a convolution that oneDNN has an implementation of, "
                 "got one of " +
                     shapeString(command.input) + " to " +
                     shapeString(command.output),
                 "its version must be 2.6 or a later one of 2"};
  return std::unique_ptr<Convolution>(new Convolution(std::move(impl)));
}

std::optional<int64_t>
Convolution::scratchBytes(const ConvolutionCommand &command) {
  useOneThread();
  Impl impl(command);
  impl.command.scratch.bytes = std::numeric_limits<int64_t>::max();
  if (!impl.openLibrary() || !impl.choose())
    return std::nullopt;
  return int64_t(impl.scratchEnd);
}

void Convolution::run(const float *a, const float *b, float *c, float *scratch,
                      int64_t begin, int64_t end) const {
  useOneThread();
  // The library's handles know no const.
  std::array<std::byte *, 3> operands = {
      reinterpret_cast<std::byte *>(const_cast<float *>(a)),
      reinterpret_cast<std::byte *>(const_cast<float *>(b)),
      reinterpret_cast<std::byte *>(c)};
  int64_t perTile = impl->command.scratch.bytes / impl->command.tiles;
  impl->withRunner([&](const Impl::Runner *runner) {
    for (int64_t tile = begin; tile < end; ++tile) {
      auto *memory = reinterpret_cast<std::byte *>(scratch) + tile * perTile;
      if (runner && impl->runTile(*runner, tile, operands, memory))
        continue;
      size_t count = impl->ports[2].stride / sizeof(float);
      std::fill_n(c + size_t(tile) * count, count,
                  std::numeric_limits<float>::quiet_NaN());
    }
  });
}
