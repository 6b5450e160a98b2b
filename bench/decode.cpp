// SPDX-License-Identifier: BSL-1.0

// bench-decode: from the bytes of a chat answer to messages, beside simdjson merely reading the same fields
// of the same bytes. Files on the command line are recordings to be read beside the made-up answer.

#include "decoders.hpp"

#include <list>

int main(int argc, char** argv) {
    using namespace thalweg::bench;
    const options chosen = parse_options(
        argc, argv,
        "bench-decode [FILE...]: bytes of a chat answer to messages; an item is one event of the answer");
    constexpr std::size_t body_size = std::size_t{8} << 20;
    std::list<chat_stream> inputs;
    inputs.push_back(synthetic_chat_stream(body_size));
    for (const std::string& path : chosen.arguments)
        inputs.push_back(recorded_chat_stream(path, body_size));

    std::vector<group> groups;
    for (const chat_stream& input : inputs) {
        group one{.table = input.name, .mode = "decode", .contenders = {}};
        one.bytes_per_item = static_cast<double>(input.bytes.size()) / static_cast<double>(input.events);
        one.contenders = {simdjson_reads(input), thalweg_messages(input), thalweg_deltas(input),
                          thalweg_events(input)};
        groups.push_back(std::move(one));
    }
    if (chosen.list) {
        list_groups(groups);
        return 0;
    }
    if (!chosen.once.empty()) return run_once(groups, chosen);

    report done;
    done.bench = "decode";
    done.item = "event";
    done.where = look_at_machine();
    done.where.libraries.emplace_back("simdjson", simdjson_version());
    run_groups(groups, chosen, done);
    print_table(done);
    return write_files(done, chosen) ? 0 : 1;
}
