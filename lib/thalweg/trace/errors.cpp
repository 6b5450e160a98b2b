// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/errors.hpp>

#include <string>

namespace thalweg::trace {

namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "thalweg.trace"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
        case errc::locked: return "another writer has the session";
        case errc::short_write: return "a record was written in part";
        case errc::changed: return "the file was changed by somebody else";
        case errc::bad_name: return "not usable in a file name";
        case errc::not_found: return "no such session";
        case errc::malformed: return "not a record";
        case errc::torn_tail: return "the last record is cut short";
        case errc::too_long: return "the line is too long";
        case errc::unreadable: return "the trace cannot be read back";
        case errc::foreign: return "not a trace of this session";
        case errc::newer: return "a trace of a newer version";
        case errc::not_a_fork_point: return "the session cannot be forked there";
        case errc::exists: return "the session exists already";
        }
        return "unknown trace error";
    }
};

} // namespace

std::error_code make_error_code(errc e) noexcept {
    static const category instance;
    return {static_cast<int>(e), instance};
}

} // namespace thalweg::trace
