import { expect, test } from "vitest";
import { sectionOf, sectionsOf, tabOf } from "./sections";
import type { Agent } from "./types";

test("an address holds the tab, unless it is the first or none", () => {
  expect(tabOf({ tab: "calls" })).toEqual({ tab: "calls" });
  expect(tabOf({ tab: "tests" })).toEqual({ tab: "tests" });
  for (const tab of ["settings", "nothing", 3, undefined]) expect(tabOf({ tab })).toEqual({});
});

test("a field with an error is on a tab that the agent has", () => {
  expect(sectionOf("voice.speaker_service.base_url")).toBe("voice");
  expect(sectionOf("result.2.name")).toBe("calls");
  expect(sectionOf("topics.0.name")).toBe("review");
  expect(sectionOf("openai.model")).toBe("settings");
  expect(sectionsOf({ engine: "builtin" } as Agent)).toContain("voice");
  expect(sectionsOf({ engine: "elevenlabs" } as Agent)).toEqual(["settings", "review"]);
});
