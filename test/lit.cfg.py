"""Tests of programs on textual IR: every .mlir file under this folder."""

import os

import lit.formats

config.name = "smp"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["cases", "models", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.smp_binary_dir, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.smp_binary_dir, "bin"), config.llvm_tools_dir, os.environ["PATH"]]
)
# A FileCheck variable does not outlive the function whose label comes next.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input-filter=error"
