# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each wait of a compiled job is needed, or seen to be redundant.

Waits are deleted one at a time; see DeletedWaits.cpp for what is compared. By
default 200 seeded waits of GPT-2, whose embedding is tied, on one and on two
stages; SMP_TEST_EXHAUSTIVE=1 takes all waits of all models and schedules.
"""

from __future__ import annotations

import itertools
import json

from evidence import Table
from harness import EXHAUSTIVE, TRAINED_MODELS, IntegrationTest, main, run
from test_layouts import config_of

DELETIONS = 200


def layouts() -> list[tuple[str, int, str]]:
    if not EXHAUSTIVE:
        return [("gpt2", 1, "1f1b"), ("gpt2", 2, "1f1b")]
    models = [*TRAINED_MODELS, "gpt2-dropout"]
    return list(itertools.product(models, (1, 2, 4), ("simple", "1f1b", "interleaved")))


class DeletedWaits(IntegrationTest):
    def delete(self, job, count: int) -> dict:
        finished = run("SmpDeletedWaits", job, count, 17)
        self.assertEqual(finished.code, 0, finished.errors)
        return json.loads(finished.output)

    def test_are_reported_or_redundant(self) -> None:
        table = Table(
            "deleted-waits",
            "Each deleted wait is reported by the checker or redundant",
            ["model", "stages", "schedule", "waits", "deleted",
             "of commands: reported", "redundant", "of actions: reported", "redundant"],
        )  # fmt: skip
        self.addCleanup(table.write)
        for model, pp, schedule in layouts():
            cells = ["the judges disagree"] * 6
            with self.subTest(model=model, pp=pp, schedule=schedule):
                job = self.compile(model, config_of(pp, 1, schedule))
                found = self.delete(job, 0 if EXHAUSTIVE else DELETIONS)
                commands, actions = found["commands"], found["actions"]
                deleted = sum(commands) + sum(actions)
                cells = [found["waits"], deleted, *commands, *actions]
                print(model, pp, schedule, found)
                self.assertEqual(deleted, found["waits"] if EXHAUSTIVE else DELETIONS)
                # Which ones are redundant says docs/Executor.md.
                self.assertGreater(10 * commands[0], 9 * sum(commands))
                self.assertGreater(2 * actions[0], sum(actions))
            table.add(model, pp, schedule, *cells)


if __name__ == "__main__":
    main()
