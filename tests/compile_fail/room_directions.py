#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A room finds no header of a room it does not see, with the flags its own sources are really compiled with.

Usage: room_directions.py BUILD NAME:SEEN,SEEN… for each room.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile

build, table = sys.argv[1], sys.argv[2:]
sees = {}
for row in table:  # ground floor first, so what a room sees is known already
    name, seen = row.split(":")
    direct = [other for other in seen.split(",") if other]
    sees[name] = {name}.union(*(sees[other] for other in direct))


def room_folder(name):
    return os.path.realpath(os.path.join(build, "rooms", name, "thalweg", name))


def flags_of(name):
    """Compiler and include flags of the first source of a room, or nothing for a room without sources."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            source = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
            if os.path.dirname(source) == room_folder(name):
                words = [word for word in shlex.split(entry["command"]) if os.path.basename(word) != "ccache"]
                return [words[0], *(word for word in words if word.startswith(("-I", "-isystem", "-D", "-std=")))]
    return None


def finds(command, header):
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as probe:
        probe.write(f'#if !__has_include(<{header}>)\n#error "hidden"\n#endif\n')
        probe.flush()
        done = subprocess.run([*command, "-fsyntax-only", probe.name], cwd=build, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    if done.returncode and "hidden" not in done.stdout:
        sys.exit(f"the probe itself is broken:\n{done.stdout}")
    return done.returncode == 0


passed = failed = 0
headers = {name: sorted(file for file in os.listdir(room_folder(name)) if file.endswith(".hpp")) for name in sees}
for name in sees:
    command = flags_of(name)
    for other in sees if command else ():
        if not headers[other]:
            continue
        header = f"thalweg/{other}/{headers[other][0]}"
        if finds(command, header) == (other in sees[name]):
            passed += 1
        else:
            failed += 1
            print(f"{name}: <{header}> is {'hidden' if other in sees[name] else 'visible'}, and should not be")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
