#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every C++ source is listed by a meson.build: others are neither built nor checked. A header that a room does not list
is private: it is not installed, so no listed header may include it. Usage: listed_files.py SOURCE_ROOT
"""

import os
import re
import sys

root = sys.argv[1]
ROOMS = ("lib/thalweg", "providers/thalweg", "environments/thalweg")
OTHERS = ("cli", "tests", "bench", "docs/examples")
UNBUILT = ("tests/compile_fail", "tests/install", "tests/lint")  # read by scripts
INCLUDE = re.compile(r"^#include <thalweg/([^>]+)>", re.MULTILINE)


def read(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def files(folder, ending):
    for place, _, names in os.walk(os.path.join(root, folder)):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(place, name), root)
            if name.endswith(ending) and not path.startswith(UNBUILT):
                yield path


def quoted(folder):
    """All that the meson.build files below a folder name, without endings (loops over names add them)."""
    texts = (re.sub(r"#.*", "", read(path)) for path in files(folder, "meson.build"))
    names = (name for text in texts for name in re.findall(r"'([^']+)'", text))
    return {os.path.splitext(os.path.basename(name))[0] for name in names}


complaints = []
for folder in ROOMS + OTHERS:
    listed = quoted(folder)
    complaints += [f"{path}: listed in no meson.build" for path in files(folder, ".cpp")
                   if os.path.splitext(os.path.basename(path))[0] not in listed]

installed = {}  # include path: whether the room lists the header
places = {}  # include path: file
for folder in ROOMS:
    for path in files(folder, ".hpp"):
        room = re.match(r".*?thalweg/[a-z]+(?=/)", path)
        if not room:
            continue  # the umbrella
        room = room.group(0)
        include = f"{os.path.basename(room)}/{os.path.relpath(path, room)}"
        places[include] = path
        installed[include] = f"'{os.path.relpath(path, room)}'" in read(os.path.join(room, "meson.build"))
for include, path in places.items():
    if installed[include]:
        complaints += [f"{path}: includes <thalweg/{name}>, which its room does not list"
                       for name in INCLUDE.findall(read(path)) if not installed.get(name, True)]

for complaint in complaints:
    print(complaint)
sys.exit(1 if complaints or not places else 0)
