// The synonyms of a base: groups of words and phrases with the same meaning, one group a line.

const maxGroups = 200;
const maxMembers = 16; // of a group
const maxBytes = 300; // of a group

/** groupsOf returns the lines of a text that are not empty. */
export const groupsOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** lineOf returns the number of the line of a group, from 1. */
export const lineOf = (text: string, group: number): number => {
  const lines = [...text.split("\n").entries()].filter(([, line]) => line.trim());
  return (lines[group]?.[0] ?? 0) + 1;
};

const valid = (group: string): boolean => {
  const members = group.split(",");
  return (
    members.length >= 2 &&
    members.length <= maxMembers &&
    new TextEncoder().encode(group).length <= maxBytes &&
    !/[?=#]/.test(group) &&
    members.every((m) => /[\p{L}\p{N}]/u.test(m))
  );
};

/** firstFault returns the number of the first invalid line, from 1, or "many" if there are too many groups. */
export function firstFault(text: string): number | "many" | undefined {
  const at = text.split("\n").findIndex((line) => line.trim() && !valid(line.trim()));
  if (at >= 0) return at + 1;
  return groupsOf(text).length > maxGroups ? "many" : undefined;
}
