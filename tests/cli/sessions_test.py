#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""sessions_test.py PROGRAM [TEST...]: what the program `thalweg` does with recorded sessions, seen from outside."""
import fcntl
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import program_test as program  # noqa: E402
from program_test import run  # noqa: E402

ID = "session-2026-11-30-10-00-00-0000000a"
LATER = "session-2026-11-30-11-00-00-0000000b"


def record(kind, payload, at=0):
    return {"timestamp": f"2026-11-30T10:00:{at // 1000:02}.{at % 1000:03}Z", "type": kind, "payload": payload}


def meta(id=ID, **more):
    return record("session_meta", {"session_id": id, "provider": "scripted", "model_id": "scripted-1",
                                   "model_context_window": 1000, "system_prompt": "", "agent_state": "/",
                                   "workspace": "/", **more})


def said(role, text, at=0):
    return record("model_msg", {"type": "text", "role": role, "text": text, "stop_reason": "completed"}, at)


def call(id, name, at=0):
    return record("model_msg", {"type": "tool_call", "role": "assistant", "name": name, "arguments": "{}",
                                "tool_call_id": id, "stop_reason": "completed"}, at)


def output(id, text, at=0, stop="completed"):
    return record("model_msg", {"type": "tool_call_output", "role": "user", "output": text, "tool_call_id": id,
                                "stop_reason": stop}, at)


def event(kind, at=0, **fields):
    return record("event_msg", {"type": kind, **fields}, at)


def decided(id, how="allow", at=0):
    return event("approval_decision", at, decision=how, tool_call_id=id)


def used(total, at=0, session=None):
    counts = {"cache_read": 1, "cache_write": 2, "output": 3, "total": total}
    return event("token_usage", at, session={**counts, "total": session or total}, request=counts)


TURN = [said("user", "one"), event("request_begin"), said("assistant", "first answer"), used(10),
        event("request_end", status="completed")]
CLOSING = [event("compaction_begin", reason="context", mode="summarize", context=10, turns=1),
           said("user", "write a summary"), event("request_begin"), said("assistant", "[summary]the story[/summary]"),
           used(20, session=30), event("request_end", status="completed"),
           event("compaction_end", reason="context", mode="summarize", status="completed", attempt=1)]


class sessions_test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="thalweg-sessions-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, records, id=ID, index=1, more=""):
        path = self.folder / "2026-11-30" / f"{id}_{index:03}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(each) + "\n" for each in records) + more)
        return path

    def contents(self):
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    def resume(self, *arguments, **more):
        return run("resume", "--traces", str(self.folder), *arguments, **more)

    # list

    def test_sessions_are_listed_the_latest_first(self):
        self.write([meta()] + TURN + CLOSING)
        self.write([meta(), said("user", "[context_summary]\nthe story\n[/context_summary]"), said("user", "two")], index=2)
        self.write([meta(LATER, model_id="m-2")] + TURN, LATER)
        done = run("trace", "list", str(self.folder))
        self.assertEqual((done.status, done.err), (0, ""))
        rows = [line.split(maxsplit=6) for line in done.out.splitlines()]
        self.assertEqual(rows[0], ["SESSION", "DATE", "FILES", "RECORDS", "STATE", "MODEL", "FIRST PROMPT"])
        self.assertEqual(rows[1], [LATER, "2026-11-30", "1", "6", "answered", "m-2", "one"])
        self.assertEqual(rows[2], [ID, "2026-11-30", "2", "16", "open", "scripted-1", "one"])
        self.assertEqual(len(rows), 3)

    def test_the_state_tells_how_a_session_was_left(self):
        ended = event("request_end", status="completed")
        for state, records, more in [
                ("answered", TURN, ""),
                ("answered", TURN, '{"torn'),
                ("closed", TURN + CLOSING, ""),
                ("interrupted", TURN + [said("user", "two"), event("request_begin"),
                                        event("request_end", status="aborted", attempt=1),
                                        event("abort", reason="aborted by user")], ""),
                ("open", TURN + [said("user", "two")], ""),
                ("open", [said("user", "one"), event("request_begin"), call("c1", "t"), ended], ""),
                ("damaged", TURN, "garbage\n" + json.dumps(said("user", "two")) + "\n")]:
            self.write([meta()] + records, more=more)
            rows = run("trace", "list", str(self.folder)).out.splitlines()
            self.assertEqual(rows[1].split()[4], state, records)

    def test_a_folder_without_sessions_is_an_empty_list_and_no_folder_a_failure(self):
        done = run("trace", "list", str(self.folder))
        self.assertEqual((done.status, done.out), (0, ""))
        self.assertIn("holds no session", done.err)
        done = run("trace", "list", str(self.folder / "missing"))
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("missing is no directory", done.err)

    def test_prompts_are_shortened_and_shown_and_not_obeyed(self):
        self.write([meta(), said("user", "\x1b[2J" + "long " * 100)])
        row = run("trace", "list", str(self.folder)).out.splitlines()[1]
        self.assertNotIn("\x1b", row)
        self.assertLess(len(row), 180)

    # show, check

    def test_a_folder_is_shown_and_checked_file_by_file(self):
        first = self.write([meta()] + TURN + CLOSING)
        second = self.write([meta(), said("user", "two")], index=2)
        other = self.write([meta(LATER), said("user", "other")], LATER)
        shown = run("trace", "show", str(self.folder))
        self.assertEqual((shown.status, shown.err), (0, ""))
        self.assertEqual([line for line in shown.out.splitlines() if line.startswith("/")],
                         [str(first), str(second), str(other)])
        checked = run("trace", "check", str(self.folder))
        self.assertEqual(checked.status, 0, checked.out)
        self.assertEqual(sum(": a trace of " in line for line in checked.out.splitlines()), 3)

    def test_one_session_of_a_folder_can_be_named(self):
        first = self.write([meta()] + TURN + CLOSING)
        self.write([meta(), said("user", "two")], index=2)
        other = self.write([meta(LATER), said("user", "other"), event("request_end", status="completed")], LATER)
        checked = run("trace", "check", str(self.folder), ID)
        self.assertEqual(checked.status, 0, checked.out)
        self.assertIn(f"{first}: a trace of 13 records", checked.out)
        self.assertNotIn(LATER, checked.out)
        checked = run("trace", "check", str(self.folder), "latest")
        self.assertEqual(checked.status, 1)
        self.assertIn(f"{other}:3: ", checked.out)
        self.assertNotIn(ID, checked.out)

    def test_what_is_not_there_is_said(self):
        path = self.write([meta()] + TURN)
        for command in ("show", "check", "stats"):
            for arguments, words in [((self.folder, "session-x"), "session-x has no file"),
                                     ((self.folder, "../up"), "is no session id"),
                                     ((path, ID), "is no directory"),
                                     ((self.folder / "2026-11-30",), "holds no session"),
                                     ((self.folder / "missing",), "cannot be opened")]:
                done = run("trace", command, *map(str, arguments))
                self.assertEqual((done.status, done.out), (1, ""), arguments)
                self.assertIn(words, done.err)

    # stats

    def counted(self):
        return self.write([
            meta(), said("user", "one"),
            event("request_begin", 1000), event("request_end", 1500, status="timeout", attempt=1, retry_in_ms=2000),
            event("request_begin", 3500), call("a", "read", 3600), decided("a", at=3700), call("b", "read", 3700),
            decided("b", at=4000), call("c", "write", 4100), decided("c", "deny", 4200),
            output("c", "Tool call denied by user.", 4200, "aborted"), output("a", "1", 4700), used(10, 4800),
            event("request_end", 4800, status="completed", attempt=2), output("b", "no", 7000, "failed"),
            event("request_begin", 8000), said("assistant", "done"), used(20, 8100),
            event("request_end", 8100, status="completed"), event("subagent", session_id="s")])

    def test_stats_are_exact_as_json(self):
        path = self.counted()
        for target in ([str(path)], [str(self.folder)], [str(self.folder), ID]):
            done = run("trace", "stats", "--json", *target)
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertEqual(len(done.out.splitlines()), 1)
            seen = json.loads(done.out)
            self.assertEqual(seen.pop("kinds"), {
                "session_meta": 1, "text": 2, "request_begin": 3, "request_end": 3, "tool_call": 3,
                "approval_decision": 3, "tool_call_output": 3, "token_usage": 2, "subagent": 1})
            self.assertEqual(seen, {
                "files": 1, "records": 21, "of_children": 0, "damaged_lines": 0,
                "tokens": {"cache_read": 2, "cache_write": 4, "output": 6, "total": 30},
                "requests": {"completed": 2, "timeout": 1}, "retries": 1,
                "request_ms": {"count": 3, "min": 100, "median": 500, "max": 1300},
                "tools": {"read": {"calls": 2, "failed": 1, "aborted": 0, "denied": 0,
                                   "ms": {"count": 2, "min": 1000, "median": 2000, "max": 3000}},
                          "write": {"calls": 1, "failed": 0, "aborted": 0, "denied": 1, "ms": {"count": 0}}}})

    def test_stats_are_a_plain_table(self):
        done = run("trace", "stats", str(self.counted()))
        self.assertEqual((done.status, done.err), (0, ""))
        for row in [["files", "1"], ["tokens", "30"], ["retries", "1"], ["request_begin", "3"], ["timeout", "1"],
                    ["all", "3", "0.100", "s", "0.500", "s", "1.300", "s"],
                    ["TOOL", "CALLS", "FAILED", "ABORTED", "DENIED", "MIN", "MEDIAN", "MAX"],
                    ["read", "2", "1", "0", "0", "1.000", "s", "2.000", "s", "3.000", "s"],
                    ["write", "1", "0", "0", "1", "-", "-", "-"]]:
            self.assertIn(row, [line.split() for line in done.out.splitlines()])
        self.assertFalse([line for line in done.out.splitlines() if line != line.rstrip()])

    def test_stats_count_what_cannot_be_read(self):
        self.write([meta()] + TURN, more="garbage\n{\"torn")
        done = run("trace", "stats", "--json", str(self.folder))
        self.assertEqual(done.status, 1)
        self.assertEqual(json.loads(done.out)["damaged_lines"], 2)
        self.assertIn(".jsonl:7: ", done.err)

    def test_stats_of_a_saved_stream(self):
        lines = run("run", "--json", "--tools", "demo", "--approve", "all", "hi").out
        seen = json.loads(run("trace", "stats", "--json", "-", stdin=lines).out)
        self.assertEqual(seen["records"], len(lines.splitlines()))
        self.assertGreater(seen["kinds"]["partial_text"], 0)

    # resume

    def test_without_a_prompt_the_conversation_is_shown_and_nothing_written(self):
        self.write([meta()] + TURN[:1] + [event("request_begin"), call("a", "read"), decided("a"), used(1),
                                          event("request_end", status="completed"), output("a", "line\n" * 20)] + CLOSING)
        self.write([meta(), said("user", "[context_summary]\nthe story\n[/context_summary]"), said("user", "two\nlines"),
                    event("abort", reason="aborted by user")], index=2)
        before = self.contents()
        for id in (ID, "latest"):
            done = self.resume(id)
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual(done.out.splitlines(),
                             ["> one", "● read {}"] + ["  read │ line"] * 8 + ["  read │ … 60 more bytes", "  read ✓",
                              "── the context was compacted here ──", "> two", "> lines", "✗ aborted by user"])
            self.assertIn("still owed to the model: 2 messages\n", done.err)
            self.assertIn(ID, done.err)
        self.assertEqual(self.contents(), before)

    def test_calls_that_a_dead_process_left_are_told(self):
        self.write([meta(), said("user", "one"), event("request_begin"), call("a", "read"), used(1),
                    event("request_end", status="completed")])
        self.assertIn("still owed to the model: 1 tool output (1 call was cut off by the end of the process)\n",
                      self.resume(ID).err)

    def test_a_prompt_goes_on_in_the_same_file(self):
        run("run", "--tools", "demo", "--approve", "all", "--trace", str(self.folder), "one")
        path, = self.folder.rglob("*.jsonl")
        before = path.read_text()
        done = self.resume("latest", "two")
        self.assertEqual((done.status, done.err), (0, "30 tokens, 22 of them output\n"))
        after = path.read_text()
        self.assertTrue(after.startswith(before))
        added = [json.loads(line) for line in after[len(before):].splitlines()]
        self.assertEqual(added[0]["payload"]["text"], "two")
        self.assertNotIn("session_meta", {each["type"] for each in added})
        checked = run("trace", "check", str(self.folder))
        self.assertEqual(checked.status, 0, checked.out)
        self.assertIn("0 notes", checked.out)
        self.assertEqual(list(self.folder.rglob("*.lock")), [])

    def test_a_compaction_that_was_cut_off_is_closed_first(self):
        path = self.write([meta()] + TURN + CLOSING[:3])
        self.assertEqual(self.resume(ID, "two").status, 0)
        added = [json.loads(line)["payload"] for line in path.read_text().splitlines()[9:]]
        self.assertEqual(added[0], {"type": "compaction_end", "reason": "context", "mode": "summarize", "status": "failed"})
        self.assertEqual(added[1]["text"], "two")
        self.assertEqual(run("trace", "check", str(path)).status, 0)

    def test_behind_a_completed_compaction_a_new_file_begins_with_the_summary(self):
        path = self.write([meta()] + TURN + CLOSING)
        before = path.read_text()
        self.assertEqual(self.resume(ID, "two").status, 0)
        self.assertEqual(path.read_text(), before)
        records = [json.loads(line) for line in (path.parent / f"{ID}_002.jsonl").read_text().splitlines()]
        self.assertEqual(records[0]["type"], "session_meta")
        self.assertEqual(records[1]["payload"]["text"], "[context_summary]\nthe story\n[/context_summary]")
        self.assertEqual(records[2]["payload"]["text"], "two")
        self.assertEqual(run("trace", "check", str(self.folder)).status, 0)

    def test_damaged_lines_are_told_and_the_session_goes_on(self):
        path = self.write([meta()] + TURN, more="garbage\n" + json.dumps(said("user", "two")) + '\n{"torn')
        done = self.resume(ID, "three")
        self.assertEqual(done.status, 0, done.err)
        self.assertIn(f"{path}:7: ", done.err)
        self.assertIn(f"{path}:9: ", done.err)
        lines = path.read_text().splitlines()
        self.assertEqual(lines[8], '{"torn')
        self.assertEqual(json.loads(lines[9])["payload"]["text"], "three")

    def test_a_session_in_use_is_refused_with_its_holder(self):
        self.write([meta()] + TURN)
        with open(self.folder / f"{ID}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            before = self.contents()
            done = self.resume(ID, "two")
            self.assertEqual((done.status, done.out), (1, ""))
            self.assertIn(f"process {os.getpid()}", done.err)
            self.assertEqual(self.contents(), before)
            self.assertEqual(self.resume(ID).status, 0)

    def test_sessions_that_cannot_go_on_say_why_and_are_left_alone(self):
        for records, more, words in [
                ([meta(trace_version=7)] + TURN, "", "is of version 7"),
                ([meta("another")] + TURN, "", '"another"'),
                (TURN, "", "no session_meta"),
                ([], "Dear diary\n", "not one is a record"),
                ([meta(workspace="/nowhere/at/all")] + TURN, "", "/nowhere/at/all"),
                ([meta(provider="oracle")] + TURN, "", "--provider")]:
            self.write(records, more=more)
            before = self.contents()
            done = self.resume(ID, "two")
            self.assertEqual((done.status, done.out), (1, ""), words)
            self.assertIn(words, done.err)
            self.assertEqual(self.contents(), before)
        for id, words in [("session-x", "session-x"), ("../up", "is no session id"), ("a/b", "is no session id")]:
            for prompt in ([], ["two"]):
                done = self.resume(id, *prompt)
                self.assertEqual((done.status, done.out), (1, ""))
                self.assertIn(words, done.err)

    def test_an_empty_prompt_and_a_missing_folder_are_wrong_usage(self):
        self.write([meta()] + TURN)
        self.assertEqual(self.resume(ID, " ").status, 2)
        self.assertEqual(run("resume", ID, "two").status, 2)

    def test_the_whole_conversation_reaches_the_model(self):
        self.write([meta(provider="openai-chat", model_id="m-1", system_prompt="Be brief.")] + TURN)
        asked = []
        with program.server(program.text_answer("second answer"), asked) as url:
            done = self.resume(ID, "two", "--base-url", url, OPENAI_API_KEY=program.KEY)
            self.assertEqual((done.status, done.err), (0, ""))
        asked, = asked
        self.assertEqual(asked["model"], "m-1")
        self.assertEqual([(each["role"], each["content"]) for each in asked["messages"]],
                         [("system", "Be brief."), ("user", "one"), ("assistant", "first answer"), ("user", "two")])
        path, = self.folder.rglob("*.jsonl")
        self.assertEqual(run("trace", "check", str(path)).status, 0)


if __name__ == "__main__":
    program.main(sys.modules[__name__])
