import { expect, test } from "vitest";
import { reader } from "./stream";

test("events are read however the stream is cut", () => {
  const text = ': open\n\nevent: step\ndata: {"code":180}\n\n:\n\nevent: end\ndata: {"problem":""}\n\nevent: half';
  for (let size = 1; size < text.length; size++) {
    const read = reader();
    const all = [];
    for (let at = 0; at < text.length; at += size) all.push(...read(text.slice(at, at + size)));
    expect(all).toEqual([
      { name: "step", data: { code: 180 } },
      { name: "end", data: { problem: "" } },
    ]);
  }
});
