//===- Description.cpp - What the export helper adds to a graph -----------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/Import/Description.h"
#include "JsonReader.h"

using namespace smp;
using namespace smp::pt2;
using Json = JsonReader::Json;

namespace {

class DescriptionReader {
public:
  explicit DescriptionReader(const std::string &where) : json(where) {}

  Result<Description> read(std::string_view text);

private:
  void checkVersion(const Json &root);
  void readPorts(const Json &root);
  void readAliases(const Json &root);
  void readParameter(const Json &value);

  JsonReader json;
  Description result;
};

void DescriptionReader::checkVersion(const Json &root) {
  std::string version = json.text(root, "version");
  if (!json.error() && version.substr(0, version.find('.')) != "1")
    json.fail("expects version 1, got '" + version + "'");
}

void DescriptionReader::readPorts(const Json &root) {
  for (const Json &input : json.list(root, "inputs"))
    result.inputs[json.text(input, "name")] = {json.text(input, "user_name"),
                                               json.text(input, "role")};
  for (const auto &[graph, ports] : json.object(root, "outputs").items()) {
    if (!ports.is_array())
      json.expects("'outputs' to hold lists", ports);
    for (const Json &output :
         json.list(json.object(root, "outputs"), graph.c_str()))
      result.outputs[graph].emplace_back(
          json.text(output, "value"),
          Description::Port{json.text(output, "name"),
                            json.text(output, "role")});
  }
}

void DescriptionReader::readAliases(const Json &root) {
  for (const Json &group : json.list(root, "aliases")) {
    if (!group.is_array() || group.size() < 2)
      return json.expects("'aliases' to hold lists of two or more", group);
    std::vector<std::string> &names = result.aliases.emplace_back();
    for (const Json &name : group)
      names.push_back(json.textOf(name, "aliases"));
  }
}

void DescriptionReader::readParameter(const Json &value) {
  std::string name = json.text(value, "name");
  Description::Parameter parameter;
  parameter.trainable = json.flag(value, "requires_grad", true);
  if (const Json *init = json.find(value, "initialiser")) {
    std::string kind = json.text(*init, "kind");
    using Kind = Initializer::Kind;
    auto number = [&](const char *key) {
      const Json *found = json.find(*init, key);
      return json.numberOf(found ? *found : Json(), key);
    };
    if (kind == "constant")
      parameter.initializer = {Kind::Constant, number("value")};
    else if (kind == "normal")
      parameter.initializer = {Kind::Normal, number("mean"), number("std")};
    else if (kind == "uniform")
      parameter.initializer = {Kind::Uniform, number("low"), number("high")};
    else if (kind == "truncated_normal")
      parameter.initializer = {Kind::TruncatedNormal, number("mean"),
                               number("std"), number("low"), number("high")};
    else
      parameter.unknownInitializer = kind;
    const Json *zeroed = json.find(*init, "zeroed");
    if (zeroed && parameter.initializer) {
      std::vector<int64_t> ends;
      for (const Json &end : json.listOf(*zeroed, "zeroed"))
        ends.push_back(json.integerOf(end, "zeroed"));
      if (ends.size() != 2)
        return json.expects("two numbers as 'zeroed'", *zeroed);
      parameter.initializer->zeroBegin = ends[0];
      parameter.initializer->zeroEnd = ends[1];
    }
  }
  result.order.push_back(name);
  result.parameters[name] = std::move(parameter);
}

Result<Description> DescriptionReader::read(std::string_view text) {
  Json root = json.parse(text);
  if (!json.error())
    checkVersion(root);
  result.batchSymbol = json.text(root, "batch_symbol");
  result.exampleBatch = json.integer(root, "example_batch");
  readPorts(root);
  readAliases(root);
  for (const Json &parameter : json.list(root, "parameters"))
    readParameter(parameter);
  if (json.find(root, "convention"))
    result.convention = json.text(root, "convention");
  if (json.error())
    return *json.error();
  return std::move(result);
}

} // namespace

Result<Description> Description::parse(std::string_view text,
                                       const std::string &where) {
  return DescriptionReader(where).read(text);
}
