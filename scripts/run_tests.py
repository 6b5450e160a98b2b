#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Run the tests of a build directory and count them one by one.

Meson counts programs; a reader wants test cases. A program of the suite `unit` is a Catch2 program and counts with
each of its test cases. Any other test counts as one result, unless its last line says `N passed, N failed`.
The last line of the output is always `N passed, N failed`, with `, N skipped` when something was skipped.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

SKIPPED = 77  # the exit code by which a test says that it cannot run here
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


class Outcome:
    def __init__(self, passed=0, failed=0, skipped=0, report=""):
        self.passed, self.failed, self.skipped, self.report = passed, failed, skipped, report


def run(command, test):
    """One child process with the test's environment and time limit; (exit code or None for a timeout, output)."""
    environment = {**SANITIZERS, **os.environ, **test.get("env", {})}
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                 env=environment, cwd=test["workdir"], start_new_session=True,
                                 preexec_fn=test.get("limit"))
        try:
            code = child.wait(timeout=test.get("timeout") or None)
        except subprocess.TimeoutExpired:
            code = None
        try:  # whatever the test left behind in its group
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        output.seek(0)
        return code, output.read().decode("utf-8", "replace")


def ending(code, test):
    if code is None:
        return f"no end within {test['timeout']} s"
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def wanted(pattern, *names):
    if not pattern:
        return True
    literal = pattern.lower().replace("[", "[[]")
    shape = literal if any(c in pattern for c in "*?") else f"*{literal}*"
    return any(fnmatch.fnmatchcase(name.lower(), shape) for name in names)


def case_names(test, pattern):
    """The Catch2 test cases to run; None when the program cannot even list them."""
    command = test["cmd"] + ["--list-test-names-only"]
    tag = pattern if pattern and pattern.startswith("[") else None
    code, output = run(command + ([tag] if tag else []), test)
    names = [line for line in output.splitlines() if line.strip()]
    # Catch2 answers with the number of test cases here, so only a signal or a timeout is a fault.
    if code is None or code < 0:
        return None, output
    return [name for name in names if tag or wanted(pattern, name, test["name"])], output


def describe(event, element):
    if element.tag == "Expression":
        texts = [" ".join((element.findtext(tag) or "").split()) for tag in ("Original", "Expanded")]
        return f"    {element.get('filename')}:{element.get('line')}: {element.get('type')}({texts[0]})\n" \
               f"        with {texts[1]}"
    if element.tag in ("Exception", "FatalErrorCondition", "Failure"):
        return f"    {element.get('filename')}:{element.get('line')}: {element.tag}: {(element.text or '').strip()}"
    return f"    note: {(element.text or '').strip()}"


def read_results(path):
    """What the XML reporter wrote, as far as it got: [(case, ok or None while it ran, lines)]."""
    parser = xml.XMLPullParser(["start", "end"])
    cases = []
    try:
        with open(path, "rb") as file:
            parser.feed(file.read())
    except (OSError, xml.ParseError):
        pass
    try:
        for event, element in parser.read_events():
            if event == "start" and element.tag == "TestCase":
                cases.append([element.get("name"), None, []])
            elif event == "end" and cases and element.tag == "OverallResult":
                cases[-1][1] = element.get("success") == "true"
            elif event == "end" and cases:
                if element.tag == "Expression" and element.get("success") == "true":
                    continue
                if element.tag in ("Expression", "Exception", "FatalErrorCondition", "Failure", "Info", "Warning"):
                    cases[-1][2].append(describe(event, element))
    except xml.ParseError:
        pass
    return cases


def run_unit(test, pattern):
    names, output = case_names(test, pattern)
    if names is None:
        return Outcome(failed=1, report=f"{test['name']}: cannot list its test cases\n{output}")
    if not names:
        return Outcome()
    with tempfile.TemporaryDirectory() as folder:
        report, selection = os.path.join(folder, "report.xml"), os.path.join(folder, "names")
        command = test["cmd"] + ["--reporter", "xml", "--out", report]
        if pattern:
            with open(selection, "w", encoding="utf-8") as file:
                # A backslash, a comma and a bracket are syntax of Catch2's test specification.
                file.writelines(re.sub(r"([\\,\[])", r"\\\1", name) + "\n" for name in names)
            command += ["--input-file", selection]
        code, output = run(command, test)
        cases = read_results(report)

    outcome = Outcome()
    lines = []
    for name, ok, details in cases:
        if ok:
            outcome.passed += 1
            continue
        outcome.failed += 1
        lines.append(f"FAILED {test['name']}: {name}" + ("" if ok is False else f" ({ending(code, test)})"))
        lines += details
    missing = len(names) - len(cases)
    if missing > 0:
        outcome.failed += missing
        lines.append(f"FAILED {test['name']}: {missing} test cases did not run ({ending(code, test)})")
    elif code != 0 and not outcome.failed:
        outcome.failed += 1
        lines.append(f"FAILED {test['name']}: all test cases passed, then {ending(code, test)}")
    if outcome.failed and output.strip():
        lines.append(output.rstrip()[-8000:])
    outcome.report = "\n".join(lines)
    return outcome


def run_other(test):
    code, output = run(test["cmd"], test)
    if code == SKIPPED:
        last = output.strip().splitlines()
        return Outcome(skipped=1, report=f"skipped {test['name']}: {last[-1] if last else 'no reason given'}")
    lines = output.rstrip().splitlines()
    totals = TOTALS.match(lines[-1]) if lines else None
    outcome = Outcome(*(int(count or 0) for count in totals.groups())) if totals else Outcome(passed=int(code == 0))
    if code != 0 and not outcome.failed:
        outcome.failed = 1
    if outcome.failed:
        outcome.report = f"FAILED {test['name']} ({ending(code, test)})\n{output.rstrip()[-8000:]}"
    return outcome


def run_one(test, pattern):
    return run_unit(test, pattern) if "unit" in suites(test) else run_other(test)


def suites(test):
    return [suite.split(":")[-1] for suite in test["suite"]]


def stack_limit(kib):
    return lambda: resource.setrlimit(resource.RLIMIT_STACK, (kib * 1024, kib * 1024))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--suite", action="append", help="only this suite (may be repeated)")
    options.add_argument("--without", action="append", default=[], help="not this suite (may be repeated)")
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("--stack-kib", type=int, help="stack size of the test programs")
    options.add_argument("build")
    options.add_argument("pattern", nargs="?", default="")
    arguments = options.parse_args()

    listed = subprocess.run(["meson", "introspect", "--tests", arguments.build], check=True, stdout=subprocess.PIPE)
    tests = json.loads(listed.stdout)
    for test in tests:
        test["name"] = test["name"].split(" / ")[-1]
        test["workdir"] = test.get("workdir") or arguments.build  # what meson's arguments are relative to
        test["limit"] = stack_limit(arguments.stack_kib) if arguments.stack_kib else None
    tests = [test for test in tests
             if (not arguments.suite or set(arguments.suite) & set(suites(test)))
             and not set(arguments.without) & set(suites(test))]
    tests = [test for test in tests
             if "unit" in suites(test) or wanted(arguments.pattern, test["name"], *suites(test))]

    total = Outcome()
    shared = [test for test in tests if test.get("is_parallel", True)]
    alone = [test for test in tests if test not in shared]
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        def outcomes():
            running = {pool.submit(run_one, test, arguments.pattern): test for test in shared}
            for future in concurrent.futures.as_completed(running):
                yield running[future], future.result()
            for test in alone:
                yield test, run_one(test, arguments.pattern)

        for test, outcome in outcomes():
            total.passed += outcome.passed
            total.failed += outcome.failed
            total.skipped += outcome.skipped
            if outcome.report:
                print(outcome.report)
            if outcome.passed or outcome.failed:
                print(f"{test['name']}: {outcome.passed} passed, {outcome.failed} failed")
            sys.stdout.flush()

    if total.passed + total.failed == 0:
        print("no test ran" + (f": nothing matches '{arguments.pattern}'" if arguments.pattern else ""))
    print(f"{total.passed} passed, {total.failed} failed" + (f", {total.skipped} skipped" if total.skipped else ""))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
