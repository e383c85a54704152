"""The tree keeps the rules that no compiler checks.

File length, no deferred work, no path of a developer's machine, no function
that dispatches on more than two op classes, and headers, sources and tests of
the same stem. Every offender is named.
"""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("include", "lib", "tools", "runtime", "python", "test", "scripts")
SOURCES = (".cpp", ".h", ".td", ".py", ".sh", ".mlir")
MAXIMUM_LINES = 400
MAXIMUM_OP_CLASSES = 2

# Unit tests of a property of several sources, with what they are about.
ACROSS_SOURCES = {
    "test/unit/Import/MutationTest.cpp": "damaged files of every kind are read or refused",
    "test/unit/Interpret/FoldsTest.cpp": "folds of every op keep what it computes",
    "test/unit/Interpret/OpGradientTest.cpp": "the gradient of every op against differences",
    "test/unit/Interpret/ShardingRuleTest.cpp": "the sharding rule of every op against its semantics",
    "test/unit/Interpret/PhasesTest.cpp": "every phase keeps what random models mean",
}

DISPATCH = re.compile(r"\b(?:isa|isa_and_nonnull|isa_and_present|dyn_cast|dyn_cast_or_null|"
                      r"dyn_cast_if_present|Case)<([^<>()]*)>")
OP_NAME = re.compile(r'getName\(\)(?:\.getStringRef\(\))? == "smp\.')


def tracked():
    """The files under version control, or all where there is none."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and "build" not in path.relative_to(ROOT).parts]


def functions(text):
    """The pieces of a C++ file that are about one function each.

    LLVM style closes a function at the margin, one in a class two columns in.
    """
    for block in re.split(r"(?m)^\}.*$", text):
        in_class = re.search(r"(?m)^(?:template .*\n)?(?:class|struct) \w+[^;]*\{$", block)
        yield from re.split(r"(?m)^  \}$", block) if in_class else [block]


def op_classes(function):
    """The op classes that a function asks for."""
    names = (name.strip().split("::")[-1] for found in DISPATCH.findall(function) for name in found.split(","))
    return {name for name in names if name.endswith("Op")}


def stem(name):
    """FooBar, foo-bar and FooBarTest as one."""
    return re.sub(r"test$", "", name.replace("-", "").replace("_", "").lower())


class Style(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = [path for path in tracked() if path.relative_to(ROOT).parts[0] in FOLDERS]
        cls.sources = [path for path in cls.files if path.suffix in SOURCES]

    def none(self, offenders):
        self.assertGreater(len(self.sources), 100)
        self.assertFalse(offenders, "\n" + "\n".join(offenders))

    def test_file_length(self):
        lengths = ((path, path.read_text().count("\n")) for path in self.sources)
        self.none(["%s: expects %d lines at most, got %d" % (path.relative_to(ROOT), MAXIMUM_LINES, length)
                   for path, length in lengths if length > MAXIMUM_LINES])

    def test_no_deferred_work(self):
        words = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
        self.none(["%s:%d: expects finished work, got '%s'" % (path.relative_to(ROOT), number, line.strip())
                   for path, number, line in self.lines() if words.search(line)])

    def test_no_machine_path(self):
        paths = re.compile(r"(?<![\w.])/(?:work|root|home|Users)/\w")
        self.none(["%s:%d: expects no path of a machine, got '%s'" % (path.relative_to(ROOT), number, line.strip())
                   for path, number, line in self.lines() if paths.search(line)])

    def lines(self):
        for path in self.sources + [path for path in tracked() if path.suffix == ".md"]:
            for number, line in enumerate(path.read_text().split("\n"), 1):
                yield path, number, line

    def test_no_dispatch_on_ops(self):
        offenders = []
        for path in self.sources:
            name = str(path.relative_to(ROOT))
            if path.suffix not in (".cpp", ".h"):
                continue
            for function in functions(path.read_text()):
                classes = op_classes(function)
                if len(classes) > MAXIMUM_OP_CLASSES or len(OP_NAME.findall(function)) > MAXIMUM_OP_CLASSES:
                    offenders.append("%s: expects a function that asks for %d op classes at most, got %s in '%s'" % (
                        name, MAXIMUM_OP_CLASSES, ", ".join(sorted(classes)), function.strip().split("\n")[0]))
        self.none(offenders)

    def test_tests_and_headers_stand_where_their_sources_do(self):
        stems = {}
        for path in self.files:
            if path.relative_to(ROOT).parts[0] in ("lib", "include", "runtime") and path.suffix in (".cpp", ".h", ".td"):
                stems.setdefault(path.parent.name, set()).add(stem(path.stem))
        offenders = []
        for path in self.files:
            name, folder = str(path.relative_to(ROOT)), path.parent.name
            if name.startswith("include/smp/") and path.suffix == ".h" and not (ROOT / "lib" / folder).is_dir():
                offenders.append("%s: expects the name of a folder of lib, got '%s'" % (name, folder))
            if not name.startswith("test/unit/") or not name.endswith("Test.cpp") or name in ACROSS_SOURCES:
                continue
            tested = stem(path.stem)
            if not any(tested.startswith(known) or known.startswith(tested) for known in stems.get(folder, ())):
                offenders.append("%s: expects the stem of a source in lib/%s, got none" % (name, folder))
        self.none(offenders)
        self.assertFalse([name for name in ACROSS_SOURCES if not (ROOT / name).is_file()])


if __name__ == "__main__":
    unittest.main()
