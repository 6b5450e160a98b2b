// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/timestamp.hpp>

#include <chrono>

namespace thalweg {

namespace {

using namespace std::chrono;

char* write_two(char* out, unsigned value) noexcept {
    out[0] = static_cast<char>('0' + value / 10);
    out[1] = static_cast<char>('0' + value % 10);
    return out + 2;
}

char* write_two(char* out, unsigned value, char behind) noexcept {
    out = write_two(out, value);
    *out = behind;
    return out + 1;
}

// Reads `count` digits and the character behind them; -1 if they are not there.
int read_digits(const char*& at, int count, char behind) noexcept {
    int value = 0;
    for (int i = 0; i < count; ++i, ++at) {
        if (*at < '0' || *at > '9') return -1;
        value = value * 10 + (*at - '0');
    }
    return *at++ == behind ? value : -1;
}

} // namespace

void format_timestamp(char* out, std::int64_t ms_since_epoch) noexcept {
    const auto midnight = floor<days>(sys_time<milliseconds>(milliseconds(ms_since_epoch)));
    const year_month_day date(midnight);
    const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
    const auto of_day = static_cast<unsigned>(ms_since_epoch -
                                              milliseconds(midnight.time_since_epoch()).count());
    const unsigned seconds = of_day / 1000;
    out = write_two(out, year / 100);
    out = write_two(out, year % 100, '-');
    out = write_two(out, static_cast<unsigned>(date.month()), '-');
    out = write_two(out, static_cast<unsigned>(date.day()), 'T');
    out = write_two(out, seconds / 3600, ':');
    out = write_two(out, seconds / 60 % 60, ':');
    out = write_two(out, seconds % 60, '.');
    *out = static_cast<char>('0' + of_day % 1000 / 100);
    write_two(out + 1, of_day % 100, 'Z');
}

std::optional<std::int64_t> parse_timestamp(std::string_view written) noexcept {
    if (written.size() != timestamp_length) return std::nullopt;
    const char* at = written.data();
    const int y = read_digits(at, 4, '-');
    const int mo = y < 0 ? -1 : read_digits(at, 2, '-');
    const int d = mo < 0 ? -1 : read_digits(at, 2, 'T');
    const int h = d < 0 ? -1 : read_digits(at, 2, ':');
    const int mi = h < 0 ? -1 : read_digits(at, 2, ':');
    const int s = mi < 0 ? -1 : read_digits(at, 2, '.');
    const int ms = s < 0 ? -1 : read_digits(at, 3, 'Z');
    if (ms < 0 || h > 23 || mi > 59 || s > 59) return std::nullopt;
    const year_month_day date{year(y), month(static_cast<unsigned>(mo)), day(static_cast<unsigned>(d))};
    if (!date.ok()) return std::nullopt;
    const auto instant = sys_days(date) + hours(h) + minutes(mi) + seconds(s) + milliseconds(ms);
    return instant.time_since_epoch().count();
}

} // namespace thalweg
