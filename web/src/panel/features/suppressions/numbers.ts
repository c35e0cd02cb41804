/** most is how many numbers are added at once. */
export const most = 5000;

export interface Pasted { numbers: string[]; repeated: number; bad: { line: number; text: string }[] }

/** pasted reads numbers from a list that somebody pasted: one a line, or with commas or semicolons between them. Spaces, dashes, dots, parentheses and a leading + or 00 are left out. */
export function pasted(text: string): Pasted {
  const numbers = new Set<string>();
  const bad: Pasted["bad"] = [];
  let repeated = 0;
  text.split(/\r?\n/).forEach((line, i) => {
    for (const part of line.split(/[,;\t]/)) {
      const cell = part.trim().replace(/^"(.*)"$/, "$1").trim();
      if (!cell) continue;
      const digits = cell.replace(/[\s().\u00a0-]/g, "").replace(/^(\+|00)/, "");
      if (!/^[1-9]\d{6,14}$/.test(digits)) bad.push({ line: i + 1, text: cell });
      else if (numbers.has(digits)) repeated++;
      else numbers.add(digits);
    }
  });
  return { numbers: [...numbers], repeated, bad };
}
