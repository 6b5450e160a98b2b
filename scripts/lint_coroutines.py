#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Find coroutine code that g++ 12 miscompiles in silence, with clang-query and coroutine-lint.query.

Files of this build are read with their own flags, others with the flags after `--`, or else as C++20 with our headers.
Exit code 0: nothing found. 1: findings, or a file that cannot be parsed. 2: a file that is not there. 77: clang-query is not installed.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = r"(^|/)(rooms/[a-z]+/thalweg|cli|tests|bench|docs/examples)/"
INSTEAD = {
    "condition": "co_await in a condition: g++ 12 may never start this coroutine. "
                 "Await into a local first: `bool ok = co_await x; if (ok)`.",
    "short-circuit": "co_await under && or ||: g++ 12 awaits even when the left side has decided. "
                     "Await into a local inside an `if`, never inside an assertion macro.",
    "temporary": "aggregate or capturing closure built in an expression that suspends: g++ 12 destroys it twice. "
                 "Name it first and std::move it in, or give the type a constructor.",
    "list": "braced list in an expression that suspends: g++ 12 refuses it (array used as initializer). "
            "Name the container first and std::move it in.",
    "choice": "?: between temporaries in an expression that suspends: g++ 12 destroys one twice. "
              "Use if/else into a named local.",
    "braces": "co_await inside braces: g++ 12 destroys the other members twice. "
              "Await into locals first, then build the aggregate from them.",
    "new-throw": "co_await inside new or throw: g++ 12 miscompiles it. Await into a local first.",
    "capture": "co_await in a lambda capture: g++ 12 miscompiles it. Await into a local first, then capture that.",
}
COROUTINE = re.compile(r"\bco_(await|yield|return)\b|\bCO_TEST_CASE\b")
INCLUDE = re.compile(r"#include <(thalweg/([a-z]+)/[^>]+)>")
NOTE = re.compile(r'^(.+?):(\d+):(\d+): note: "([a-z-]+)" binds here$')
BROKEN = re.compile(r"^(.+?:\d+:\d+: (?:fatal )?error: .*|\d+:\d+: .*)$")


def counted(things, name):
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")


def find_clang_query():
    for name in ("clang-query-19", "clang-query"):
        if shutil.which(name):
            return name
    print("clang-query-19 is not installed (package clang-tools-19)")
    sys.exit(77)


def write_query(where):
    """clang-query reads neither comments in every version nor our placeholder."""
    text = read(os.path.join(HERE, "coroutine-lint.query"))
    lines = [line + "\n" for line in text.splitlines() if line and not line.startswith("#")]
    query = tempfile.NamedTemporaryFile("w", suffix=".query", delete=False)
    query.write("".join(lines).replace("WHERE", where))
    query.close()
    return query.name


def relevant(command):
    """Of a compile command, what decides the meaning of the source."""
    flags, words = [], iter(command)
    for word in words:
        if word in ("-I", "-D", "-isystem", "-iquote", "-idirafter"):
            flags += [word, next(words, "")]
        elif word.startswith(("-I", "-D", "-isystem", "-iquote", "-std=")):
            flags.append(word)
    return flags


def read_commands(build):
    """{absolute source: (directory, flags)} of the build directory."""
    path = os.path.join(build or "", "compile_commands.json")
    if not build or not os.path.exists(path):
        return {}
    entries = json.loads(read(path))
    commands = {}
    for entry in entries:
        words = entry.get("arguments") or shlex.split(entry["command"])
        source = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
        commands[source] = (entry["directory"], relevant(words))
    return commands


def default_flags(build, commands):
    flags = ["-std=c++20"]
    rooms = os.path.join(build or "", "rooms")
    if build and os.path.isdir(rooms):
        flags += ["-I" + os.path.join(os.path.abspath(rooms), room) for room in sorted(os.listdir(rooms))]
    asio = {flag for _, each in commands.values() for flag in each if flag.startswith("-DASIO_")}
    return flags + sorted(asio)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def our_headers(build, source):
    """The headers of the rooms that a source includes, directly or not."""
    found, open_ends = set(), [source]
    while open_ends:
        for name, room in INCLUDE.findall(read(open_ends.pop())):
            path = os.path.join(build, "rooms", room, name)
            if path not in found and os.path.exists(path):
                found.add(path)
                open_ends.append(path)
    return found


def worth_reading(build, sources):
    """The sources with coroutines, and what checks headers with coroutines that none of those includes."""
    mine = [path for path in sources if not os.path.basename(path).startswith("header-") and COROUTINE.search(read(path))]
    covered = set().union(*(our_headers(build, path) for path in mine))
    for path in sources:
        if os.path.basename(path).startswith("header-"):
            own = {header for header in our_headers(build, path) if COROUTINE.search(read(header))}
            if own - covered:
                mine.append(path)
                covered |= own
    return mine


def lint(tool, query, source, directory, flags):
    """(findings, errors) of one translation unit; a finding is (file, line, column, rule)."""
    # Without a target of its own, clang reads what it would compile here; warnings are the compilers' business.
    command = [tool, "-f", query, source, "--", "-w", *flags]
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    findings, errors = set(), []
    for line in done.stdout.splitlines():
        found = NOTE.match(line)
        if found:
            path = os.path.realpath(os.path.join(directory, found.group(1)))
            findings.add((path, int(found.group(2)), int(found.group(3)), found.group(4)))
        elif BROKEN.match(line):
            errors.append(line)
    if done.returncode != 0 and not errors:
        errors.append(f"{source}: clang-query ended with exit code {done.returncode}")
    return findings, errors


def split_arguments(words):
    return (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, None)


def main():
    words, flags = split_arguments(sys.argv[1:])
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--build", help="build directory whose compile commands and headers are used")
    options.add_argument("--ours", action="store_true", help="every source of the build directory, and our headers in it")
    options.add_argument("files", nargs="*")
    arguments = options.parse_args(words)
    tool = find_clang_query()
    commands = read_commands(arguments.build)

    where = "isExpansionInMainFile()"
    if arguments.ours:
        where = f'anyOf(isExpansionInMainFile(), isExpansionInFileMatching("{OURS}"))'
        sources = worth_reading(arguments.build, [path for path in sorted(commands) if os.path.exists(path)])
        units = [(source, *commands[source]) for source in sources]
    else:
        missing = [name for name in arguments.files if not os.path.isfile(name)]
        if missing or not arguments.files:
            print(f"lint-coroutines: {missing[0]}: no such file" if missing else "lint-coroutines: no files given",
                  file=sys.stderr)
            return 2
        fallback = default_flags(arguments.build, commands) if flags is None else flags
        units = []
        for name in arguments.files:
            known = commands.get(os.path.realpath(name)) if flags is None else None
            directory, own = known or (os.getcwd(), fallback)
            units.append((os.path.realpath(name), directory, own))

    query = write_query(where)
    findings, errors = set(), []
    try:
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for found, broken in pool.map(lambda unit: lint(tool, query, *unit), units):
                findings |= found
                errors += broken
    finally:
        os.unlink(query)

    for path, line, column, rule in sorted(findings):
        print(f"{os.path.relpath(path)}:{line}:{column}: {INSTEAD[rule]} [{rule}]")
    for line in errors:
        print(f"not parsed: {line}")
    print(f"{counted(units, 'file')}, {counted(findings, 'finding')}" +
          (f", {counted(errors, 'error')}" if errors else ""))
    return 1 if findings or errors else 0


if __name__ == "__main__":
    sys.exit(main())
