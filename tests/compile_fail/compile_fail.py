#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Programs with one mistake each must be refused, and the first error must say the expected sentence.

A program names the sentence in a line `// error: …`. With FIXED defined it must compile, which proves that the mistake
under `#ifndef FIXED` is the only one. Usage: compile_fail.py FILE… -- COMPILER FLAGS…
"""

import concurrent.futures
import os
import subprocess
import sys


def compile_one(command, path, *flags):
    done = subprocess.run([*command, *flags, "-fsyntax-only", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    return done.returncode, done.stdout


def complaint(command, path):
    """Why the program does not behave as it says, or nothing."""
    with open(path, encoding="utf-8") as file:
        sentences = [line.split("// error: ", 1)[1].strip() for line in file if "// error: " in line]
    if len(sentences) != 1:
        return "needs exactly one line `// error: …`"
    code, output = compile_one(command, path)
    errors = [line for line in output.splitlines() if "error:" in line]
    if code == 0:
        return "compiles"
    if not errors or sentences[0] not in errors[0]:
        return f"the first error is not `{sentences[0]}`:\n{output[:3000]}"
    code, output = compile_one(command, path, "-DFIXED")
    return f"does not compile with FIXED either:\n{output[:3000]}" if code else None


def main():
    split = sys.argv.index("--")
    paths, command = sys.argv[1:split], sys.argv[split + 1:]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        complaints = list(pool.map(lambda path: complaint(command, path), paths))
    for path, text in zip(paths, complaints):
        if text:
            print(f"{os.path.basename(path)}: {text}")
    failed = sum(text is not None for text in complaints)
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
