// SPDX-License-Identifier: BSL-1.0

// The thalweg program: reads the command line and hands over to one command.

#include "demo_command.hpp"
#include "exit_status.hpp"
#include "run_command.hpp"
#include "trace_command.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace {

void add_run(CLI::App& app, cli::run_arguments& given) {
    CLI::App* run = app.add_subcommand("run", "Run an agent on one prompt and show its stream");
    run->add_option(
           "--provider", given.provider,
           "scripted or openai-chat (default: openai-chat if there is a key or a URL, else scripted)")
        ->check(CLI::IsMember({"scripted", "openai-chat"}));
    run->add_option("--base-url", given.base_url,
                    "API root of an OpenAI-compatible server, e.g. http://127.0.0.1:8080/v1");
    run->add_option("--model", given.model, "Name of the model")->capture_default_str();
    run->add_option("--system", given.system, "System prompt");
    run->add_option("--tools", given.tools, "demo or none")
        ->check(CLI::IsMember({"demo", "none"}))
        ->capture_default_str();
    run->add_option("--approve", given.approve,
                    "Who approves tool calls: all, ask or none (default: ask on a terminal)")
        ->check(CLI::IsMember({"all", "ask", "none"}));
    run->add_option("--max-turns", given.max_turns, "Stop after so many model requests; 0 = no limit")
        ->check(CLI::NonNegativeNumber);
    run->add_option("--trace", given.trace, "Record the session below this folder");
    run->add_flag("--json{-}", given.json,
                  "Write the stream as JSON lines: --json to standard output, --json=FILE");
    run->add_option("prompt", given.prompt, "What to say; - reads standard input")->required();
}

void add_trace(CLI::App& app, std::string& file) {
    CLI::App* trace = app.add_subcommand("trace", "Look at a recorded session or at saved JSON lines");
    trace->require_subcommand(0, 1);
    trace->add_subcommand("show", "Show the records, a line each")
        ->add_option("file", file, "A trace file; - reads standard input")
        ->required();
    trace->add_subcommand("check", "Say what is wrong with them")
        ->add_option("file", file, "A trace file; - reads standard input")
        ->required();
}

void require_command(const CLI::App& app) {
    if (app.get_subcommands().empty()) throw CLI::RequiredError::Subcommand(1);
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Thalweg: agents as one totally ordered stream", "thalweg");
    // A missing one is told below: CLI11 would not tell it from a misspelled one.
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", THALWEG_VERSION);
    app.footer("Exit status: 0 ok, 1 failure, 2 wrong usage, 3 credentials refused, 130 interrupted.\n"
               "OPENAI_API_KEY and OPENAI_BASE_URL serve openai-chat; NO_COLOR turns colors off.");
    cli::run_arguments run;
    std::string file;
    add_run(app, run);
    add_trace(app, file);
    CLI::App* demo = app.add_subcommand("demo", "Show in a few seconds what the one stream guarantees");

    try {
        app.parse(argc, argv);
        require_command(app);
        if (app.got_subcommand("trace")) require_command(*app.get_subcommand("trace"));
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? cli::ok : cli::usage;
    }
    if (demo->parsed()) return cli::demo();
    if (app.got_subcommand("run")) return cli::run(run);
    return app.get_subcommand("trace")->got_subcommand("show") ? cli::trace_show(file)
                                                               : cli::trace_check(file);
}
