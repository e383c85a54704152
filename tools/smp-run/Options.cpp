//===- Options.cpp - The command line of smp-run --------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "smp/Support/Config.h"
#include "smp/Support/NearestName.h"

#include <charconv>
#include <functional>
#include <limits>

using namespace smp;
using namespace smp::run;

namespace {

/// One option: how it is written, what it means, what it sets.
struct OptionSpec {
  const char *name;
  const char *argument; ///< empty: a switch
  const char *help;
  const char *fallback; ///< the default, empty: none
  std::function<Status(Options &, const std::string &)> set;
};

} // namespace

static Error wrongValue(const std::string &what, const std::string &value) {
  return Error{"expects " + what + ", got '" + value + "'"};
}

template <typename T>
static Result<T> parseNumber(const std::string &text, T low, T high,
                             const std::string &what) {
  T value{};
  const char *end = text.data() + text.size();
  auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end ||
      !(value >= low && value <= high))
    return wrongValue(what, text);
  return value;
}

/// Setters by the type of the member.
static auto text(std::string Options::*member) {
  return [member](Options &options, const std::string &value) -> Status {
    if (value.empty())
      return wrongValue("a value", value);
    options.*member = value;
    return {};
  };
}
static auto toggle(bool Options::*member) {
  return [member](Options &options, const std::string &) -> Status {
    options.*member = true;
    return {};
  };
}
template <typename T, typename Member>
static auto number(Member member, T low, const char *what,
                   T high = std::numeric_limits<T>::max()) {
  return [=](Options &options, const std::string &value) -> Status {
    SMP_ASSIGN_OR_RETURN(options.*member,
                         parseNumber<T>(value, low, high, what));
    return {};
  };
}

static Status setTransport(Options &options, const std::string &value) {
  if (value != "mpi" && value != "threads")
    return wrongValue("'mpi' or 'threads'", value);
  options.transport = value;
  return {};
}

static Status setDataOrder(Options &options, const std::string &value) {
  if (value != "shuffled" && value != "file")
    return wrongValue("'shuffled' or 'file'", value);
  options.dataOrder = value;
  return {};
}

static Status setOnNan(Options &options, const std::string &value) {
  if (value != "stop" && value != "skip")
    return wrongValue("'stop' or 'skip'", value);
  options.onNan = value;
  return {};
}

static const std::vector<OptionSpec> &optionSpecs() {
  constexpr const char *count = "an integer of at least 1";
  constexpr const char *wide = "an integer from 0 to 2^64 - 1";
  static const std::vector<OptionSpec> specs = {
      {"ranks", "N", "processes, a multiple of the job's pp x tp",
       "pp x tp; the world's size under mpirun",
       number<int>(&Options::ranks, 1, "an integer from 1 to 65536", 65536)},
      {"transport", "mpi|threads",
       "how ranks talk: processes under MPI (started here when not under "
       "mpirun), or threads of this process",
       "mpi", setTransport},
      {"threads", "T", "compute threads per rank",
       "cores of the host / ranks on it",
       number<int>(&Options::threads, 1, "an integer from 1 to 1024", 1024)},
      {"data", "FILE",
       "training data: raw tokens, by the end of the name of 8, 16 or 32 bits "
       "(.u8, .u16, .u32; another one: bytes), or a safetensors file of arrays "
       "named as the model's inputs, as --data text.u8",
       "", text(&Options::data)},
      {"data-order", "shuffled|file",
       "samples in another random order each epoch, or as they lie in the "
       "file, from its start again after its end",
       "shuffled", setDataOrder},
      {"steps", "N", "updates in all, those before a resume included", "",
       number<int64_t>(&Options::steps, 0, "an integer from 0 to 2^60",
                       int64_t(1) << 60)},
      {"on-nan", "stop|skip",
       "where a loss or the norm of the gradients is not finite: end with an "
       "error, or leave that step's update out and go on",
       "stop", setOnNan},
      {"eval-data", "FILE",
       "evaluated whole after the last step, as --eval-data held-out.u8", "",
       text(&Options::evalData)},
      {"eval-every", "N", "evaluate every N steps as well", "",
       number<int64_t>(&Options::evalEvery, 1, count)},
      {"metrics", "FILE",
       "a JSON object a step: loss, rate, tokens per second, as --metrics "
       "run.jsonl",
       "", text(&Options::metrics)},
      {"trace", "FILE",
       "timeline of all commands for Perfetto, as --trace trace.json", "",
       text(&Options::trace)},
      {"init", "FILE|random|reference",
       "initial parameters: a safetensors file under PyTorch's names, the "
       "model's own initialisers, or the stated function of tests",
       "random, unless the model came with weights", text(&Options::init)},
      {"stall-timeout", "SECONDS",
       "with MPI: a rank of this host that shows no sign of life for so long "
       "counts as lost",
       "60",
       number<int>(&Options::stallTimeout, 1, "an integer from 1 to 1000000",
                   1000000)},
      {"seed", "S", "seed of data order, dropout and initialisers",
       "the checkpoint's after --resume, else the job's",
       number<uint64_t>(&Options::seed, 0, wide)},
      {"checkpoint-dir", "DIR", "where checkpoints are saved and found", "",
       text(&Options::checkpointDirectory)},
      {"save-every", "N", "save every N steps, besides at the end", "",
       number<int64_t>(&Options::saveEvery, 1, count)},
      {"resume", "", "continue from the newest checkpoint, bit for bit", "",
       toggle(&Options::resume)},
      {"generate", "N", "then print N bytes of generated text", "",
       number<int64_t>(&Options::generate, 1, count)},
      {"prompt", "TEXT", "what the text begins with", "",
       text(&Options::prompt)},
      {"temperature", "X",
       "sample with probabilities sharpened by 1/X; 0 takes the likeliest, as "
       "--temperature 0.8",
       "0",
       number<double>(&Options::temperature, 0.0, "a number of at least 0")},
      {"dump-parameters", "FILE",
       "write all parameters that the job uses at the end to one safetensors "
       "file",
       "", text(&Options::dumpParameters)},
      {"print-ranks", "",
       "print the grid of ranks and groups of --config and --ranks; needs no "
       "job. Under mpirun every group is built and used once",
       "", toggle(&Options::printRanks)},
      {"config", "FILE", "the configuration of --print-ranks, as smp.json", "",
       text(&Options::config)},
      {"poison", "", "test: fill memory with NaN once its value is dead", "",
       toggle(&Options::poison)},
      {"order-seed", "S", "test: start ready commands in a random order", "",
       number<uint64_t>(&Options::orderSeed, 0, wide)},
      {"help", "", "print this text", "", toggle(&Options::help)},
      {"version", "", "print the version", "", toggle(&Options::version)}};
  return specs;
}

/// Whether ranks may do as they like.
static bool isOwnMatter(std::string_view name) {
  return name == "threads" || name == "stall-timeout";
}

/// What ranks compare, and show when they differ.
static std::string agreedValue(const OptionSpec &spec,
                               const std::string &value) {
  std::string words = "|" + std::string(spec.argument) + "|";
  bool isWord = words.find("|" + value + "|") != std::string::npos;
  if (words.find("|FILE|") != std::string::npos && !isWord)
    return "a file";
  if (words == "|DIR|")
    return "a folder";
  return words == "||" ? "set" : "'" + value + "'";
}

static const OptionSpec *findSpec(const std::string &name) {
  for (const OptionSpec &spec : optionSpecs())
    if (name == spec.name)
      return &spec;
  return nullptr;
}

static Error unknownOption(const std::string &name) {
  std::vector<std::string> names;
  for (const OptionSpec &spec : optionSpecs())
    names.emplace_back(spec.name);
  Error error{"unknown option '--" + name + "'"};
  if (auto nearest = nearestName(name, names))
    error.note = "did you mean '--" + *nearest + "'";
  return error;
}

Result<Options> run::parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (!argument.starts_with("--") || argument.size() == 2) {
      if (argument.starts_with('-'))
        return unknownOption(argument.substr(argument[1] == '-' ? 2 : 1));
      if (argument.empty())
        return Error{"expects a job folder, got ''"};
      if (!options.job.empty())
        return Error{"expects one job folder, got '" + options.job + "' and '" +
                     argument + "'"};
      options.job = argument;
      options.words.push_back(argument);
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals - 2);
    const OptionSpec *spec = findSpec(name);
    if (!spec && isConfigFlag(argument)) {
      options.configFlags.push_back(argument);
      options.words.push_back(argument);
      continue;
    }
    if (!spec)
      return unknownOption(name);
    bool isSwitch = !*spec->argument;
    std::string value;
    if (isSwitch && equals != std::string::npos)
      return Error{"option '--" + name + "' expects no value, got '" +
                   argument.substr(equals + 1) + "'"};
    if (equals != std::string::npos)
      value = argument.substr(equals + 1);
    else if (!isSwitch && i + 1 == arguments.size())
      return Error{"option '--" + name + "' expects a value, got none"};
    else if (!isSwitch)
      value = arguments[++i];
    if (Status status = spec->set(options, value); !status)
      return Error{"option '--" + name + "' " + status.error().message};
    options.words.push_back(isSwitch ? argument : "--" + name + "=" + value);
    if (!isOwnMatter(name))
      options.agreed[name] = agreedValue(*spec, value);
  }
  return options;
}

std::string run::helpText() {
  std::string text =
      "usage: smp-run JOB [options]\n"
      "       smp-run --print-ranks --config FILE [--ranks N]\n\n"
      "Executes a job that smp-compile wrote: trains, evaluates, generates.\n\n"
      "  smp-run job --data text.u8 --steps 200 --metrics run.jsonl\n\n"
      "options:\n";
  for (const OptionSpec &spec : optionSpecs()) {
    std::string left = std::string("  --") + spec.name;
    if (*spec.argument)
      left += std::string("=") + spec.argument;
    text += left + "\n        " + spec.help;
    if (*spec.fallback)
      text += std::string(" [default: ") + spec.fallback + "]";
    text += "\n";
  }
  text +=
      "\nCtrl-C, SIGTERM and SIGHUP finish the step, save if "
      "--checkpoint-dir is given, and end; twice ends at once. An mpirun of "
      "one's own wants SIGUSR1 for it.\n\n"
      "exit codes: 0 done; 1 an error, said on stderr; 2 a wrong command "
      "line; 3 another rank was lost; 130 stopped by a signal after the step "
      "was finished\n";
  return text;
}
