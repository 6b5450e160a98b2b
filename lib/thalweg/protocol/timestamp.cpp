// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/timestamp.hpp>

#include <chrono>

namespace thalweg {

namespace {

using namespace std::chrono;

char* write_digits(char* out, unsigned value, int count, char behind) noexcept {
    for (int i = count - 1; i >= 0; --i) {
        out[i] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    out[count] = behind;
    return out + count + 1;
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
    const sys_time<milliseconds> instant{milliseconds(ms_since_epoch)};
    const auto day = floor<days>(instant);
    const year_month_day date(day);
    const hh_mm_ss time(instant - day);
    out = write_digits(out, static_cast<unsigned>(static_cast<int>(date.year())), 4, '-');
    out = write_digits(out, static_cast<unsigned>(date.month()), 2, '-');
    out = write_digits(out, static_cast<unsigned>(date.day()), 2, 'T');
    out = write_digits(out, static_cast<unsigned>(time.hours().count()), 2, ':');
    out = write_digits(out, static_cast<unsigned>(time.minutes().count()), 2, ':');
    out = write_digits(out, static_cast<unsigned>(time.seconds().count()), 2, '.');
    write_digits(out, static_cast<unsigned>(time.subseconds().count()), 3, 'Z');
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
