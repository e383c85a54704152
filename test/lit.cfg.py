"""Tests of programs on textual IR: every .mlir file under this folder."""

import os

import sys

# Lit's workers import the format by its name.
sys.path.insert(0, os.path.dirname(__file__))

import each_model

config.name = "smp"
config.test_format = each_model.Format(
    os.path.join(os.path.dirname(__file__), "models", "data")
)
config.suffixes = [".mlir"]
config.excludes = ["cases", "models", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.smp_binary_dir, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.smp_binary_dir, "bin"), config.llvm_tools_dir, os.environ["PATH"]]
)
# A FileCheck variable does not outlive the function whose label comes next.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input-filter=error"
