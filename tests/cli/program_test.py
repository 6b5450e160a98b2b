#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""program_test.py PROGRAM [TEST...]: what the program `thalweg` does, seen from outside.

Models are scripts, or servers on this machine. A test waits for what the program prints and never sleeps.
"""
import contextlib
import http.server
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import chat_server  # noqa: E402

PROGRAM = ""
KEY = "sk-the-right-one"
LIMIT = 60  # seconds that nothing here ever needs


def environment(**more):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("OPENAI_") and not name.lower().endswith("_proxy") and name != "NO_COLOR"}
    return {**kept, "NO_PROXY": "*", "TERM": "xterm", **more}


class ran:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def run(*arguments, stdin="", **more):
    done = subprocess.run([PROGRAM, *arguments], input=stdin.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(**more), timeout=LIMIT)
    return ran(done.returncode, done.stdout.decode(), done.stderr.decode())


class odd_handler(chat_server.handler):
    """Answers as the server's `mode` says."""

    def do_POST(self):
        mode = self.server.mode
        if mode is None:
            return super().do_POST()
        if isinstance(mode, tuple):
            return self.reply(*mode[1:])
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.server.asked += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if mode == "hang":
            self.wfile.write(chat_server.chunk({"content": "I think "}).encode())
            self.wfile.flush()
            self.server.over.wait(LIMIT)
        else:
            self.wfile.write(mode)
        self.close_connection = True


    def reply(self, status, kind, body):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def server(mode=None, requests=None):
    """Gives the base URL; `mode` is None (answers well), "hang", the bytes of the answer, or a whole reply. With a mode, `requests` gets
    what was asked."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), odd_handler) as made:
        made.daemon_threads = True
        made.block_on_close = False
        made.mode, made.asked, made.over = mode, 0, threading.Event()
        made.requests = [] if requests is None else requests
        made.options = type("options", (), {"key": KEY, "status": 200, "fails": 0})
        threading.Thread(target=made.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{made.server_address[1]}/v1"
        finally:
            made.over.set()
            made.shutdown()


def text_answer(text):
    return "".join([chat_server.chunk({"content": text}), chat_server.chunk({}, "stop"), "data: [DONE]\n\n"]).encode()


class started:
    """The program while it runs, on pipes or with `terminal` on a pseudo terminal."""

    def __init__(self, *arguments, terminal=False, **more):
        if terminal:
            self.reader, inside = pty.openpty()
            self.process = subprocess.Popen([PROGRAM, *arguments], stdin=inside, stdout=inside, stderr=inside,
                                            env=environment(**more))
            os.close(inside)
        else:
            self.reader, inside = os.pipe()
            self.process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=inside,
                                            stderr=inside, env=environment(**more))
            os.close(inside)
        self.seen = ""

    def _read(self):
        ready, _, _ = select.select([self.reader], [], [], LIMIT)
        if not ready:
            raise AssertionError(f"nothing more came behind {self.seen!r}")
        try:
            piece = os.read(self.reader, 65536)
        except OSError:  # a terminal whose other side is closed
            piece = b""
        self.seen += piece.decode(errors="replace")
        return bool(piece)

    def until(self, words, times=1):
        while self.seen.count(words) < times:
            if not self._read():
                raise AssertionError(f"{words!r} did not come: {self.seen!r}")

    def type(self, line):
        os.write(self.reader, line.encode() + b"\n")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        while self._read():
            pass
        os.close(self.reader)
        return self.process.wait(LIMIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class program_test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="thalweg-program-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_clean(self, lines, what="a stream"):
        checked = run("trace", "check", "-", stdin=lines)
        self.assertEqual(checked.status, 0, checked.out + checked.err)
        self.assertRegex(checked.out, rf"^standard input: {what} of \d+ records.*: 0 faults, 0 notes\n$")

    # The command line -----------------------------------------------------------------------------------------------

    def test_help_and_version_are_no_errors(self):
        for arguments in (["--help"], ["run", "--help"], ["trace", "--help"], ["trace", "check", "--help"]):
            done = run(*arguments)
            self.assertEqual((done.status, done.err), (0, ""), arguments)
            self.assertIn("Usage: thalweg", done.out)
        self.assertRegex(run("--version").out, r"^\d+\.\d+\.\d+\n$")
        self.assertIn("130 interrupted", run("--help").out)
        help_of_run = run("run", "--help").out
        self.assertIn("--json[=FILE]", help_of_run)
        self.assertNotIn("{-}", help_of_run)
        self.assertIn("default: 0, no limit", help_of_run)

    def test_a_wrong_command_line_is_status_2_and_says_what_is_wrong(self):
        for arguments, words in [
            ([], "a command is missing; there is: run, resume, trace, demo"),
            (["walk", "hi"], "unknown command 'walk'; there is: run, resume, trace, demo"),
            (["run", "--colour", "hi"], "--colour"),
            (["run"], "prompt"),
            (["run", "--tools", "all", "hi"], "--tools"),
            (["run", "--provider", "nobody", "hi"], "--provider"),
            (["run", "--approve", "maybe", "hi"], "--approve"),
            (["run", "--max-turns", "-3", "hi"], "--max-turns"),
            (["run", "--max-turns", "x", "hi"], "'x' is no number of model requests"),
            (["run", "hello", "big", "world"], "not expected: big world\nThe prompt is one argument"),
            (["run", "--json", "run.jsonl", "hi"], "write --json=FILE"),
            (["run", "--provider", "scripted", "--model", "nosuch", "hi"], "--model means nothing to the scripted"),
            (["run", "--provider", "scripted", "--base-url", "http://x", "hi"], "--base-url means nothing"),
            (["run", "--model", "nosuch", "hi"], "set OPENAI_API_KEY"),
            (["trace"], "thalweg trace: a command is missing; there is: list, show, check, stats"),
            (["trace", "chekc", "a"], "unknown command 'chekc'"),
            (["trace", "check"], "target"),
            (["trace", "list"], "folder"),
            (["resume", "latest"], "--traces"),
            (["resume", "--traces", "."], "session"),
        ]:
            done = run(*arguments)
            self.assertEqual((done.status, done.out), (2, ""), arguments)
            self.assertIn(words, done.err)

    def test_an_empty_prompt_is_wrong_usage(self):
        for arguments, stdin in [(["run", ""], ""), (["run", "-"], " \n")]:
            done = run(*arguments, stdin=stdin)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn("prompt is empty", done.err)

    def test_a_dash_reads_the_prompt_from_standard_input(self):
        done = run("run", "--trace", str(self.folder), "-", stdin="Where does\nit flow?")
        self.assertEqual(done.status, 0, done.err)
        shown = run("trace", "show", str(next(self.folder.rglob("*.jsonl"))))
        self.assertIn("Where does it flow?", shown.out)

    # What is shown --------------------------------------------------------------------------------------------------

    def test_off_a_terminal_it_is_plain(self):
        done = run("run", "--tools", "demo", "--approve", "all", "hi")
        self.assertEqual(done.status, 0)
        self.assertNotIn("\x1b", done.out + done.err)
        self.assertIn("● forecast {\"city\":\"Oslo\",\"days\":4}\n", done.err)
        self.assertIn("  forecast │ Oslo, day 1", done.err)
        self.assertIn("  forecast ✓\n", done.err)
        self.assertRegex(done.err, r"\d+ tokens, \d+ of them output.*\n$")
        self.assertEqual(done.out, "Let me look at the sky, roll the dice, and tidy up.\n"
                                   "Oslo stays mostly dry, the dice have spoken, and nothing was deleted.\n")

    def test_nobody_to_ask_means_denied(self):
        done = run("run", "--tools", "demo", "hi")
        self.assertEqual(done.status, 0)
        self.assertEqual(done.err.count("was not allowed"), 3)
        self.assertIn("forecast ✗ Tool call denied by user.", done.err)
        self.assertNotIn("nobody can be asked", done.err)
        self.assertIn("nobody can be asked", run("run", "--approve", "ask", "hi").err)

    def test_a_terminal_gets_colors_unless_NO_COLOR_or_a_dumb_one(self):
        with started("run", "--tools", "demo", "--approve", "all", "hi", terminal=True) as on:
            self.assertEqual(on.end(), 0)
            self.assertIn("\x1b[2mThe weather", on.seen)
            self.assertIn("\x1b[1m● forecast", on.seen)
        for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with started("run", "hi", terminal=True, **plain) as on:
                self.assertEqual(on.end(), 0)
                self.assertNotIn("\x1b", on.seen)

    def test_a_terminal_is_asked(self):
        with started("run", "--tools", "demo", "hi", terminal=True) as on:
            for name, reply in [("forecast", "y"), ("roll_dice", "n"), ("delete_everything", "what?")]:
                on.until(f"run {name} ")
                on.until("[N]o:", times=on.seen[:on.seen.rindex(f"run {name} ")].count("[N]o:") + 1)
                on.type(reply)
            self.assertEqual(on.end(), 0)
            self.assertIn("forecast ✓", on.seen)
            self.assertEqual(on.seen.count("was not allowed"), 2)
        lines = re.sub(r"\x1b\[\d?m", "", on.seen).split("\r\n")
        for at, line in enumerate(lines):  # a question has a line of its own, behind its call
            self.assertNotRegex(line, r".+run \w+ \{", line)
            if line.startswith("run "):
                name = line.split()[1]
                self.assertTrue(any(before.startswith(f"● {name} ") for before in lines[:at]), lines)
        for name in ("forecast", "roll_dice", "delete_everything"):
            self.assertEqual(sum(line.startswith(f"● {name} ") for line in lines), 1, lines)

    def test_always_asks_once(self):
        with started("run", "--tools", "demo", "hi", terminal=True) as on:
            on.until("[N]o:")
            on.type("a")
            self.assertEqual(on.end(), 0)
            self.assertEqual(on.seen.count("[N]o:"), 1)
            self.assertNotIn("was not allowed", on.seen)

    def test_escapes_of_a_model_are_shown_and_not_obeyed(self):
        evil = text_answer("\x1b]0;title\x07\x1b[2J\u009b31mred\rback\x7f end")
        with server(evil) as url:
            done = run("run", "--base-url", url, "hi")
            self.assertEqual(done.status, 0, done.err)
            self.assertFalse(set(done.out) & set("\x1b\x07\u009b\r\x7f"), repr(done.out))
            self.assertIn("␛]0;title␇␛[2J", done.out)
            self.assertIn(" end", done.out)
            with started("run", "--base-url", url, "hi", terminal=True) as on:
                self.assertEqual(on.end(), 0)
                self.assertEqual(re.sub(r"\x1b\[\d?m", "", on.seen.replace("\r\n", "\n")).count("\x1b"), 0, repr(on.seen))
            saved = run("run", "--base-url", url, "--json", "hi")
            self.assertNotIn("\x1b", saved.out)
            self.assertIn(r"\u001b]0;title\u0007", saved.out)

    # Streams and traces ---------------------------------------------------------------------------------------------

    def test_json_is_the_stream_and_nothing_else(self):
        done = run("run", "--tools", "demo", "--approve", "all", "--json", "hi")
        self.assertEqual((done.status, done.err), (0, ""))
        kinds = [json.loads(line)["payload"]["type"] for line in done.out.splitlines()]
        self.assertEqual((kinds[0], kinds[-1]), ("request_begin", "request_end"))
        self.assertEqual(kinds.count("tool_call_output"), 3)
        self.assert_clean(done.out)

    def test_the_prompt_is_recorded_and_not_echoed(self):
        done = run("run", "--json", "--trace", str(self.folder), "a very special prompt")
        self.assertNotIn("a very special prompt", done.out)
        self.assertIn("a very special prompt", next(self.folder.rglob("*.jsonl")).read_text())

    def test_json_to_a_file_leaves_the_screen_as_it_is(self):
        file = self.folder / "run.jsonl"
        done = run("run", f"--json={file}", "hi")
        self.assertEqual(done.status, 0)
        self.assertTrue(done.out.startswith("Hello!"), done.out)
        self.assertNotIn("tokens", done.out)
        self.assert_clean(file.read_text())

    def test_json_that_cannot_be_written_is_said(self):
        for target, words in [("/nowhere/run.jsonl", "/nowhere/run.jsonl: cannot be written"),
                              ("/dev/full", "could not be written")]:
            done = run("run", f"--json={target}", "hi")
            self.assertEqual(done.status, 1)
            self.assertIn(words, done.err)

    def test_openai_chat_with_tools_gives_a_clean_stream_and_a_clean_trace(self):
        with server() as url:
            done = run("run", "--provider", "openai-chat", "--base-url", url, "--tools", "demo", "--approve", "all",
                       "--json", "--trace", str(self.folder), "hi", OPENAI_API_KEY=KEY)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.out.count('"type":"tool_call_output"'), 2)
        self.assertIn('"total":99}', done.out)
        self.assert_clean(done.out)
        trace, = self.folder.rglob("*.jsonl")
        self.assertNotIn(KEY, trace.read_text())
        self.assert_clean(trace.read_text(), "a trace")

    def test_a_trace_is_checked_and_shown(self):
        run("run", "--tools", "demo", "--approve", "all", "--trace", str(self.folder), "hi")
        trace, = self.folder.rglob("*.jsonl")
        self.assertRegex(str(trace.relative_to(self.folder)),
                         r"^\d{4}-\d\d-\d\d/session-[\d-]{19}-[0-9a-f]{8}_001\.jsonl$")
        self.assertEqual(run("trace", "check", str(trace)).status, 0)
        shown = run("trace", "show", str(trace))
        self.assertEqual((shown.status, shown.err), (0, ""))
        self.assertEqual(len(shown.out.splitlines()), len(trace.read_text().splitlines()))
        self.assertRegex(shown.out.splitlines()[0], r"^ +1  \d{4}-\d\d-\d\dT[\d:.]{12}Z  session_meta")

    def test_a_damaged_trace_is_told_by_line_and_the_rest_is_shown(self):
        run("run", "--trace", str(self.folder), "hi")
        trace, = self.folder.rglob("*.jsonl")
        lines = trace.read_text().splitlines()
        offset = len("\n".join(lines[:2]) + "\n")
        lines[2] = "{this is no JSON"
        trace.write_text("\n".join(lines) + "\n")
        shown = run("trace", "show", str(trace))
        self.assertEqual(shown.status, 1)
        self.assertIn(f"{trace}:3: ", shown.err)
        self.assertIn(f"at byte 1 (the line begins at byte {offset} ", shown.err)
        self.assertEqual(len(shown.out.splitlines()), len(lines) - 1)
        self.assertIn("request_end", shown.out)
        checked = run("trace", "check", str(trace))
        self.assertEqual(checked.status, 1)
        self.assertIn(f"{trace}:3: ", checked.out)

    def test_a_broken_rule_is_named(self):
        lines = run("run", "--json", "hi").out.splitlines()
        kept = [line for line in lines if '"type":"token_usage"' not in line]
        checked = run("trace", "check", "-", stdin="\n".join(kept) + "\n")
        self.assertEqual(checked.status, 1)
        self.assertRegex(checked.out, r"standard input:\d+: .*\(R-ENG-16\)\n")

    def test_nothing_and_files_of_another_kind_are_failures_in_a_sentence(self):
        for empty in (run("trace", "check", "/dev/null"), run("trace", "check", "-", stdin="")):
            self.assertEqual(empty.status, 1)
            self.assertIn("there is nothing to check", empty.err)
        foreign = run("trace", "check", PROGRAM)
        self.assertEqual(foreign.status, 1)
        self.assertEqual(foreign.out.count("\n"), 2, foreign.out)  # one fault and the summary
        self.assertIn("neither a trace nor a stream", foreign.out)

    def test_trace_files_that_cannot_be_read_are_status_1(self):
        for command in ("show", "check"):
            for path, words in [("/nowhere/a.jsonl", "No such file"), (str(self.folder), "directory")]:
                done = run("trace", command, path)
                self.assertEqual((done.status, done.out), (1, ""))
                self.assertIn(path, done.err)
                self.assertIn(words, done.err)

    def test_a_trace_folder_that_cannot_be_written_is_said_before_anything_runs(self):
        file = self.folder / "file"
        file.write_text("")
        for folder in (str(file), "/proc/nowhere"):
            done = run("run", "--trace", folder, "hi")
            self.assertEqual((done.status, done.out), (1, ""))
            self.assertRegex(done.err, rf"^error: .*{folder}.*\n$")

    # What goes wrong outside ----------------------------------------------------------------------------------------

    def test_a_wrong_key_is_status_3_and_stays_secret(self):
        with server() as url:
            done = run("run", "--base-url", url, "hi", OPENAI_API_KEY="sk-the-wrong-one")
            self.assertEqual(done.status, 3)
            self.assertIn("401", done.err)
            self.assertIn("Incorrect API key", done.err)
            self.assertNotIn("sk-the-wrong-one", done.out + done.err)
            saved = run("run", "--base-url", url, "--json", "hi", OPENAI_API_KEY="sk-the-wrong-one")
            self.assertEqual(saved.status, 3)
            self.assertNotIn("sk-the-wrong-one", saved.out + saved.err)
            self.assert_clean(saved.out)

    def test_nobody_at_the_url_is_said_and_tried_again_until_interrupted(self):
        with socket.socket() as taken:  # bound and not listening: refuses
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
            with started("run", "--base-url", url, "--json", "hi") as on:
                on.until('"retry_in_ms":2000')
                on.interrupt()
                self.assertEqual(on.end(), 130)
                self.assertIn(url, on.seen)
                self.assertIn("Connection refused", on.seen)
                self.assertIn("aborted during reconnect backoff", on.seen)

    def test_a_url_that_is_none_is_said(self):
        done = run("run", "--base-url", "gopher://example", "hi")  # at once: it can never succeed
        self.assertEqual(done.status, 1)
        self.assertIn("error: llm request error: HTTP request: the URL is neither http nor https", done.err)
        self.assertNotIn("again in", done.out + done.err)

    def test_what_can_never_succeed_ends_at_once_and_is_told_once(self):
        not_found = {"error": {"type": "api_error", "message": "model 'x' not found"}}
        for status, kind, body in [(404, "application/json", json.dumps(not_found)), (422, "text/plain", "no"),
                                   (200, "text/html", "<html>a page</html>")]:
            with server(("reply", status, kind, body.encode())) as url:
                done = run("run", "--base-url", url, "hi")
            self.assertEqual((done.status, done.out), (1, ""))
            self.assertEqual(len(done.err.splitlines()), 1, done.err)
            self.assertIn(body if kind == "text/plain" else "not", done.err)

    def test_a_key_that_is_missing_is_said_for_the_program_and_for_code(self):
        done = run("run", "--provider", "openai-chat", "hi")
        self.assertEqual((done.status, done.out), (3, ""))
        self.assertIn("set OPENAI_API_KEY", done.err)
        self.assertIn("openai_chat_options::api_key", done.err)

    def test_a_provider_of_the_program_by_its_name(self):
        done = run("run", "--provider", "anthropic", "hi")
        self.assertEqual((done.status, done.out), (3, ""))
        self.assertIn("set ANTHROPIC_API_KEY", done.err)
        unknown = run("run", "--provider", "antropic", "hi")
        self.assertEqual(unknown.status, 2)
        self.assertIn("'antropic' is no provider of this program", unknown.err)
        self.assertIn('did you mean "anthropic"?', unknown.err)

    def test_an_answer_of_the_anthropic_protocol_is_shown_and_recorded(self):
        events = [{"type": "message_start", "message": {"id": "1", "usage": {"input_tokens": 3}}},
                  {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                  {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
                  {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
                  {"type": "message_stop"}]
        body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events).encode()
        with server(body) as url:
            done = run("run", "--provider", "anthropic", "--base-url", url, "hi")
            self.assertEqual((done.status, done.out), (0, "hello\n"), done.err)
            saved = run("run", "--provider", "anthropic", "--base-url", url, "--json", "hi")
        self.assert_clean(saved.out)
        self.assertIn('"total":5', saved.out)

    def test_an_answer_that_a_limit_cuts_says_so(self):
        cut = (chat_server.chunk({"content": "cut he"}) + chat_server.chunk({}, "length") + "data: [DONE]\n\n").encode()
        with server(cut) as url:
            done = run("run", "--base-url", url, "hi")
            self.assertEqual((done.status, done.out), (0, "cut he\n"))
            self.assertIn("the answer is cut off", done.err)
            saved = run("run", "--base-url", url, "--json", "hi")
        self.assertIn('"text":"cut he","stop_reason":"failed"', saved.out)
        self.assert_clean(saved.out)

    def test_a_context_that_fills_a_known_model_is_summed_up(self):
        usage = {"prompt_tokens": 6000, "completion_tokens": 500, "total_tokens": 6500}
        answer = "".join([chat_server.chunk({"content": "[summary]so far[/summary]"}),
                          chat_server.chunk({}, "stop", usage), "data: [DONE]\n\n"]).encode()
        for model, requests, window in ("gpt-4-0613", 2, 8192), ("gpt-4-turbo", 1, 128000), ("nobody-knows", 1, 0):
            seen = []
            with self.subTest(model), server(answer, seen) as url, tempfile.TemporaryDirectory() as folder:
                done = run("run", "--base-url", url, "--model", model, "--trace", folder, "go", OPENAI_API_KEY=KEY)
                self.assertEqual(done.status, 0, done.err)
                self.assertEqual(len(seen), requests)
                first = min(pathlib.Path(folder).rglob("*.jsonl")).read_text().splitlines()[0]
                self.assertEqual(json.loads(first)["payload"]["model_context_window"], window)

    def test_garbage_is_malformed_and_quoted(self):
        for answer in (b"data: <html>welcome to the proxy</html>\n\n", b"<html>welcome to the proxy</html>"):
            with server(answer) as url, started("run", "--base-url", url, "--json", "hi") as on:
                on.until('"retry_in_ms":2000')
                on.interrupt()
                self.assertEqual(on.end(), 130)
                self.assertIn('"status":"malformed"', on.seen)
                self.assertIn("<html>welcome", on.seen)

    # Ends -----------------------------------------------------------------------------------------------------------

    def test_the_turn_limit_is_a_failure_that_says_how_to_go_on(self):
        done = run("run", "--tools", "demo", "--approve", "all", "--max-turns", "1", "hi")
        self.assertEqual(done.status, 1)
        self.assertIn("[reached max turns (1); stopping]", done.out + done.err)
        self.assertIn("limit of 1 turn(s)", done.err)

    def test_an_interrupt_ends_the_run_in_order(self):
        with server("hang") as url, started("run", "--base-url", url, "--json", "hi") as on:
            on.until('"I think "')
            on.interrupt()
            self.assertEqual(on.end(), 130)
        lines = [line for line in on.seen.splitlines() if line.startswith("{")]
        self.assertEqual([json.loads(line)["payload"]["type"] for line in lines[-2:]], ["request_end", "abort"])
        self.assert_clean("\n".join(lines) + "\n")

    def test_an_interrupt_while_the_person_is_asked_takes_the_question_back(self):
        with started("run", "--tools", "demo", f"--json={self.folder / 'run.jsonl'}", "hi", terminal=True) as on:
            on.until("[N]o:")
            on.interrupt()
            self.assertEqual(on.end(), 130)
        lines = (self.folder / "run.jsonl").read_text()
        self.assertNotIn("approval_decision", lines)
        self.assert_clean(lines)

    def test_an_interrupt_says_so_once(self):
        with server("hang") as url, started("run", "--base-url", url, "hi") as on:
            on.until("I think")
            on.interrupt()
            self.assertEqual(on.end(), 130)
            self.assertEqual(on.seen.count("aborted by user"), 1, on.seen)

    def test_a_second_interrupt_ends_the_program_whatever_it_does(self):
        with server("hang") as url, started("run", "--base-url", url, "hi") as on:
            on.until("I think")
            on.interrupt()
            on.interrupt()
            self.assertIn(on.end(), (130, -signal.SIGINT))  # a shell shows both as 130

    def test_a_reader_that_leaves_ends_it(self):
        with started("run", "--tools", "demo", "--approve", "all", "--json", "hi") as on:
            on.until("request_begin")
            os.close(on.reader)
            self.assertNotEqual(on.process.wait(LIMIT), 0)

    # The demo -------------------------------------------------------------------------------------------------------

    def test_the_demo_shows_each_guarantee_once(self):
        done = run("demo")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertNotIn("\x1b", done.out)
        at = -1
        for sentence in ["one request to the model begins", "a segment: start", "and at once the complete message",
                         "approved before anything", "the model's stream goes on", "called later, done earlier",
                         "denied: nothing is dispatched", "and the output says so", "always the last message of the model",
                         "a tool still runs", "late output, behind request_end", "only now the next request begins"]:
            self.assertEqual(done.out.count(sentence), 1, sentence)
            self.assertGreater(done.out.index(sentence), at, sentence)
            at = done.out.index(sentence)
        self.assertIn("in call order: call_A call_B call_C\n", done.out)
        self.assertTrue(done.out.endswith("found nothing wrong.\n"))

    def test_the_demo_can_be_interrupted(self):
        with started("demo") as on:
            on.until("partial_thinking")
            on.interrupt()
            self.assertEqual(on.end(), 130)
            self.assertIn("aborted by user", on.seen)


def main(tests="__main__"):
    """Runs the tests of a module; the last line counts them."""
    global PROGRAM
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    result = unittest.main(module=tests, exit=False).result
    failed = len({str(test) for test, _ in result.failures + result.errors})
    print(f"{result.testsRun - failed} passed, {failed} failed", flush=True)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
