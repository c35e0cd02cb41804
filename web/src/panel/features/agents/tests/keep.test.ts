import { expect, test } from "vitest";
import type { Played } from "../types";
import { caseOf, withCase, type Line } from "./keep";

const played = (more: Partial<Played>): Played => ({
  text: "",
  sources: [],
  choices: [],
  end: false,
  unanswered: false,
  ms: 1,
  ...more,
});

const said: Line[] = [
  { contact: true, text: 'Is "pier 3" open?' },
  {
    contact: false,
    text: "Yes",
    played: played({ sources: [{ title: "Opening hours – Pier", url: "", confidence: 1 }] }),
  },
  { contact: true, text: "And dogs?" },
  { contact: false, text: "I do not know", played: played({ unanswered: true, asks: "-person" }) },
  { contact: true, text: "Thanks" },
  { contact: false, text: "You are welcome.", played: played({}) },
];

test("a conversation becomes a test that expects what came", () => {
  const [name, ...rest] = caseOf(said, "en");
  expect(name).toMatch(/^- name: "Is \\"pier 3\\" open\? \(\d{4}-/);
  expect(rest).toEqual([
    "  language: en",
    "  turns:",
    '    - say: "Is \\"pier 3\\" open?"',
    "      expect:",
    '        article: "Opening hours – Pier"',
    '    - say: "And dogs?"',
    "      expect:",
    "        outcome: unanswered",
    '    - say: "Thanks"',
    "      expect:",
    '        text: "You are welcome."',
  ]);
});

test("a test is appended with the indentation of the list", () => {
  expect(withCase("", ["- name: a"])).toBe("name: playground\ncases:\n  - name: a\n");
  expect(withCase("cases:\n# one\n- name: x\n  turns: []\n\n", ["- name: a", "  turns:"])).toBe(
    "cases:\n# one\n- name: x\n  turns: []\n- name: a\n  turns:\n",
  );
  expect(withCase("cases:\n    - name: x\n", ["- name: a"])).toBe("cases:\n    - name: x\n    - name: a\n");
});
