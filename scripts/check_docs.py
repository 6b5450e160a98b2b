#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Find where the documentation is no longer true:

- code between `<!-- code: FILE -->` and `<!-- end -->` is not the file (`--write` puts the file there);
- a relative link in README, CONTRIBUTING, CHANGELOG or docs leads nowhere, or to a heading that is not there;
- a rule number that the sources cite is not defined in docs/reference, or twice (a rule is a table row `| NUMBER | ...`);
- a program of docs/examples is on no page of the guide.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = re.compile(r"<!-- code: (\S+) -->\n```(\w*)\n(.*?)```\n<!-- end -->", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
RULE = re.compile(r"\bR-(?:PRO|ENG|ENV|TRC)-[0-9][0-9A-F]\b|\bR-EVT-[0-9]{2,3}\b|\b[HD]-[0-9]{2}\b")
# "R-ENG-20, 21 and 23" and "R-ENG-50…52" cite more than one.
MORE = re.compile(r"\b(R-(?:PRO|ENG|ENV|TRC)|H|D)-([0-9][0-9A-F])((?:(?:, | and |/|…)[0-9][0-9A-F]\b(?!\w))+)")
DEFINED = re.compile(r"^\| (R-[A-Z]{3}-[0-9A-F]{2,3}|[HD]-[0-9]{2}) \|", re.MULTILINE)
SOURCES = ["lib", "providers", "environments", "cli", "tests", "bench", "docs/examples"]
SUFFIXES = {".cpp", ".hpp", ".in", ".py", ".build"}


def pages():
    return [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted((ROOT / "docs").rglob("*.md"))


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text):
    headings = re.findall(r"^#+ +(.+?) *$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def quoted(page, write, faults):
    text = page.read_text()
    for match in CODE.finditer(text):
        source = ROOT / match[1]
        if not source.is_file():
            faults.append(f"{page.relative_to(ROOT)}: there is no file {match[1]}")
        elif match[3] != source.read_text() and not write:
            faults.append(f"{page.relative_to(ROOT)}: the code is not that of {match[1]}; "
                          "scripts/check_docs.py --write puts it there")
    if text.count("<!-- code:") != len(CODE.findall(text)):
        faults.append(f"{page.relative_to(ROOT)}: a `<!-- code: -->` without a block and `<!-- end -->` behind it")
    if write:
        page.write_text(CODE.sub(lambda match: f"<!-- code: {match[1]} -->\n```{match[2]}\n"
                                               f"{(ROOT / match[1]).read_text()}```\n<!-- end -->", text))
    return {match[1] for match in CODE.finditer(text)}


def links(page, faults):
    for target in LINK.findall(without_code(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        if not to.exists():
            faults.append(f"{page.relative_to(ROOT)}: the link to {target} leads nowhere")
        elif anchor and anchor not in anchors(to.read_text()):
            faults.append(f"{page.relative_to(ROOT)}: {path or page.name} has no heading #{anchor}")


def expand(match):
    numbers, previous = [match[2]], match[2]
    for mark, number in re.findall(r"(, | and |/|…)([0-9][0-9A-F])", match[3]):
        if mark == "…" and previous.isdigit() and number.isdigit():
            numbers += [f"{n:02}" for n in range(int(previous) + 1, int(number))]
        numbers.append(number)
        previous = number
    return [f"{match[1]}-{number}" for number in numbers]


def cited():
    found = {}
    for file in sorted(f for folder in SOURCES for f in (ROOT / folder).rglob("*")):
        if file.suffix not in SUFFIXES or not file.is_file():
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            rules = RULE.findall(line)
            for match in MORE.finditer(line):
                rules += expand(match)
            for rule in rules:
                found.setdefault(rule, f"{file.relative_to(ROOT)}:{number}")
    return found


def rules(faults):
    defined = {}
    for page in sorted((ROOT / "docs/reference").glob("*.md")):
        for rule in DEFINED.findall(page.read_text()):
            if rule in defined:
                faults.append(f"{page.relative_to(ROOT)}: {rule} is defined in {defined[rule].name}, too")
            defined[rule] = page
    for rule, where in cited().items():
        if rule not in defined:
            faults.append(f"{where}: {rule} is defined nowhere in docs/reference")
    for page in pages():
        for rule in RULE.findall(page.read_text()):
            if rule not in defined:
                faults.append(f"{page.relative_to(ROOT)}: {rule} is defined nowhere in docs/reference")
    return len(defined)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the files' code into the pages")
    parser.add_argument("--program", nargs=2, metavar=("PAGE", "FILE"), help="write the first C++ block of PAGE to FILE, no more")
    options = parser.parse_args()
    if options.program:
        page, program = map(pathlib.Path, options.program)
        program.write_text(re.search(r"^```cpp\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)[1])
        return 0
    write = options.write
    faults = []
    shown = set()
    for page in pages():
        shown |= quoted(page, write, faults)
        links(page, faults)
    for program in sorted((ROOT / "docs/examples").glob("*.cpp")):
        if str(program.relative_to(ROOT)) not in shown:
            faults.append(f"{program.relative_to(ROOT)}: on no page of the guide")
    defined = rules(faults)
    for fault in faults:
        print(fault)
    print(f"{len(pages())} pages, {len(shown)} programs, {defined} rules: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
