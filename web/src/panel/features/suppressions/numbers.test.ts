import { expect, it } from "vitest";
import { pasted } from "./numbers";

it("reads numbers as people paste them, and says which lines are none", () => {
  expect(pasted('+34 600 111 222\r\n34600111222, 0034-600-333-444;"(34) 600.555.666"\n\nnobody\n12')).toEqual({
    numbers: ["34600111222", "34600333444", "34600555666"],
    repeated: 1,
    bad: [
      { line: 4, text: "nobody" },
      { line: 5, text: "12" },
    ],
  });
});
