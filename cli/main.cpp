// SPDX-License-Identifier: BSL-1.0

// The thalweg program: reads the command line and hands over to one command.

#include "demo_command.hpp"
#include "exit_status.hpp"
#include "model_choice.hpp"
#include "resume_command.hpp"
#include "run_command.hpp"
#include "trace_command.hpp"
#include "trace_list.hpp"
#include "trace_stats.hpp"

#include <thalweg/protocol/nearest.hpp>

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* json_flag = "--json";

/// CLI11 writes a flag with a value that may be left out as `--json{-}`, which nobody would type.
class help_formatter : public CLI::Formatter {
public:
    std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
        if (!is_positional && option->check_name(json_flag)) return "--json[=FILE]";
        return CLI::Formatter::make_option_name(option, is_positional);
    }
};

std::string check_turns(const std::string& given) {
    int turns = -1;
    const char* end = given.data() + given.size();
    const auto read = std::from_chars(given.data(), end, turns);
    if (read.ec == std::errc() && read.ptr == end && turns >= 0) return {};
    return "'" + given + "' is no number of model requests; give 1 or more, or 0 for no limit";
}

std::vector<std::string_view> provider_names() {
    std::vector<std::string_view> names;
    for (const cli::model_choice& each : cli::model_choices())
        names.push_back(each.name);
    return names;
}

std::string listed(const std::vector<std::string_view>& words) {
    std::string made;
    for (const std::string_view each : words)
        made.append(made.empty() ? "" : ", ").append(each);
    return made;
}

std::string provider_fault(const std::string& given) {
    if (cli::find_choice(given) != nullptr) return {};
    const auto names = provider_names();
    return "'" + given + "' is no provider of this program: " + listed(names) +
           thalweg::did_you_mean(given, names);
}

/// What every help text ends with.
std::string footer() {
    std::string
        made = "Exit status: 0 ok, 1 failure, 2 wrong usage, 3 credentials refused, 130 interrupted.\n"
               "Environment: NO_COLOR turns colors off; of the providers read";
    for (const cli::model_choice& each : cli::model_choices()) {
        if (each.address.empty()) continue;
        made.append("\n  ").append(each.name).append(": ");
        if (!each.key.empty()) made.append(each.key).append(", ");
        made += each.address;
    }
    return made;
}

void add_conversation_options(CLI::App& command, cli::run_arguments& given) {
    command
        .add_option("--provider", given.provider,
                    listed(provider_names()) + " (default: by the key or URL that is there, else scripted)")
        ->check(CLI::Validator(provider_fault, ""));
    command.add_option("--base-url", given.base_url,
                       "API root of a server, e.g. http://127.0.0.1:8080/v1; alone it means openai-chat");
    command.add_option("--tools", given.tools, "demo or none")
        ->check(CLI::IsMember({"demo", "none"}))
        ->capture_default_str();
    command
        .add_option("--approve", given.approve,
                    "Who approves tool calls: all, ask or none (default: ask on a terminal)")
        ->check(CLI::IsMember({"all", "ask", "none"}));
    command
        .add_option("--max-turns", given.max_turns,
                    "Stop after so many model requests (default: 0, no limit)")
        ->check(CLI::Validator(check_turns, ""));
    command.add_flag("--json{-}", given.json,
                     "Write the stream as JSON lines: --json to standard output, --json=FILE to a file");
}

void add_run(CLI::App& app, cli::run_arguments& given) {
    CLI::App* run = app.add_subcommand("run", "Run an agent on one prompt and show its stream");
    add_conversation_options(*run, given);
    run->add_option("--model", given.model, "Name of the model (default: gpt-5-mini, claude-sonnet-4-5)");
    run->add_option("--system", given.system, "System prompt");
    run->add_option("--trace", given.trace, "Record the session below this folder");
    run->add_option("prompt", given.prompt, "What to say, one argument; - reads standard input")->required();
}

void add_resume(CLI::App& app, cli::resume_arguments& given) {
    CLI::App* resume = app.add_subcommand("resume",
                                          "Go on with a recorded session, or show it without a prompt");
    resume->footer(
        "The system prompt is the session's; provider and model are, too, unless others are named.");
    add_conversation_options(*resume, given.run);
    resume->add_option("--model", given.model, "Name of the model (default: that of the session)");
    resume->add_option("--traces,--trace", given.traces, "The folder of traces")->required();
    resume->add_option("session", given.session, "Id of the session, or latest")->required();
    resume->add_option("prompt", given.prompt, "What to say; - reads standard input");
}

void add_target(CLI::App& command, cli::trace_target& target) {
    command.add_option("target", target.path, "A trace file, a folder of traces, or - for standard input")
        ->required();
    command.add_option("session", target.session, "One session of the folder: its id, or latest");
}

void add_trace(CLI::App& app, cli::trace_target& target, bool& as_json) {
    CLI::App* trace = app.add_subcommand("trace", "Look at recorded sessions or at saved JSON lines");
    trace->require_subcommand(0, 1);
    trace->add_subcommand("list", "List the sessions of a folder, the latest first")
        ->add_option("folder", target.path, "The folder of traces")
        ->required();
    add_target(*trace->add_subcommand("show", "Show the records, a line each"), target);
    add_target(*trace->add_subcommand("check", "Say what is wrong with them"), target);
    CLI::App* stats = trace->add_subcommand("stats", "Count records, tokens, requests and tool calls");
    add_target(*stats, target);
    stats->add_flag("--json", as_json, "Write one JSON object");
}

/// Ends with status 2 unless there is one; a misspelled one is named, and so are those there are.
bool lacks_command(const CLI::App& app, const std::string& path) {
    if (!app.get_subcommands().empty()) return false;
    std::string known;
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
        known += (known.empty() ? "" : ", ") + each->get_name();
    const std::vector<std::string> words = app.remaining();
    const std::string wrong = words.empty() ? "a command is missing"
                                            : "unknown command '" + words.front() + "'";
    std::fprintf(stderr, "%s: %s; there is: %s\n%s --help says more.\n", path.c_str(), wrong.c_str(),
                 known.c_str(), path.c_str());
    return true;
}

/// Words too many, in the order in which they stand.
void complain_of_extras(const CLI::App& app, const cli::run_arguments& run) {
    std::string words;
    for (const std::string& each : app.remaining(true))
        words += (words.empty() ? "" : " ") + each;
    const bool is_option = words.starts_with('-');
    std::fprintf(stderr, "not expected: %s\n", words.c_str());
    if (app.got_subcommand("run") && !is_option) {
        std::fputs(run.json == "-" ? "--json takes its file behind an equals sign: write --json=FILE\n"
                                   : "The prompt is one argument: put it in quotes\n",
                   stderr);
    }
    std::fputs("thalweg --help says more.\n", stderr);
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Thalweg: agents as one totally ordered stream", "thalweg");
    app.formatter(std::make_shared<help_formatter>());
    // Missing and misspelled ones are told below, by name.
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", THALWEG_VERSION);
    app.footer(footer());
    cli::run_arguments run;
    cli::resume_arguments resume;
    cli::trace_target target;
    bool as_json = false;
    add_run(app, run);
    add_resume(app, resume);
    add_trace(app, target, as_json);
    CLI::App* demo = app.add_subcommand("demo", "Show in a few seconds what the one stream guarantees");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ExtrasError&) {
        const CLI::App* trace = app.get_subcommand("trace");
        const bool is_option = !app.remaining(true).empty() && app.remaining(true).front().starts_with('-');
        if (!is_option && lacks_command(app, "thalweg")) return cli::usage;
        if (!is_option && trace->parsed() && lacks_command(*trace, "thalweg trace")) return cli::usage;
        complain_of_extras(app, run);
        return cli::usage;
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? cli::ok : cli::usage;
    }
    if (lacks_command(app, "thalweg")) return cli::usage;
    if (demo->parsed()) return cli::demo();
    if (app.got_subcommand("run")) return cli::run(run);
    if (app.got_subcommand("resume")) return cli::resume(resume);
    const CLI::App& trace = *app.get_subcommand("trace");
    if (lacks_command(trace, "thalweg trace")) return cli::usage;
    if (trace.got_subcommand("list")) return cli::trace_list(target.path);
    if (trace.got_subcommand("stats")) return cli::trace_stats(target, as_json);
    return trace.got_subcommand("show") ? cli::trace_show(target) : cli::trace_check(target);
}
