// SPDX-License-Identifier: BSL-1.0

#include "harness.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>

namespace thalweg::bench {
namespace {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out += '"';
}

// What was not measured is null.
std::string number(double value) {
    if (!std::isfinite(value)) return "null";
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", value);
    return digits;
}

std::string three(std::string_view name, const spread& values) {
    const std::string key(name);
    return quoted(key + "_median") + ":" + number(values.median) + "," + quoted(key + "_min") + ":" +
           number(values.min) + "," + quoted(key + "_max") + ":" + number(values.max);
}

template <class List, class Write>
void array(std::ostream& out, const char* name, const List& list, Write write) {
    out << ",\n\"" << name << "\":[";
    const char* between = "\n";
    for (const auto& entry : list) {
        out << between;
        write(entry);
        between = ",\n";
    }
    out << "]";
}

void write_machine(std::ostream& out, const machine& where) {
    out << "{\"cpu\":" << quoted(where.cpu) << ",\"cores\":" << where.cores
        << ",\"kernel\":" << quoted(where.kernel) << ",\"compiler\":" << quoted(where.compiler)
        << ",\"flags\":" << quoted(where.flags) << ",\"libraries\":{";
    const char* between = "";
    for (const auto& [name, version] : where.libraries) {
        out << between << quoted(name) << ":" << quoted(version);
        between = ",";
    }
    out << "},\"load\":" << number(where.load) << ",\"ping_pong_ns\":" << number(where.ping_pong)
        << ",\"times_reliable\":" << (where.times_are_reliable() ? "true" : "false") << "}";
}

template <class Row>
std::string place(const Row& row) {
    return "\"table\":" + quoted(row.table) + ",\"mode\":" + quoted(row.mode) +
           ",\"producers\":" + std::to_string(row.producers);
}

void write_json(std::ostream& out, const report& done) {
    out << "{\"bench\":" << quoted(done.bench) << ",\"item\":" << quoted(done.item)
        << ",\"rounds\":" << done.rounds << ",\n\"machine\":";
    write_machine(out, done.where);
    array(out, "results", done.results, [&](const result& row) {
        out << "{" << place(row) << ",\"contender\":" << quoted(row.contender) << ","
            << three("ns", row.nanoseconds) << "," << three("ratio", row.ratio) << ",\"allocations_per_"
            << done.item << "\":" << number(row.allocations) << ",\"wakeups_per_" << done.item
            << "\":" << number(row.wakeups) << ",\"mb_per_s\":" << number(row.megabytes_per_second) << "}";
    });
    array(out, "advantages", done.advantages, [&](const advantage& row) {
        out << "{" << place(row) << ",\"contender\":" << quoted(row.ours) << ",\"over\":" << quoted(row.over)
            << "," << three("times", row.times) << "}";
    });
    array(out, "instructions", std::vector<int>(), [](int) {}); // filled in by instructions.py
    array(out, "idle_bytes_per_producer", done.idle, [&](const idle_memory& row) {
        out << "{\"contender\":" << quoted(row.contender) << ",\"producers\":" << row.producers
            << ",\"bytes\":" << number(row.bytes) << "}";
    });
    out << "}\n";
}

void write_csv(std::ostream& out, const report& done) {
    out << "table,mode,producers,contender,ns_median,ns_min,ns_max,ratio_median,ratio_min,ratio_max,"
           "allocations,wakeups,mb_per_s\n";
    for (const result& row : done.results) {
        out << row.table << ',' << row.mode << ',' << row.producers << ',' << quoted(row.contender);
        for (const double value :
             {row.nanoseconds.median, row.nanoseconds.min, row.nanoseconds.max, row.ratio.median,
              row.ratio.min, row.ratio.max, row.allocations, row.wakeups, row.megabytes_per_second}) {
            out << ',';
            if (std::isfinite(value)) out << number(value);
        }
        out << '\n';
    }
}

std::string cell(double value, const char* format) {
    if (!std::isfinite(value)) return "-";
    char digits[32];
    std::snprintf(digits, sizeof digits, format, value);
    return digits;
}

std::string range(const spread& values, const char* format) {
    return cell(values.median, format) + " (" + cell(values.min, format) + ".." + cell(values.max, format) +
           ")";
}

template <class Write>
bool write_file(const std::string& path, Write write) {
    if (path.empty()) return true;
    if (path == "-") {
        write(std::cout);
        return true;
    }
    std::ofstream file(path);
    write(file);
    file.flush();
    if (!file) std::fprintf(stderr, "bench: cannot write %s\n", path.c_str());
    return static_cast<bool>(file);
}

} // namespace

void print_table(const report& done) {
    const machine& where = done.where;
    std::printf("%s, %u cores, %s\n%s %s, load %.2f, core to core %.0f ns\n", where.cpu.c_str(), where.cores,
                where.kernel.c_str(), where.compiler.c_str(), where.flags.c_str(), where.load,
                where.ping_pong);
    for (const auto& [name, version] : where.libraries)
        std::printf("%s %s  ", name.c_str(), version.c_str());
    std::printf("\n");
    if (!where.times_are_reliable())
        std::printf(
            "TIMES OF THIS RUN ARE NOT RELIABLE: a cache line takes more than %.0f ns between cores\n",
            machine::slow_ping_pong);

    const result* previous = nullptr;
    for (const result& row : done.results) {
        if (previous == nullptr || previous->table != row.table || previous->mode != row.mode ||
            previous->producers != row.producers) {
            std::printf("\n%s, %s", row.table.c_str(), row.mode.c_str());
            if (row.producers != 0) std::printf(", %u producers", row.producers);
            std::printf("\n  %-44s %26s %26s %12s %10s %8s\n", "", ("ns per " + done.item).c_str(),
                        "times the first", "allocations", "wake-ups", "MB/s");
        }
        std::printf("  %-44s %26s %26s %12s %10s %8s\n", row.contender.c_str(),
                    range(row.nanoseconds, "%.1f").c_str(), range(row.ratio, "%.2f").c_str(),
                    cell(row.allocations, "%.4f").c_str(), cell(row.wakeups, "%.4f").c_str(),
                    cell(row.megabytes_per_second, "%.0f").c_str());
        previous = &row;
    }
    if (!done.idle.empty()) std::printf("\nidle producers, heap bytes each\n");
    for (const idle_memory& row : done.idle)
        std::printf("  %-44s %10.0f\n", row.contender.c_str(), row.bytes);
    std::printf("\nMedians of %u rounds (smallest..largest); ratios are taken within each round.\n",
                done.rounds);
}

bool write_files(const report& done, const options& chosen) {
    const bool json = write_file(chosen.json, [&](std::ostream& out) { write_json(out, done); });
    const bool csv = write_file(chosen.csv, [&](std::ostream& out) { write_csv(out, done); });
    return json && csv;
}

} // namespace thalweg::bench
