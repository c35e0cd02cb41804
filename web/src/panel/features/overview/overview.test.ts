import { percent } from "../../format";
import { describe, expect, it } from "vitest";
import { addressOf, dateOf, listOf, queryOf, spanOf } from "./address";
import { duration } from "./format";

describe("the address of the overview", () => {
  it("keeps what is known and nothing else", () => {
    expect(
      addressOf({
        range: "7d",
        campaign: " spring ",
        type: "other",
        channel: "voice",
        from: "2030-01-01",
        sender: 7,
        x: 1,
      }),
    ).toEqual({ range: "7d", campaign: " spring ", channel: "voice", sender: "7" });
    expect(addressOf({ range: "own", from: "2030-01-01", to: "31.1." })).toEqual({ range: "own", from: "2030-01-01" });
    expect(addressOf({ range: "24h", from: "2030-01-01" })).toEqual({});
  });
  it("is a range of whole hours, or of whole days of the viewer up to now", () => {
    const now = new Date(2030, 4, 15, 12, 34);
    const day = spanOf({}, now);
    expect([day.to.getTime() - day.from.getTime(), day.unit, day.to > now]).toEqual([86_400_000, "hour", true]);
    const week = spanOf({ range: "7d" }, now);
    expect([dateOf(week.from), dateOf(week.to), week.unit]).toEqual(["2030-05-09", "2030-05-16", "day"]);
    expect(dateOf(spanOf({ range: "own", from: "2031-01-01", to: "2032-01-01" }, now).from)).toBe("2030-05-15");
    expect(dateOf(spanOf({ range: "own", from: "2020-01-01", to: "2030-05-10" }, now).from)).toBe("2029-04-06");
    expect(spanOf({ range: "own", from: "2030-05-10", to: "2030-05-11" }, now).unit).toBe("hour");
    expect(queryOf({ range: "7d", type: "utility" }, week)).toMatchObject({
      type: "utility",
      from: week.from.toISOString().replace(".000", ""),
    });
    expect(listOf({ campaign: "a" }, week, { sender: "s" })).toMatchObject({
      from: "2030-05-09",
      to: "2030-05-15",
      campaign: "a",
      sender: "s",
    });
  });
});

describe("figures", () => {
  it("say neither all nor none where it is not so", () => {
    expect([
      percent(0, 0, "en"),
      percent(0, 5, "en"),
      percent(5, 5, "en"),
      percent(99999, 100000, "en"),
      percent(1, 100000, "en"),
      percent(85, 100, "en"),
    ]).toEqual(["–", "0%", "100%", "99.9%", "0.1%", "85%"]);
  });
  it("say times with few digits", () => {
    expect([
      duration(40, "en"),
      duration(1500, "en"),
      duration(45_000, "en"),
      duration(600_000, "en"),
      duration(9_000_000, "en"),
    ]).toEqual(["40 ms", "1.5 sec", "45 sec", "10 min", "2.5 hr"]);
  });
});
