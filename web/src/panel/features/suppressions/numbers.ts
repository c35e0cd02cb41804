import { cleaned } from "../../ui/number";

/** most is how many numbers are added at once. */
export const most = 5000;

export interface Pasted {
  numbers: string[];
  repeated: number;
  bad: { line: number; text: string }[];
}

/** pasted reads numbers from a list that somebody pasted: one a line, or with commas or semicolons between them. Each is read as people write numbers. */
export function pasted(text: string): Pasted {
  const numbers = new Set<string>();
  const bad: Pasted["bad"] = [];
  let repeated = 0;
  text.split(/\r\n|[\r\n]/).forEach((line, i) => {
    for (const part of line.split(/[,;\t]/)) {
      const cell = part
        .trim()
        .replace(/^"(.*)"$/, "$1")
        .trim();
      if (!cell) continue;
      const digits = cleaned(cell);
      if (!digits) bad.push({ line: i + 1, text: cell });
      else if (numbers.has(digits)) repeated++;
      else numbers.add(digits);
    }
  });
  return { numbers: [...numbers], repeated, bad };
}
