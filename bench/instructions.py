#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Counts instructions and allocations per message of bench-merge contenders.

Times depend on who else uses the machine, instruction counts do not: each contender runs under callgrind with two
numbers of messages, and the slope between them is what one message costs; start-up cancels out. With --gate a
count above its limit makes the exit code 1; without valgrind it is 77, which Meson reports as skipped.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

FEW, MANY = 20_000, 60_000
PRODUCERS = 8

# contender, mode, most instructions per message; inline messages. Nobody here may allocate per message.
LIMITS = [
    ("floor", "budget64", 60),
    ("floor", "one_per_wake", 115),
    ("thalweg", "budget64", 70),
    ("thalweg", "one_per_wake", 135),
]


def listed(bench):
    """(mode, contender) pairs that this build of the bench has."""
    lines = subprocess.run([bench, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
    found = set()
    for line in lines:
        place, _, contender = line.partition(": ")
        table, mode, producers = place.split()
        if table == "equal" and producers == str(PRODUCERS):
            found.add((mode, contender))
    return found


def counts(bench, contender, mode, messages):
    """Instructions and allocations of one turn."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", bench, "--once", contender,
               "--table", "equal", "--mode", mode, "--producers", str(PRODUCERS), "--messages", str(messages)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"instructions.py: {' '.join(command)} failed:\n{done.stderr}")
    return (int(re.search(r"Collected : (\d+)", done.stderr).group(1)),
            int(re.search(r"allocations (\d+)", done.stdout).group(1)))


def measure(bench, contender, mode):
    """Instructions and allocations per message."""
    few, many = (counts(bench, contender, mode, messages) for messages in (FEW, MANY))
    return tuple((b - a) / (MANY - FEW) for a, b in zip(few, many))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", help="path of bench-merge")
    parser.add_argument("--gate", action="store_true", help="fail when a limit is exceeded")
    parser.add_argument("--all", action="store_true", help="also the contenders without a limit")
    parser.add_argument("--into", metavar="FILE", help="add the figures to the JSON that bench-merge has written")
    arguments = parser.parse_args()

    if shutil.which("valgrind") is None:
        print("instructions.py: needs valgrind")
        sys.exit(77)

    limits = {(mode, contender): limit for contender, mode, limit in LIMITS}
    available = listed(arguments.bench)
    missing = [key for key in limits if key not in available]
    if missing and arguments.gate:
        sys.exit(f"instructions.py: {arguments.bench} has no {', '.join(f'{c} {m}' for m, c in missing)}")
    wanted = [key for key in limits if key in available]
    if arguments.all:
        wanted += sorted(key for key in available if key not in limits and key[0] != "threads")

    rows = []
    exceeded = False
    print(f"{'per message, inline, P=' + str(PRODUCERS):44} {'instructions':>12} {'limit':>6} {'allocations':>12}")
    for mode, contender in wanted:
        instructions, allocations = measure(arguments.bench, contender, mode)
        limit = limits.get((mode, contender))
        over = limit is not None and (round(instructions, 1) > limit or allocations > 0)
        exceeded = exceeded or over
        print(f"{contender + ', ' + mode:44} {instructions:12.1f} {limit or '-':>6} {allocations:12.4f}"
              f"{'  TOO MANY' if over else ''}", flush=True)
        rows.append({"contender": contender, "mode": mode, "producers": PRODUCERS, "table": "equal",
                     "instructions_per_message": round(instructions, 2), "limit": limit,
                     "allocations_per_message": allocations})

    if arguments.into:
        path = Path(arguments.into)
        report = json.loads(path.read_text())
        report["instructions"] = rows
        path.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(1 if arguments.gate and exceeded else 0)


main()
