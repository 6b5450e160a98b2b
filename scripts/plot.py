#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Draw what a benchmark wrote with --json: FILE.json becomes FILE.svg beside it.

One panel per table and mode. Time per item over the number of producers, both logarithmic; a line joins the medians,
a bar spans minimum to maximum. A panel with a single number of producers shows bars instead of lines.
"""

import json
import math
import os
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 560, 380  # of one panel
LEFT, RIGHT, TOP, BOTTOM = 64, 176, 40, 48
HEADER = 44
COLORS = ("#0b6e99", "#d9480f", "#2b8a3e", "#862e9c", "#c92a2a", "#5c940d", "#495057", "#e67700", "#364fc7", "#a61e4d")


def text(x, y, content, size=12, anchor="start", color="#212529"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}">{escape(content)}</text>'


def line(x1, y1, x2, y2, color, width=1.0):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"/>'


class Scale:
    """Logarithmic, from values to pixels, with ticks at 1, 2 and 5 of each power of ten."""

    def __init__(self, values, start, end):
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = max(0.04 * (high - low), 0.02)
        self.low, self.high, self.start, self.end = low - margin, high + margin, start, end

    def __call__(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        span = self.high - self.low
        steps = (1, 2, 5) if span < 2.5 else (1,)
        values = [step * 10.0 ** power for power in range(math.floor(self.low), math.ceil(self.high) + 1) for step in steps]
        return [value for value in values if self.low <= math.log10(value) <= self.high]


def spread(row):
    """(min, median, max); a missing end is the median."""
    median = row["ns_median"]
    return row.get("ns_min") or median, median, row.get("ns_max") or median


def axis_label(value):
    return f"{value:g}"


def draw_lines(rows, colors, left, top):
    xs = Scale([row["producers"] for row in rows], left + LEFT, left + WIDTH - RIGHT)
    ys = Scale([value for row in rows for value in spread(row)], top + HEIGHT - BOTTOM, top + TOP)
    out = []
    for tick in ys.ticks():
        out += [line(xs.start, ys(tick), xs.end, ys(tick), "#e9ecef"), text(xs.start - 6, ys(tick) + 4, axis_label(tick), 11, "end")]
    for tick in sorted({row["producers"] for row in rows}):
        out += [line(xs(tick), ys.start, xs(tick), ys.end, "#f1f3f5"), text(xs(tick), ys.start + 16, axis_label(tick), 11, "middle")]
    out.append(text((xs.start + xs.end) / 2, ys.start + 36, "producers", 12, "middle"))
    ends = []
    for contender in dict.fromkeys(row["contender"] for row in rows):
        mine = sorted((row for row in rows if row["contender"] == contender), key=lambda row: row["producers"])
        color = colors[contender]
        points = " ".join(f"{xs(row['producers']):.1f},{ys(row['ns_median']):.1f}" for row in mine)
        out.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        for row in mine:
            low, median, high = spread(row)
            x = xs(row["producers"])
            out.append(line(x, ys(low), x, ys(high), color))
            out.append(f'<circle cx="{x:.1f}" cy="{ys(median):.1f}" r="3" fill="{color}"><title>{escape(contender)}: '
                       f'{median:.3g} ns ({low:.3g} to {high:.3g})</title></circle>')
        ends.append((ys(mine[-1]["ns_median"]), contender))
    # Names stand at the end of their lines, pushed apart where the lines end close together.
    position = -math.inf
    for y, contender in sorted(ends):
        position = max(y, position + 13)
        out.append(text(xs.end + 10, position + 4, contender, 11, color=colors[contender]))
    return out


def draw_bars(rows, colors, left, top):
    rows = sorted(rows, key=lambda row: row["ns_median"])
    room = WIDTH - LEFT - 40
    longest = max(spread(row)[2] for row in rows)
    height = min(34, (HEIGHT - TOP - BOTTOM) / len(rows))
    out = []
    for number, row in enumerate(rows):
        low, median, high = spread(row)
        y = top + TOP + number * height
        color = colors[row["contender"]]
        out.append(f'<rect x="{left + 20}" y="{y + height * 0.45:.1f}" width="{room * median / longest:.1f}" '
                   f'height="{height * 0.4:.1f}" fill="{color}"/>')
        middle = y + height * 0.65
        out.append(line(left + 20 + room * low / longest, middle, left + 20 + room * high / longest, middle, "#212529"))
        out.append(text(left + 20, y + height * 0.38, f"{row['contender']}: {median:.3g} ns ({low:.3g} to {high:.3g})", 11))
    return out


def draw(report, title):
    rows = [row for row in report["results"] if row.get("ns_median")]
    if not rows:
        raise ValueError("no results with times in it")
    panels = {}
    for row in rows:
        panels.setdefault((row.get("table", ""), row.get("mode", "")), []).append(row)
    names = list(dict.fromkeys(row["contender"] for row in rows))
    colors = {name: COLORS[number % len(COLORS)] for number, name in enumerate(names)}
    columns = min(2, len(panels))
    lines = -(-len(panels) // columns)
    width, height = columns * WIDTH, HEADER + lines * HEIGHT
    machine = report.get("machine", {})
    about = ", ".join(str(machine[key]) for key in ("cpu", "compiler", "flags") if machine.get(key))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif">', f'<rect width="{width}" height="{height}" fill="white"/>',
           text(16, 20, title, 15), text(16, 37, about, 11, color="#868e96")]
    for number, ((table, mode), mine) in enumerate(panels.items()):
        left, top = number % columns * WIDTH, HEADER + number // columns * HEIGHT
        label = ", ".join(part for part in (table, mode) if part)
        out.append(text(left + 16, top + 24, f"{label}: ns per {report.get('item', 'message')}", 13))
        single = len({row.get("producers") for row in mine}) == 1
        out += (draw_bars if single else draw_lines)(mine, colors, left, top)
    return "\n".join(out + ["</svg>", ""])


def main():
    if len(sys.argv) < 2:
        print("usage: plot.py FILE.json…", file=sys.stderr)
        return 2
    failed = False
    for path in sys.argv[1:]:
        target = os.path.splitext(path)[0] + ".svg"
        try:
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
            picture = draw(report, f"{report.get('bench', 'benchmark')} ({os.path.basename(path)})")
            with open(target, "w", encoding="utf-8") as file:
                file.write(picture)
            print(target)
        except (OSError, ValueError, KeyError, TypeError) as problem:
            print(f"plot: {path}: {type(problem).__name__}: {problem}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
