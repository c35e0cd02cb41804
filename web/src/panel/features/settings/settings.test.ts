import { expect, test } from "vitest";
import { clockOf, days, spans } from "./week";

const hours = (from: string, to: string, days: string[]) => spans({ timezone: "UTC", from, to, days });

test("the week has the hours of each day, those over midnight in both", () => {
  expect(spans({ timezone: "UTC", from: "00:00", to: "24:00", days: [...days] })).toEqual(
    days.map(() => [{ from: 0, to: 1440 }]),
  );
  expect(hours("09:00", "21:30", ["mon"])).toEqual([[{ from: 540, to: 1290 }], [], [], [], [], [], []]);
  expect(hours("22:00", "02:00", ["sun"])).toEqual([
    [{ from: 0, to: 120 }],
    [],
    [],
    [],
    [],
    [],
    [{ from: 1320, to: 1440 }],
  ]);
  expect(hours("00:00", "24:00", ["tue"])[1]).toEqual([{ from: 0, to: 1440 }]);
  expect(hours("10:00", "10:00", ["mon", "tue"])).toEqual([
    [{ from: 600, to: 1440 }],
    [{ from: 0, to: 1440 }],
    [{ from: 0, to: 600 }],
    [],
    [],
    [],
    [],
  ]);
  expect([clockOf(0), clockOf(545), clockOf(1440)]).toEqual(["00:00", "09:05", "24:00"]);
});
