//===- CheckpointTest.cpp - Saving and resuming ---------------------------===//
//
// Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "smp/runtime/Checkpoint/Checkpoint.h"
#include "smp/Support/Json.h"
#include "smp/runtime/Comm/ThreadTransport.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>

using namespace smp;
using namespace smp::runtime;
namespace fs = std::filesystem;

namespace {
/// A model of two stages; stage p holds `stage<p>.weight` of 300,000 elements
/// (several chunks), both hold `tied`, saved by the first.
struct Stage {
  std::vector<float> weight, tied, moment;

  static Stage filled(int pp, float offset) {
    Stage stage;
    stage.weight.resize(300000);
    std::iota(stage.weight.begin(), stage.weight.end(),
              float(pp) * 1000 + offset);
    stage.tied = {offset, 1, 2, 3};
    stage.moment = std::vector<float>(300000, 0.5f + float(pp) + offset);
    return stage;
  }
  static std::string weightName(int pp) {
    return "stage" + std::to_string(pp) + ".weight";
  }
  static TensorView view(std::string name, std::vector<int64_t> shape,
                         std::vector<float> &values) {
    return {std::move(name), DataType::F32, std::move(shape),
            std::as_bytes(std::span(values))};
  }
  SaveRequest save(int pp, const std::string &directory, std::string tag,
                   int64_t step) {
    SaveRequest request{directory, std::move(tag), {step, step * 8, 7}, {}, {}};
    request.model = {view(weightName(pp), {300, 1000}, weight)};
    if (pp == 0)
      request.model.push_back(view("tied", {4}, tied));
    request.optimizer = {
        view(weightName(pp) + ".exp_avg", {300, 1000}, moment)};
    request.plan = R"({"plan":1})";
    request.userContent = R"({"note":"hello"})";
    return request;
  }
  ResumeRequest resume(int pp, const std::string &directory,
                       std::string tag = "") {
    ResumeRequest request{directory, std::move(tag), {}, {}};
    request.model = {
        {weightName(pp), DataType::F32, {300, 1000}, weight.data()},
        {"tied", DataType::F32, {4}, tied.data()}};
    request.optimizer = {{weightName(pp) + ".exp_avg",
                          DataType::F32,
                          {300, 1000},
                          moment.data()}};
    return request;
  }
  static Stage empty() {
    Stage stage;
    stage.weight.resize(300000);
    stage.tied.resize(4);
    stage.moment.resize(300000);
    return stage;
  }
  bool operator==(const Stage &) const = default;
};

class Checkpoint : public testing::Test {
protected:
  std::string directory =
      testing::TempDir() + "smp-checkpoint-" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
  void SetUp() override { fs::remove_all(directory); }
  void TearDown() override { fs::remove_all(directory); }

  Status onGrid(int pp, int rdp,
                const std::function<Status(Comm &, const Grid &)> &body) {
    return runThreads(pp * rdp, [&](Comm &comm) -> Status {
      SMP_ASSIGN_OR_RETURN(Grid grid, Grid::create("DPT", pp, 1, pp * rdp));
      return body(comm, grid);
    });
  }
  Status save(const std::string &tag, int64_t step, float offset,
              int keep = 0) {
    return onGrid(2, 2, [&](Comm &comm, const Grid &grid) {
      int pp = grid.ppRank(comm.rank());
      Stage stage = Stage::filled(pp, offset);
      SaveRequest request = stage.save(pp, directory, tag, step);
      request.keep = keep;
      return saveCheckpoint(comm, grid, request);
    });
  }
  /// Resumes on two stages and two replicas; rank 0's result.
  Result<Resumed> resume(float offset, const std::string &tag = "") {
    Resumed first;
    Status status = onGrid(2, 2, [&](Comm &comm, const Grid &grid) -> Status {
      int pp = grid.ppRank(comm.rank());
      Stage stage = Stage::empty();
      SMP_ASSIGN_OR_RETURN(
          Resumed resumed,
          resumeCheckpoint(comm, grid, stage.resume(pp, directory, tag)));
      EXPECT_EQ(stage, Stage::filled(pp, offset));
      if (comm.rank() == 0)
        first = std::move(resumed);
      return {};
    });
    if (!status)
      return status.error();
    return first;
  }
  void flipByte(const std::string &file, int64_t offset) {
    std::fstream stream(directory + "/" + file,
                        std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(offset);
    char byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(offset);
    stream.put(byte);
  }
};
} // namespace

TEST_F(Checkpoint, RoundTrip) {
  EXPECT_FALSE(hasCheckpoint(directory));
  Status saved = save("step-5", 5, 0.25f);
  ASSERT_TRUE(saved) << saved.error().str();
  EXPECT_TRUE(hasCheckpoint(directory));
  auto resumed = resume(0.25f);
  ASSERT_TRUE(resumed) << resumed.error().str();
  EXPECT_EQ(resumed->progress, (Progress{5, 40, 7}));
  EXPECT_EQ(resumed->tag, "step-5");
  EXPECT_EQ(resumed->plan, R"({"plan":1})");
  EXPECT_EQ(resumed->userContent, R"({"note":"hello"})");
  EXPECT_TRUE(resumed->notes.empty());
}

TEST_F(Checkpoint, FilesOfTheFormat) {
  ASSERT_TRUE(save("a", 5, 0));
  std::set<std::string> files;
  for (const auto &entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file())
      files.insert(fs::relative(entry.path(), directory).string());
  EXPECT_EQ(files, (std::set<std::string>{"newest", "a_partial/manifest.json",
                                          "a_partial/model_0.safetensors",
                                          "a_partial/model_1.safetensors",
                                          "a_partial/optimizer_0.safetensors",
                                          "a_partial/optimizer_1.safetensors",
                                          "a_partial/partition.json",
                                          "a_partial/user_content.json"}));
  auto manifest =
      parseJson(*readFile(directory + "/a_partial/manifest.json"), "manifest");
  const auto &tied = (*manifest)["model"]["tied"];
  EXPECT_EQ(tied["file"], "model_0.safetensors");
  EXPECT_EQ(tied["dtype"], "f32");
  EXPECT_EQ(tied["shape"], nlohmann::json({4}));
  EXPECT_EQ(tied["slice"].dump(), "[[0,4]]");
  const auto &file = (*manifest)["files"]["model_1.safetensors"];
  EXPECT_EQ(file["xxh64"].size(), 2u); // 1.2 MB
}

TEST_F(Checkpoint, NewestIsTakenUnlessATagIsGiven) {
  ASSERT_TRUE(save("a", 5, 1));
  ASSERT_TRUE(save("b", 6, 2));
  EXPECT_EQ(resume(2)->tag, "b");
  EXPECT_EQ(resume(1, "a")->tag, "a");
  EXPECT_FALSE(resume(0, "missing"));
  // Without the pointer the one with the most steps is the newest.
  fs::remove(directory + "/newest");
  EXPECT_EQ(resume(2)->tag, "b");
}

TEST_F(Checkpoint, TheSameTagIsReplaced) {
  ASSERT_TRUE(save("a", 5, 1));
  ASSERT_TRUE(save("a", 6, 2));
  EXPECT_EQ(resume(2)->progress.step, 6);
  for (const auto &entry : fs::directory_iterator(directory))
    EXPECT_NE(entry.path().filename().string().front(), '.') << entry.path();
}

TEST_F(Checkpoint, OldOnesAreRemoved) {
  for (int step = 1; step <= 4; ++step)
    ASSERT_TRUE(save("s" + std::to_string(step), step, 0, 2));
  EXPECT_FALSE(fs::exists(directory + "/s1_partial"));
  EXPECT_FALSE(fs::exists(directory + "/s2_partial"));
  EXPECT_TRUE(fs::exists(directory + "/s3_partial"));
  EXPECT_TRUE(fs::exists(directory + "/s4_partial"));
}

TEST_F(Checkpoint, ADamagedFileIsNamedWithItsTensorAndPassedOver) {
  ASSERT_TRUE(save("a", 5, 1));
  ASSERT_TRUE(save("b", 6, 2));
  flipByte("b_partial/model_1.safetensors", 1100000);
  auto resumed = resume(1);
  ASSERT_TRUE(resumed) << resumed.error().str();
  EXPECT_EQ(resumed->tag, "a");
  ASSERT_EQ(resumed->notes.size(), 1u);
  EXPECT_EQ(resumed->notes[0].substr(0, resumed->notes[0].find(" expects")),
            "damaged file '" + directory +
                "/b_partial/model_1.safetensors': tensor 'stage1.weight'");
  auto asked = resume(2, "b");
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message,
            "'" + directory +
                "' expects a good partial checkpoint, got 1 damaged");
}

TEST_F(Checkpoint, EveryKindOfDamageFallsBack) {
  ASSERT_TRUE(save("a", 5, 1));
  const std::pair<const char *, std::function<void(const fs::path &)>> kinds[] =
      {{"manifest.json",
        [](const fs::path &file) { std::ofstream(file) << "{\"ver"; }},
       {"manifest.json",
        [](const fs::path &file) { std::ofstream(file) << "{}"; }},
       {"model_0.safetensors",
        [](const fs::path &file) { fs::resize_file(file, 1000); }},
       {"optimizer_1.safetensors",
        [](const fs::path &file) { fs::remove(file); }},
       {"manifest.json", [](const fs::path &file) { fs::remove(file); }},
       {"manifest.json",
        [](const fs::path &file) { // counting on from there would overflow
          std::string text = *readFile(file.string());
          size_t at = text.find("\"samples\": ") + 11;
          text.replace(at, text.find_first_of(",\n", at) - at,
                       "9223372036854775807");
          std::ofstream(file) << text;
        }},
       {"user_content.json", [](const fs::path &file) { fs::remove(file); }},
       {"model_0.safetensors", [this](const fs::path &) {
          flipByte("b_partial/model_0.safetensors", 20);
        }}};
  for (const auto &[file, damage] : kinds) {
    ASSERT_TRUE(save("b", 6, 2));
    damage(directory + "/b_partial/" + file);
    auto resumed = resume(1);
    ASSERT_TRUE(resumed) << file << ": " << resumed.error().str();
    EXPECT_EQ(resumed->tag, "a") << file;
    EXPECT_EQ(resumed->notes.size(), 1u) << file;
  }
}

TEST_F(Checkpoint, AnInterruptedSaveLeavesThePreviousOneWhole) {
  ASSERT_TRUE(save("a", 5, 1));
  fs::create_directories(directory + "/.saving-b");
  std::ofstream(directory + "/.saving-b/model_0.safetensors") << "half";
  std::ofstream(directory + "/newest.tmp") << "{";
  EXPECT_EQ(resume(1)->tag, "a");
  ASSERT_TRUE(save("b", 6, 2)); // what was left is no obstacle
  EXPECT_EQ(resume(2)->tag, "b");
}

TEST_F(Checkpoint, AnotherLayoutIsRefused) {
  ASSERT_TRUE(save("a", 5, 1));
  Status status = onGrid(1, 2, [&](Comm &comm, const Grid &grid) -> Status {
    Stage stage = Stage::empty();
    auto resumed = resumeCheckpoint(comm, grid, stage.resume(0, directory));
    EXPECT_FALSE(resumed);
    return resumed ? Status() : Status(resumed.error());
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().str(),
            "'" + directory +
                "/a_partial' expects the layout it was saved with, pp 2, tp 1, "
                "got pp 1, tp 1\n"
                "  note: loading into another layout is not built yet");
}

TEST_F(Checkpoint, AnotherNumberOfReplicasIsWelcome) {
  ASSERT_TRUE(save("a", 5, 1));
  EXPECT_TRUE(onGrid(2, 1, [&](Comm &comm, const Grid &grid) -> Status {
    Stage stage = Stage::empty();
    auto resumed = resumeCheckpoint(
        comm, grid, stage.resume(grid.ppRank(comm.rank()), directory));
    EXPECT_EQ(stage, Stage::filled(grid.ppRank(comm.rank()), 1));
    return resumed ? Status() : Status(resumed.error());
  }));
}

TEST_F(Checkpoint, AnotherModelIsRefused) {
  ASSERT_TRUE(save("a", 5, 1));
  auto attempt = [&](const std::function<void(ResumeRequest &)> &change) {
    Status status = onGrid(2, 1, [&](Comm &comm, const Grid &grid) -> Status {
      Stage stage = Stage::empty();
      ResumeRequest request = stage.resume(grid.ppRank(comm.rank()), directory);
      if (comm.rank() == 1) // one rank's trouble is everyone's
        change(request);
      auto resumed = resumeCheckpoint(comm, grid, request);
      EXPECT_FALSE(resumed);
      return resumed ? Status() : Status(resumed.error());
    });
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(
      attempt([](ResumeRequest &request) { request.model[0].name = "other"; }),
      "'" + directory + "/a_partial' expects a tensor 'other', got none");
  EXPECT_EQ(
      attempt([](ResumeRequest &request) { request.model[1].shape = {2, 2}; }),
      "'" + directory +
          "/a_partial': tensor 'tied' expects f32 [2, 2], got f32 [4]");
  // One that holds more.
  auto known = [](ResumeRequest &request) {
    request.modelNames = {Stage::weightName(0), Stage::weightName(1)};
    request.optimizerNames = {Stage::weightName(0) + ".exp_avg"};
  };
  EXPECT_EQ(attempt(known),
            "'" + directory +
                "/a_partial' expects tensors of this model only, got 'tied'");
  auto all = [&](ResumeRequest &request) {
    known(request);
    request.modelNames.insert("tied");
  };
  EXPECT_EQ(attempt(all), "'" + directory +
                              "/a_partial' expects tensors of this optimizer "
                              "only, got '" +
                              Stage::weightName(1) + ".exp_avg'");
}

TEST_F(Checkpoint, StateOfParametersThatAreFrozenNowIsLeft) {
  ASSERT_TRUE(save("a", 5, 1));
  EXPECT_TRUE(onGrid(2, 1, [&](Comm &comm, const Grid &grid) -> Status {
    Stage stage = Stage::empty();
    ResumeRequest request = stage.resume(grid.ppRank(comm.rank()), directory);
    request.modelNames = {Stage::weightName(0), Stage::weightName(1), "tied"};
    request.optimizerNames = {Stage::weightName(0) + ".exp_avg"};
    request.frozen = {Stage::weightName(1)};
    auto resumed = resumeCheckpoint(comm, grid, request);
    return resumed ? Status() : Status(resumed.error());
  }));
}

TEST_F(Checkpoint, MistakesOfTheCaller) {
  EXPECT_FALSE(save("a/b", 1, 0));
  EXPECT_FALSE(save("", 1, 0));
  EXPECT_FALSE(resume(0));
  directory = "/proc/nowhere";
  EXPECT_FALSE(save("a", 1, 0));
}

TEST_F(Checkpoint, ATensorIsSavedOnce) {
  Status status = onGrid(2, 1, [&](Comm &comm, const Grid &grid) {
    Stage stage = Stage::filled(0, 0);
    return saveCheckpoint(comm, grid, stage.save(0, directory, "a", 1));
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "expects every tensor to be saved by one rank, got "
            "'stage0.weight' twice");
  EXPECT_FALSE(hasCheckpoint(directory));
}
