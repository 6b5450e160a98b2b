#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The coroutine lint finds every marked line of bad.cpp under the marked rules, and nothing else anywhere."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LINT = os.path.join(HERE, "..", "..", "scripts", "lint_coroutines.py")
MARK = re.compile(r"// lint: ([a-z -]+)$")
FOUND = re.compile(r"^(.*):(\d+):\d+: .* \[([a-z-]+)\]$")


def expected(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        marks = ((number, MARK.search(line.rstrip())) for number, line in enumerate(file, 1))
        return {(number, rule) for number, mark in marks if mark for rule in mark.group(1).split()}


def reported(name):
    done = subprocess.run([sys.executable, LINT, name], cwd=HERE, stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode == 77:
        print(done.stdout, end="")
        sys.exit(77)
    lines = (FOUND.match(line) for line in done.stdout.splitlines())
    found = {(int(line.group(2)), line.group(3)) for line in lines if line and line.group(1) == name}
    return done.returncode, found, done.stdout


passed = failed = 0
for name in ("bad.cpp", "good.cpp"):
    wanted = expected(name)
    code, found, output = reported(name)
    for number, rule in sorted(wanted - found):
        print(f"{name}:{number}: not reported: {rule}")
    for number, rule in sorted(found - wanted):
        print(f"{name}:{number}: reported without need: {rule}")
    if code != (1 if wanted else 0):
        print(f"{name}: exit code {code}\n{output}")
        failed += 1
    passed += len(wanted & found) + (not wanted and not found)
    failed += len(wanted ^ found)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
