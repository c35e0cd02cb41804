// How WhatsApp writes a text: *bold*, _italic_, ~struck~, `code` and ```blocks of code```, with the variables that have no value yet.
import { filledIn, markersOf } from "./variables";

export type Mark = "bold" | "italic" | "struck" | "code" | "block";
export type Piece = string | { variable: string } | { mark: Mark; pieces: Piece[] };

const marks: Record<string, Mark> = { "*": "bold", _: "italic", "~": "struck" };
const word = /[\p{L}\p{N}]/u;
const stands = 0xe000; // a character of private use stands for a variable while the marks are found
const longest = 4096;

/** piecesOf reads a text of a template with values by the name of the variable; one without a value stays a variable. */
export function piecesOf(text: string, value: (name: string) => string | undefined = () => undefined): Piece[] {
  const names = markersOf(text);
  const clean = (s: string) => s.replace(/[\ue000-\uf8ff]/g, "");
  return parse(
    filledIn(clean(text), (name) => {
      const given = value(name);
      return given?.trim() ? clean(given) : String.fromCharCode(stands + names.indexOf(name));
    }).slice(0, longest),
    names,
  );
}

function parse(text: string, names: string[]): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  const take = (mark: Mark, at: number, end: number, width: number, inner: Piece[]) => {
    pieces.push(...plain(text.slice(from, at), names), { mark, pieces: inner });
    from = end + width;
    return from;
  };
  for (let i = 0; i < text.length;) {
    const c = text[i]!;
    if (text.startsWith("```", i)) {
      const end = text.indexOf("```", i + 4);
      if (end > 0) {
        i = take("block", i, end, 3, plain(text.slice(i + 3, end), names));
        continue;
      }
    } else if (c === "`") {
      const end = text.indexOf("`", i + 2);
      if (end > 0 && !text.slice(i, end).includes("\n")) {
        i = take("code", i, end, 1, plain(text.slice(i + 1, end), names));
        continue;
      }
    } else if (marks[c] && opens(text, i)) {
      const end = closing(text, i);
      if (end > 0) {
        i = take(marks[c], i, end, 1, parse(text.slice(i + 1, end), names));
        continue;
      }
    }
    i++;
  }
  return [...pieces, ...plain(text.slice(from), names)];
}

function opens(text: string, i: number): boolean {
  const next = text[i + 1];
  return !word.test(text[i - 1] ?? "") && next !== undefined && next !== text[i] && !/\s/.test(next);
}

/** closing is where the mark at i ends; 0 where it does not: within its line, behind a character, before no word. */
function closing(text: string, i: number): number {
  for (let j = i + 2; j < text.length && text[j - 1] !== "\n"; j++) {
    if (text[j] === text[i] && !/\s/.test(text[j - 1]!) && !word.test(text[j + 1] ?? "")) return j;
  }
  return 0;
}

/** plain is a text without marks. */
function plain(text: string, names: string[]): Piece[] {
  return text
    .split(/([\ue000-\uf8ff])/)
    .filter(Boolean)
    .map((s) => (/[\ue000-\uf8ff]/.test(s) ? { variable: names[s.charCodeAt(0) - stands] ?? "" } : s));
}
