import { afterEach, describe, expect, it, vi } from "vitest";
import surfaces from "../../../shared/tokens.css?raw";
import { binLabel, binName, dayMarks, ticksOf, xLabels } from "./axis";
import { binsOf, nextOf, pointsOf, unitOf, type Span, type Unit } from "./bins";
import { striped, type Color } from "./colors";
import outcomes from "./outcome.css?raw";

const hour = 3_600_000;
const span = (from: Date, to: Date, unit: Unit): Span => ({ from, to, unit });
const at = (hour: string, n: number) => ({ hour, n });
afterEach(() => vi.unstubAllEnvs());
const zone = (name: string) => vi.stubEnv("TZ", name);

describe("bins", () => {
  it("are hours, days or weeks, by the length of the range", () => {
    const unit = (hours: number) => unitOf(new Date(0), new Date(hours * hour));
    expect([24, 49, 50, 63 * 24, 64 * 24].map(unit)).toEqual(["hour", "hour", "day", "day", "week"]);
  });

  it("follow the clock of the viewer through a change of time", () => {
    zone("Europe/Madrid"); // 25 hours on 25 October 2026, 23 on 29 March
    const day = (m: number, d: number, unit: Unit) =>
      binsOf(span(new Date(2026, m, d), new Date(2026, m, d + 1), unit));
    expect([day(9, 25, "hour").length, day(2, 29, "hour").length, day(9, 25, "day").length]).toEqual([25, 23, 1]);
    const week = binsOf(span(new Date(2026, 9, 24), new Date(2026, 9, 27), "day"));
    expect(week.map((d) => [d.getDate(), d.getHours()])).toEqual([
      [24, 0],
      [25, 0],
      [26, 0],
    ]);
    expect(week[2]!.getTime() - week[1]!.getTime()).toBe(25 * hour);
    const two = day(9, 25, "hour").map((d) => binLabel(d, "hour", "es"));
    expect(two.slice(1, 5)).toEqual(["01:00", "02:00", "02:00", "03:00"]); // the clock repeats an hour
  });

  it("add up hours by days of the viewer, with those in which there was nothing", () => {
    zone("America/Bogota"); // 5 hours behind
    const days = span(new Date(2026, 4, 9), new Date(2026, 4, 12), "day");
    const now = new Date(2026, 4, 11, 12);
    const hours = [
      at("2026-05-09T04:00:00Z", 100), // before the range
      at("2026-05-09T05:00:00Z", 1), // its first hour
      at("2026-05-10T04:00:00Z", 2), // the last hour of the 9th in Bogota
      at("2026-05-11T05:00:00Z", 4),
      at("2026-05-12T05:00:00Z", 100), // after it
    ];
    const points = pointsOf(hours, days, ["n"], now);
    expect(points.map((p) => p.n)).toEqual([3, 0, 4]);
    expect(points.map((p) => p.open)).toEqual([false, false, true]);
  });

  it("have the hour in which a range begins, where the clock is not whole hours from UTC", () => {
    zone("Asia/Kathmandu"); // 5 hours and 45 minutes ahead
    const day = span(new Date(2026, 4, 9), new Date(2026, 4, 10), "hour");
    const points = pointsOf([at("2026-05-08T18:00:00Z", 1), at("2026-05-08T19:00:00Z", 2)], day, ["n"]);
    expect([points.length, points[0]!.n, points[1]!.n]).toEqual([24, 3, 0]);
    expect(pointsOf([at("2026-05-08T17:00:00Z", 1)], day, ["n"]).some((p) => p.n > 0)).toBe(false);
  });

  it("end with the range: the last one may be a part of a week", () => {
    zone("UTC");
    const weeks = span(new Date(2026, 4, 6), new Date(2026, 4, 20), "week"); // from a Wednesday to a Tuesday
    const points = pointsOf([at("2026-05-10T23:00:00Z", 1), at("2026-05-11T00:00:00Z", 2)], weeks, ["n"]);
    expect(points.map((p) => [p.at.getDate(), p.until.getDate(), p.n])).toEqual([
      [6, 11, 1],
      [11, 18, 2],
      [18, 20, 0],
    ]);
    expect(nextOf(new Date(2026, 4, 11), "week")).toEqual(new Date(2026, 4, 18));
  });
});

describe("the axes", () => {
  it("have the hours of the language", () => {
    zone("UTC");
    const eight = new Date(2026, 10, 29, 8);
    expect(["en", "es", "pt"].map((l) => binLabel(eight, "hour", l))).toEqual(["8 AM", "08:00", "08:00"]);
    const day = { at: eight, until: new Date(eight.getTime() + hour) };
    expect(binName(day, "hour", "en")).toBe("Sun, Nov 29, 8 AM – 9 AM");
    expect(binName({ at: new Date(2026, 10, 23), until: new Date(2026, 10, 30) }, "week", "en")).toMatch(
      /^Nov 23\s–\s29$/,
    );
  });

  it("have no label that is cut off or touches another, at any width", () => {
    zone("UTC");
    const measure = (text: string) => text.length * 7;
    const from = new Date(2026, 10, 28, 15);
    for (const [unit, to] of [
      ["hour", new Date(2026, 10, 29, 15)],
      ["day", new Date(2026, 11, 28)],
      ["week", new Date(2028, 0, 1)],
    ] as const)
      for (const width of [180, 260, 320, 700, 1300]) {
        const bins = binsOf(span(unit === "hour" ? from : new Date(2026, 10, 28), to, unit));
        const labels = xLabels(bins, unit, "en", width, measure);
        expect(labels.length).toBeGreaterThan(1);
        labels.forEach((l, i) => {
          expect(l.x - l.width / 2).toBeGreaterThanOrEqual(0);
          expect(l.x + l.width / 2).toBeLessThanOrEqual(width);
          if (i > 0) expect(l.x - l.width / 2).toBeGreaterThan(labels[i - 1]!.x + labels[i - 1]!.width / 2);
        });
      }
    const marks = dayMarks(binsOf(span(from, new Date(2026, 10, 29, 15), "hour")), "en", 700, measure);
    expect(marks.map((m) => m.label?.text)).toEqual(["Nov 28", "Nov 29"]);
    expect(marks[1]!.x).toBeCloseTo((9 / 24) * 700);
  });

  it("have round values up to the highest", () => {
    expect([0, 3, 7, 25, 99, 1234].map((n) => ticksOf(n))).toEqual([
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4],
      [0, 2, 4, 6, 8],
      [0, 10, 20, 30],
      [0, 25, 50, 75, 100],
      [0, 500, 1000, 1500],
    ]);
    expect(ticksOf(7 * 60_000, true)).toEqual([0, 2, 4, 6, 8].map((m) => m * 60_000));
  });
});

type RGB = [number, number, number];
const linear = (hex: string): RGB =>
  [1, 3, 5]
    .map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as RGB;
const luminance = ([r, g, b]: RGB) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const contrast = (a: number, b: number) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
const mixed = (m: number[][], c: RGB) => m.map((row) => row[0]! * c[0] + row[1]! * c[1] + row[2]! * c[2]) as RGB;
/** lab is a color in OKLab, where equal distances look equal. */
function lab(c: RGB): RGB {
  const lms = mixed(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    c,
  ).map((x) => Math.cbrt(Math.max(0, x))) as RGB;
  return mixed(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    lms,
  );
}
// Machado, Oliveira and Fernandes (2009), at full severity.
const blindness = {
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
};

describe("the colors of outcomes", () => {
  const tokens = (text: string, theme: string) =>
    Object.fromEntries(
      [
        ...text
          .slice(text.indexOf(theme))
          .split("}")[0]!
          .matchAll(/--([\w-]+): (#[0-9a-f]{6});/g),
      ].map((m) => [m[1], m[2]!]),
    );
  // those that stand side by side in a bar
  const stacks: Color[][] = [
    ["best", "good", "middle", "open", "left", "bad"],
    ["best", "middle", "open", "machine", "missed", "busy", "left", "bad"],
  ];
  for (const theme of [":root {", '[data-theme="dark"] {']) {
    const colors = tokens(outcomes, theme);
    const surface = tokens(surfaces, theme).surface!;
    const of = (c: Color) => linear(colors["outcome-" + c]!);

    it(`stand out from the surface: ${theme}`, () => {
      for (const c of new Set(stacks.flat()))
        expect(contrast(luminance(of(c)), luminance(linear(surface))), c).toBeGreaterThanOrEqual(3);
    });

    it(`are told apart without red and green, by color or by stripes: ${theme}`, () => {
      for (const [name, matrix] of Object.entries(blindness))
        for (const stack of stacks)
          stack.slice(1).forEach((b, i) => {
            const a = stack[i]!;
            if (striped.includes(a) !== striped.includes(b)) return;
            const [x, y] = [lab(mixed(matrix, of(a))), lab(mixed(matrix, of(b)))];
            expect(Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]), `${a} and ${b} in ${name}`).toBeGreaterThan(0.1);
          });
    });
  }
});
