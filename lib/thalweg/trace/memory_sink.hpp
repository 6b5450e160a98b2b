// SPDX-License-Identifier: BSL-1.0

#pragma once

// A trace that stays in memory, one list of records for each file: for tests, and for programs that want a
// run's records without a disk. It keeps what a file would have got, in the same order, and rotates in the
// same way.
//
// Thread rule: loop thread.

#include <thalweg/trace/sink.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace thalweg::trace {

class memory_sink final : public sink {
public:
    /// `head`: as file_sink_options::head.
    explicit memory_sink(std::vector<message> head = {});
    ~memory_sink() override;

    /// Keeps the recordable messages before it returns; never suspends.
    [[nodiscard]] task<result<void>> write(std::span<const message> messages) override;
    void rotate() override;
    [[nodiscard]] result<std::vector<message>> read_back() const override;
    [[nodiscard]] std::string_view path() const noexcept override { return "memory"; }

    /// The records of each file; a file appears with its first record. Valid until the next write.
    [[nodiscard]] const std::vector<std::vector<message>>& files() const noexcept;
    /// How often write() was called with something to record.
    [[nodiscard]] std::size_t write_count() const noexcept;

    /// The next `count` writes that have something to record fail with `why` and keep nothing.
    void fail_writes(std::size_t count, error why);

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace thalweg::trace
