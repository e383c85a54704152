//===- KernelTest.cpp - Generated code against the interpreter --*- C++ -*-===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function of kernels.mlir is lowered, its kernels are compiled into one
// shared object and called as the executor would, and the results are compared
// with the interpreter's on the same random operands.
//
//===----------------------------------------------------------------------===//

#include "Fixtures/TemporaryPath.h"
#include "smp/Codegen/HostCode.h"
#include "smp/Codegen/KernelLibrary.h"
#include "smp/Emit/EmitJob.h"
#include "smp/Interpret/Execute.h"
#include "smp/Lowering/Lowering.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace smp;
using interpret::Tensor;

namespace {

using Kernel = void (*)(void *const *, const int64_t *, const StepState *,
                        int64_t, int64_t);
using Bytes = std::vector<std::byte>;

StepState stepState() {
  StepState step{};
  step.seed = 77;
  step.step = 4;
  step.sampleOffset = 12;
  step.learningRate = 0.01;
  step.biasCorrection1 = 0.4;
  step.biasCorrection2 = 0.05;
  step.lossScale = 1;
  return step;
}

template <typename T, typename From> Bytes pack(std::span<const From> values) {
  Bytes bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

Bytes toBytes(const Tensor &tensor, Type elementType) {
  if (elementType.isF64())
    return pack<double>(tensor.floats());
  if (elementType.isF32())
    return pack<float>(tensor.floats());
  if (elementType.isInteger(1))
    return pack<uint8_t>(tensor.ints());
  if (elementType.isInteger(32))
    return pack<int32_t>(tensor.ints());
  return pack<int64_t>(tensor.ints());
}

/// The element at `i` of a buffer.
double element(const Bytes &bytes, Type type, int64_t i) {
  auto read = [&](auto value) {
    std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
    return static_cast<double>(value);
  };
  return type.isF64()         ? read(double{})
         : type.isF32()       ? read(float{})
         : type.isInteger(1)  ? read(uint8_t{})
         : type.isInteger(32) ? read(int32_t{})
                              : read(int64_t{});
}

/// Everything compiled once.
class Compiled {
public:
  static Compiled &get() {
    static Compiled instance;
    return instance;
  }

  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  /// As written; with and without fusion.
  OwningOpRef<ModuleOp> original, lowered, unfused;
  DenseMap<Operation *, codegen::KernelUse> uses;
  std::vector<Kernel> kernels;
  bool ok = false;

private:
  Compiled() {
    registerEmit(registry);
    interpret::registerInterpreter(registry);
    registry.insert<func::FuncDialect>();
    context = std::make_unique<MLIRContext>(registry);
    context->allowUnregisteredDialects();
    context->loadAllAvailableDialects();
    original = parseSourceFile<ModuleOp>(SMP_KERNELS_FILE, context.get());
    if (!original)
      return;
    lowered = original->clone();
    if (failed(lowerPrograms(*lowered)) || failed(verify(*lowered)))
      return;
    unfused = original->clone();
    for (auto function : unfused->getOps<func::FuncOp>()) {
      decompose(function);
      formClusters(function, /*fuse=*/false);
    }
    codegen::KernelLibrary library(context.get());
    for (ModuleOp module : {*lowered, *unfused})
      module.walk(
          [&](ClusterOp cluster) { uses[cluster] = library.add(cluster); });
    std::string path = smp::runtime::test::temporaryPath("kernels.so");
    if (failed(verify(library.module())) ||
        failed(codegen::lowerKernels(library.module())) ||
        failed(codegen::writeSharedObject(library.module(),
                                          codegen::hostTarget(), path)))
      return;
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(handle) << dlerror();
    for (const std::string &symbol : library.symbols())
      kernels.push_back(
          reinterpret_cast<Kernel>(dlsym(handle, symbol.c_str())));
    ok = handle;
  }
};

/// Executes a lowered function; each value has a buffer of its own.
class LoweredRun {
public:
  explicit LoweredRun(func::FuncOp function) : function(function) {}

  void run(const std::vector<Tensor> &arguments) {
    Block &block = function.getBody().front();
    for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
      buffers[argument] = toBytes(tensor, typeOf(argument).getElementType());
    for (Operation &op : block.without_terminator())
      execute(&op);
  }
  const Bytes &result(unsigned i) {
    return buffers[function.getBody().front().getTerminator()->getOperand(i)];
  }

private:
  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

  void allocate(Value value) {
    int64_t width = std::max(1u, typeOf(value).getElementTypeBitWidth() / 8);
    buffers[value].assign(typeOf(value).getNumElements() * width,
                          std::byte{0xFF});
  }

  void execute(Operation *op) {
    if (auto cluster = dyn_cast<ClusterOp>(op))
      return call(cluster);
    interpretOp(op);
  }

  void call(ClusterOp cluster) {
    for (Value result : cluster.getResults())
      allocate(result);
    std::vector<void *> pointers;
    for (Value operand : cluster.getOperands())
      pointers.push_back(buffers[operand].data());
    for (Value result : cluster.getResults())
      pointers.push_back(buffers[result].data());
    const codegen::KernelUse &use = Compiled::get().uses[cluster];
    StepState step = stepState();
    // The tiles one by one, last first: their order must not matter.
    for (int64_t tile = use.tiles; tile-- > 0;)
      Compiled::get().kernels[use.kernel](
          pointers.data(), use.immediates.data(), &step, tile, tile + 1);
  }

  /// What is no kernel: the library's commands are tested where they are
  /// called.
  void interpretOp(Operation *op) {
    std::vector<Tensor> operands;
    for (Value operand : op->getOperands()) {
      RankedTensorType type = typeOf(operand);
      Type elementType = type.getElementType();
      Tensor tensor(
          interpret::dataTypeOf(elementType),
          interpret::Shape(type.getShape().begin(), type.getShape().end()));
      for (int64_t i = 0; i < tensor.size(); ++i) {
        double value = element(buffers[operand], elementType, i);
        if (tensor.isFloat())
          tensor.mutableFloats()[i] = value;
        else
          tensor.mutableInts()[i] = static_cast<int64_t>(value);
      }
      operands.push_back(std::move(tensor));
    }
    SmallVector<Tensor> results;
    interpret::Context context;
    auto meaning = cast<interpret::InterpretableOpInterface>(op);
    ASSERT_TRUE(succeeded(meaning.interpret(operands, results, context)));
    for (auto [result, tensor] : llvm::zip(op->getResults(), results))
      buffers[result] = toBytes(tensor, typeOf(result).getElementType());
  }

  func::FuncOp function;
  DenseMap<Value, Bytes> buffers;
};

double bound(func::FuncOp function, unsigned argument, StringRef name,
             double otherwise) {
  auto attribute = function.getArgAttrOfType<FloatAttr>(argument, name);
  return attribute ? attribute.getValueAsDouble() : otherwise;
}

std::vector<Tensor> randomArguments(func::FuncOp function) {
  std::mt19937_64 random(17);
  std::vector<Tensor> arguments;
  for (auto [i, each] : llvm::enumerate(function.getArgumentTypes())) {
    auto type = cast<RankedTensorType>(each);
    bool isFloat = isa<FloatType>(type.getElementType());
    double low = bound(function, i, "test.low", isFloat ? -1 : 0);
    double high = bound(function, i, "test.high", 1);
    std::uniform_real_distribution<double> distribution(low, high);
    interpret::Shape shape(type.getShape().begin(), type.getShape().end());
    DataType dataType = interpret::dataTypeOf(type.getElementType());
    if (isFloat) {
      std::vector<double> elements(type.getNumElements());
      for (double &value : elements)
        value = distribution(random);
      arguments.emplace_back(dataType, shape, std::move(elements));
      arguments.back().roundToType();
      continue;
    }
    std::vector<int64_t> elements(type.getNumElements());
    for (int64_t &value : elements)
      value = static_cast<int64_t>(distribution(random));
    arguments.emplace_back(dataType, shape, std::move(elements));
  }
  return arguments;
}

class KernelTest : public testing::TestWithParam<const char *> {};

TEST_P(KernelTest, EqualsTheInterpreter) {
  Compiled &compiled = Compiled::get();
  ASSERT_TRUE(compiled.ok);
  auto original = compiled.original->lookupSymbol<func::FuncOp>(GetParam());
  auto lowered = compiled.lowered->lookupSymbol<func::FuncOp>(GetParam());
  ASSERT_TRUE(original && lowered);
  std::vector<Tensor> arguments = randomArguments(original);
  interpret::Context context;
  context.step = stepState();
  auto expected = interpret::execute(original, arguments, context);
  ASSERT_TRUE(succeeded(expected));
  LoweredRun run(lowered);
  run.run(arguments);
  for (auto [number, tensor] : llvm::enumerate(*expected)) {
    Type type = cast<RankedTensorType>(original.getResultTypes()[number])
                    .getElementType();
    double largest = 0, difference = 0;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      double value = tensor.number(i),
             got = element(run.result(number), type, i);
      largest = std::max(largest, std::abs(value));
      // Not a number must not pass for equal.
      if (!(std::abs(value - got) <= difference))
        difference = std::isnan(got) ? INFINITY : std::abs(value - got);
    }
    EXPECT_LE(difference, 4e-6 * largest) << "result " << number;
  }
}

TEST_P(KernelTest, FusionChangesNoBit) {
  Compiled &compiled = Compiled::get();
  ASSERT_TRUE(compiled.ok);
  auto fused = compiled.lowered->lookupSymbol<func::FuncOp>(GetParam());
  auto cut = compiled.unfused->lookupSymbol<func::FuncOp>(GetParam());
  std::vector<Tensor> arguments = randomArguments(fused);
  LoweredRun fusedRun(fused), cutRun(cut);
  fusedRun.run(arguments);
  cutRun.run(arguments);
  for (unsigned i = 0; i < fused.getNumResults(); ++i)
    EXPECT_TRUE(fusedRun.result(i) == cutRun.result(i)) << "result " << i;
}

/// The names live as long as the tests.
std::vector<const char *> functionNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    if (Compiled::get().original)
      for (auto function : Compiled::get().original->getOps<func::FuncOp>())
        result.push_back(function.getSymName().str());
    return result;
  }();
  std::vector<const char *> result;
  for (const std::string &name : names)
    result.push_back(name.c_str());
  return result;
}

INSTANTIATE_TEST_SUITE_P(Ops, KernelTest, testing::ValuesIn(functionNames()),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

TEST(KernelLibraryTest, EqualBodiesShareAKernel) {
  Compiled &compiled = Compiled::get();
  ASSERT_TRUE(compiled.ok);
  auto kernelsOf = [&](const char *name) {
    std::set<unsigned> kernels;
    compiled.lowered->lookupSymbol<func::FuncOp>(name).walk(
        [&](ClusterOp cluster) {
          kernels.insert(compiled.uses[cluster].kernel);
        });
    return kernels.size();
  };
  // Two sites of dropout share their code, another shape does not.
  EXPECT_EQ(kernelsOf("dropout"), 2u);
}

} // namespace
