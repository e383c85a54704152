"""Every op of the dialect is documented, and its documentation is true.

Reads the definitions as TableGen understands them and checks, for each op:
summary, description, a phase that makes or removes it, an example that
smp-opt parses; and that constraint ids stand alike in the description, beside
the check in C++ and at a negative test.

An example is what stands in the description's ```mlir fence. One that starts
with `// given %x: TYPE, ...` is the body of a function of these values, one
that starts with a result that of a function of none; any other is a module.

    documentation.py --smp-opt=FILE --llvm-tblgen=FILE --llvm-include=FOLDER
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ID = re.compile(r"\b([a-z][a-z_0-9]*_c[0-9]+)\b")
PHASES = ("import", "specialize", "shard", "partition", "stage", "differentiate",
          "distribute", "schedule", "lower", "emit")
options = argparse.Namespace()


def read_ops():
    """The records of the ops, by mnemonic."""
    definitions = ROOT / "include/smp/IR/SmpOps.td"
    text = subprocess.run(
        [options.llvm_tblgen, "--dump-json", "-I", options.llvm_include, "-I", ROOT / "include", definitions],
        check=True, capture_output=True, text=True).stdout
    records = json.loads(text)
    ops = (records[name] for name in records["!instanceof"]["Op"])
    return {op["opName"]: op for op in ops if op["opDialect"]["def"] == "Smp_Dialect"}


def constraints(op):
    """The bullets of the op's list of constraints."""
    _, _, rest = op["description"].partition("**Constraints**")
    listed = rest.partition("**Example**")[0]
    return [bullet.strip() for bullet in re.split(r"(?m)^\s*- ", listed)[1:]]


def described_ids(op):
    return [bullet.split(":")[0] for bullet in constraints(op) if ID.match(bullet)]


def example(op):
    """The op's example, or none."""
    found = re.findall(r"```mlir\n(.*?)```", op["description"], re.S)
    return found[0] if len(found) == 1 else None


def as_module(text):
    """What the example stands in: a function of what it is given, or nothing."""
    given = re.match(r"\s*// given (.*)\n", text)
    if not given and not text.lstrip().startswith("%"):
        return text
    return "func.func @example(%s) {\n%s  return\n}\n" % (given[1] if given else "", text)


def ids_in(pattern):
    """The files under the root that match, by the id that stands in them."""
    found = {}
    for path in sorted(ROOT.glob(pattern)):
        for name in ID.findall(path.read_text()):
            found.setdefault(name, set()).add(path.name)
    return found


class Documentation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ops = read_ops()
        cls.ids = {name for op in cls.ops.values() for name in described_ids(op)}

    def each(self, check):
        """Runs a check on each op; one that fails does not keep others from it."""
        self.assertGreater(len(self.ops), 80)
        for name, op in sorted(self.ops.items()):
            with self.subTest(op=name):
                check(name, op)

    def test_summary(self):
        def check(_, op):
            self.assertTrue(op["summary"].strip(), "expects a summary, got none")
            self.assertFalse(op["summary"].endswith("."), "expects no full stop, got one")

        self.each(check)

    def test_meaning_then_phases(self):
        def check(_, op):
            prose = op["description"].partition("**")[0].partition("\n\n")[0]
            sentences = re.split(r"(?<=\.)\s+", prose.strip())
            self.assertGreater(len(sentences), 1, "expects a sentence on phases after the meaning")
            named = [phase for phase in PHASES if "`%s`" % phase in sentences[1]]
            self.assertTrue(named, "expects a second sentence that names phases, got '%s'" % sentences[1])

        self.each(check)

    def test_constraints_of_verifier(self):
        def check(name, op):
            ids = described_ids(op)
            if op["hasVerifier"]:
                self.assertTrue(ids, "expects ids of what the verifier checks, got none")
            self.assertEqual(ids, ["%s_c%d" % (name, number + 1) for number in range(len(ids))])

        self.each(check)

    def test_example_is_of_the_op(self):
        def check(name, op):
            self.assertIsNotNone(example(op), "expects one example")
            self.assertRegex(example(op), r"\bsmp\.%s\b" % name)

        self.each(check)

    def test_examples_parse(self):
        modules = [as_module(example(op)) for op in self.ops.values()]
        done = subprocess.run([options.smp_opt, "--split-input-file"], input="\n// -----\n".join(modules),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_orphan_id(self):
        checks = ids_in("lib/IR/*.cpp")
        tests = ids_in("test/IR/*.mlir")
        self.assertEqual(self.ids - checks.keys(), set(), "ids that no check in lib/IR names")
        self.assertEqual(checks.keys() - self.ids, set(), "ids of checks that no description names")
        self.assertEqual(self.ids - tests.keys(), set(), "ids without a negative test")
        self.assertEqual(tests.keys() - self.ids, set(), "ids of tests that no description names")

    def test_every_op_is_parsed_and_printed(self):
        printed = "".join(path.read_text() for path in ROOT.glob("test/IR/*-parse-print.mlir"))

        def check(name, _):
            self.assertRegex(printed, r"CHECK[A-Z-]*:.*\bsmp\.%s\b" % name)

        self.each(check)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for option in ("--smp-opt", "--llvm-tblgen", "--llvm-include"):
        parser.add_argument(option, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
