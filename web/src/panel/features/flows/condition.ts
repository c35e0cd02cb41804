// Conditions as rows of variable, operator and value. A condition is stored as an expression (docs/reference/flows.md); rows are read from
// it and written to it. An expression that rows can't hold stays as it is.

import { fill, type TextsOf } from "../../i18n";
import type { conditionTexts } from "./texts";

export const operators = [
  "is",
  "is_not",
  "contains",
  "contains_not",
  "starts",
  "ends",
  "more",
  "at_least",
  "less",
  "at_most",
  "empty",
  "filled",
] as const;
export type Operator = (typeof operators)[number];

export interface Row {
  variable: string;
  operator: Operator;
  value: string;
  /** number: the value is compared as a number, though is and is_not compare texts otherwise. */
  number?: boolean;
}

export interface Condition {
  join: "and" | "or";
  rows: Row[];
}

/** numeric are the operators that compare numbers. */
export const numeric: readonly Operator[] = ["more", "at_least", "less", "at_most"];
/** alone are the operators without a value. */
export const alone: readonly Operator[] = ["empty", "filled"];

const symbols: Record<string, Operator> = {
  "==": "is",
  "!=": "is_not",
  contains: "contains",
  startsWith: "starts",
  endsWith: "ends",
  ">": "more",
  ">=": "at_least",
  "<": "less",
  "<=": "at_most",
};
const symbolOf = (o: Operator) => Object.keys(symbols).find((s) => symbols[s] === o);

export const blank = (variable = ""): Row => ({ variable, operator: "is", value: "" });

/** lacks is what a row still needs. */
export function lacks(r: Row): "variable" | "value" | "number" | undefined {
  if (!/^[A-Za-z_]\w*$/.test(r.variable) || reserved.has(r.variable)) return "variable";
  if (alone.includes(r.operator)) return undefined;
  if (!r.value) return "value";
  return numeric.includes(r.operator) && !isNumber(r.value) ? "number" : undefined;
}

const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text);
const reserved = new Set([
  "and",
  "or",
  "not",
  "in",
  "contains",
  "matches",
  "startsWith",
  "endsWith",
  "true",
  "false",
  "nil",
  "let",
  "if",
  "else",
]);

/** write is the expression of rows. A row that lacks something yields an invalid one, which the server refuses. */
export function write(c: Condition): string {
  return c.rows.map(writeRow).join(` ${c.join} `);
}

/** said is a condition in words, such as: answer is “Refund”. An expression that rows can't hold stays as it is. */
export function said(text: string, t: TextsOf<typeof conditionTexts>): string {
  const condition = read(text);
  if (!condition) return text;
  const rows = condition.rows.map((r) => {
    const bare = numeric.includes(r.operator) || r.number;
    const value = alone.includes(r.operator) ? "" : bare ? r.value : fill(t.quoted, { value: r.value });
    return `${r.variable} ${t[r.operator]} ${value}`.trimEnd();
  });
  return rows.join(` ${t[condition.join]} `);
}

function writeRow(r: Row): string {
  if (r.operator === "empty") return `${r.variable} == ''`;
  if (r.operator === "filled") return `${r.variable} != ''`;
  const bare = numeric.includes(r.operator) || (r.number && isNumber(r.value));
  const value = !r.value || lacks(r) === "number" ? "" : bare ? r.value : quoted(r.value);
  if (r.operator === "contains_not") return `not (${r.variable} contains ${value})`;
  return `${r.variable} ${symbolOf(r.operator)} ${value}`.trimEnd();
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")}'`;
}

type Token = { is: "word" | "symbol" | "number" | "text"; text: string };

/** read is the rows of an expression; null where rows can't hold it. */
export function read(expression: string): Condition | null {
  const tokens = tokensOf(expression);
  if (!tokens || tokens.length === 0) return null;
  let at = 0;
  const next = (is: Token["is"], ...texts: string[]): string | undefined => {
    const t = tokens[at];
    if (!t || t.is !== is || (texts.length > 0 && !texts.includes(t.text))) return undefined;
    at++;
    return t.text;
  };
  const row = (): Row | null => {
    if (next("word", "not") ?? next("symbol", "!")) {
      if (!next("symbol", "(")) return null;
      const r = row();
      return r && next("symbol", ")") && r.operator === "contains" ? { ...r, operator: "contains_not" } : null;
    }
    if (next("symbol", "(")) {
      const r = row();
      return r && next("symbol", ")") ? r : null;
    }
    const variable = next("word");
    if (!variable || reserved.has(variable)) return null;
    const not = !!next("word", "not");
    const operator =
      symbols[
        next("symbol", "==", "!=", ">", ">=", "<", "<=") ?? next("word", "contains", "startsWith", "endsWith") ?? ""
      ];
    if (!operator || (not && operator !== "contains")) return null;
    const text = next("text"),
      number = next("number");
    if (number !== undefined) {
      if (numeric.includes(operator)) return { variable, operator, value: number };
      return operator === "is" || operator === "is_not" ? { variable, operator, value: number, number: true } : null;
    }
    if (text === undefined || numeric.includes(operator)) return null;
    if (text === "")
      return operator === "is" || operator === "is_not"
        ? { variable, operator: operator === "is" ? "empty" : "filled", value: "" }
        : null;
    return { variable, operator: not ? "contains_not" : operator, value: text };
  };
  const rows: Row[] = [];
  let join: Condition["join"] | undefined;
  for (;;) {
    const r = row();
    if (!r) return null;
    rows.push(r);
    if (at === tokens.length) return { join: join ?? "and", rows };
    const by =
      (next("word", "and") ?? next("symbol", "&&"))
        ? "and"
        : (next("word", "or") ?? next("symbol", "||"))
          ? "or"
          : undefined;
    if (!by || (join && join !== by)) return null;
    join = by;
  }
}

const pattern =
  /\s+|([A-Za-z_]\w*)|(\d+(?:\.\d+)?)|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(==|!=|>=|<=|&&|\|\||[()<>!-])/gsy;

function tokensOf(text: string): Token[] | null {
  const all: Token[] = [];
  pattern.lastIndex = 0;
  while (pattern.lastIndex < text.length) {
    const m = pattern.exec(text);
    if (!m) return null;
    const [, word, number, quoted, symbol] = m;
    const minus = all.at(-1);
    if (word) all.push({ is: "word", text: word });
    else if (number && minus?.text === "-") all[all.length - 1] = { is: "number", text: "-" + number };
    else if (number) all.push({ is: "number", text: number });
    else if (symbol) all.push({ is: "symbol", text: symbol });
    else if (quoted) {
      const inner = unquoted(quoted.slice(1, -1));
      if (inner === null) return null;
      all.push({ is: "text", text: inner });
    }
  }
  return all;
}

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", "'": "'", '"': '"', "\\": "\\" };

/** unquoted is a text without its escapes; null where one is rare. */
function unquoted(text: string): string | null {
  let known = true;
  const out = text.replace(/\\(.)/gs, (_, c: string) => {
    known &&= c in escapes;
    return escapes[c] ?? "";
  });
  return known ? out : null;
}
