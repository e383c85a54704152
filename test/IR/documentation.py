"""Every op of the dialect is documented, and its documentation is true.

Reads the definitions as TableGen understands them and checks, for each op:
summary, description, a phase that makes or removes it, an example that
smp-opt parses; that every constraint has an id, which stands in the
description, at a negative test, and beside the check in C++ unless a trait of
the definition checks it; and that every fold and canonical form has a test.

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
# Traits that constrain the types or the place of an op, by name or by class.
CONSTRAINTS = {"SameTypeOperands", "SameOperandsAndResultType", "SameOperandsAndResultShape", "NoRegionArguments",
               "PredOpTrait", "HasParent"}
# What gives an op checks in C++, besides `hasVerifier` and `hasRegionVerifier`.
VERIFIERS = {"InferTypeOpAdaptorBase", "SymbolUserOpInterface"}
FOLDERS = ("hasFolder", "hasCanonicalizer", "hasCanonicalizeMethod")
options = argparse.Namespace()


def read_records():
    """The records of the ops and those of the attributes, by mnemonic."""
    definitions = ROOT / "include/smp/IR/SmpOps.td"
    text = subprocess.run(
        [options.llvm_tblgen, "--dump-json", "-I", options.llvm_include, "-I", ROOT / "include", definitions],
        check=True, capture_output=True, text=True).stdout
    records = json.loads(text)

    def of_dialect(kind, name, dialect):
        found = (records[record] for record in records["!instanceof"][kind])
        return {record[name]: record for record in found
                if record[dialect] and record[dialect]["def"] == "Smp_Dialect" and record[name]}

    ops = of_dialect("Op", "opName", "opDialect")
    for op in ops.values():
        traits = [records[trait["def"]] for trait in op["traits"]]
        op["classes"] = [{trait["!name"], trait.get("cppInterfaceName"), *trait["!superclasses"]} for trait in traits]
    return ops, of_dialect("AttrDef", "mnemonic", "dialect")


def constraints(op):
    """The bullets of the op's list of constraints."""
    _, _, rest = op["description"].partition("**Constraints**")
    listed = rest.partition("**Example**")[0]
    return [bullet.strip() for bullet in re.split(r"(?m)^\s*- ", listed)[1:]]


def described_ids(op):
    return [bullet.split(":")[0] for bullet in constraints(op)]


def constraining_traits(op):
    return [names for names in op["classes"] if names & CONSTRAINTS]


def has_verifier(op):
    return op["hasVerifier"] or op["hasRegionVerifier"] or any(names & VERIFIERS for names in op["classes"])


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


def checked_ids():
    """The ids that stand beside checks in C++."""
    return {name for path in ROOT.glob("lib/IR/*.cpp") for name in ID.findall(path.read_text())}


def negative_cases():
    """The cases of the negative tests: the file, the case, the ids above it."""
    for path in sorted(ROOT.glob("test/IR/*-verify.mlir")):
        for case in path.read_text().split("// -----"):
            if "expected-error" in case:
                yield path.name, case.strip(), re.findall(r"(?m)^// (%s)$" % ID.pattern.strip(r"\b()"), case)


def canonical_cases():
    """The functions of the tests of folds and canonical forms, by name."""
    texts = (path.read_text() for path in sorted(ROOT.glob("test/IR/*-canonicalize.mlir")))
    return dict(re.findall(r"(?ms)^func\.func @(\w+)(.*?)^}$", "\n".join(texts)))


class Documentation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ops, cls.attributes = read_records()
        described = [*cls.ops.values(), *cls.attributes.values()]
        cls.ids = {name for one in described for name in described_ids(one)}

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

    def test_every_constraint_has_an_id(self):
        for name, one in [*sorted(self.ops.items()), *sorted(self.attributes.items())]:
            with self.subTest(name=name):
                ids = described_ids(one)
                self.assertEqual(ids, ["%s_c%d" % (name, number + 1) for number in range(len(ids))])

    def test_every_constraint_is_checked(self):
        checked = checked_ids()

        def check(_, op):
            in_code = [name for name in described_ids(op) if name in checked]
            if in_code:
                self.assertTrue(has_verifier(op), "expects a verifier, which checks %s" % in_code)
            if op["hasVerifier"] or op["hasRegionVerifier"]:
                self.assertTrue(in_code, "expects ids of what the verifier checks, got none")
            by_traits = [name for name in described_ids(op) if name not in checked]
            self.assertEqual(len(by_traits), len(constraining_traits(op)),
                             "expects one constraint for each trait that is one, got %s" % by_traits)

        self.each(check)
        for name, attribute in self.attributes.items():
            self.assertLessEqual(set(described_ids(attribute)), checked, name)
            self.assertEqual(bool(described_ids(attribute)), bool(attribute["genVerifyDecl"]), name)

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
        tested = {name for _, _, ids in negative_cases() for name in ids}
        self.assertEqual(checked_ids() - self.ids, set(), "ids of checks that no description names")
        self.assertEqual(self.ids - tested, set(), "ids without a negative test")
        self.assertEqual(tested - self.ids, set(), "ids of tests that no description names")

    def test_every_negative_case_names_its_id(self):
        for file, case, ids in negative_cases():
            with self.subTest(file=file, case=case):
                self.assertEqual(len(ids), 1, "expects the id of one constraint above the case, got %s" % ids)
                name = ids[0].rpartition("_c")[0]
                if name in self.ops:
                    self.assertIn("smp.%s" % name, case, "expects a case of the op that the id is of")

    def test_every_fold_is_tested(self):
        cases = canonical_cases()

        def check(name, op):
            forms = sum(bool(op[kind]) for kind in FOLDERS)
            found = [case for case, body in cases.items() if case.startswith(name + "_") and "smp.%s" % name in body]
            self.assertGreaterEqual(len(found), forms, "expects a case '%s_...' for each kind of fold" % name)

        self.each(check)

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
