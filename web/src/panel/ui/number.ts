// Phone numbers as people write them: the rules and the table of the package internal/base/number.

/** Country codes whose national numbers are dialled with a 0 that an international number leaves out. */
const trunkZero = new Set(
  (
    "20 27 31 32 33 40 41 43 44 46 49 51 53 54 55 58 60 61 62 63 64 66 81 82 84 86 90 91 92 93 94 95 98" +
    " 212 213 233 234 254 255 256 263 353 355 358 359 373 380 381 382 383 385 386 387 389 421 423 591 593 595 598 855 880 886" +
    " 962 964 966 971 972 977 995"
  ).split(" "),
);

const digit = /\p{Nd}/u;

/** value is the value of a decimal digit: those of a script are ten in a row, zero first. */
function value(c: string): string {
  let n = 0;
  while (digit.test(String.fromCodePoint(c.codePointAt(0)! - n - 1))) n++;
  return String(n % 10);
}

/** plain writes a number with the signs of ASCII, and without invisible characters. */
function plain(text: string): string {
  return text
    .replace(/\p{Cf}/gu, "")
    .replace(/\p{Nd}/gu, value)
    .replace(/[\s\u0085]/g, " ")
    .replace(/[\p{Pd}\u2212]/gu, "-")
    .replace(/[\uff0b\ufe62]/g, "+")
    .replace(/\uff08/g, "(")
    .replace(/\uff09/g, ")")
    .replace(/\uff0e/g, ".")
    .trim()
    .replace(/^'/, "");
}

/** cleaned is the phone number that a text holds, as requests have one; "": it holds none. */
export function cleaned(text: string): string {
  const written = plain(text).replace(/^(\+?\d+)[.,]0{1,2}$/, "$1");
  if (/^\+?(\d+([.,]\d+)?[eE]\+?\d+|\d{8,}[.,]\d+|\d{7,}[.,]\d{1,2})$/.test(written)) return "";
  let digits = "";
  for (let i = 0; i < written.length; i++) {
    const c = written[i]!;
    if (c === "0" && /\( *$/.test(written.slice(0, i))) {
      if (trunkZero.has(digits.replace(/^00/, ""))) continue;
      if (!/\d/.test(written.slice(i + 1).split(")")[0]!)) return "";
    }
    if (/[0-9]/.test(c)) digits += c;
    else if (!(c === "+" && digits === "") && !" ().-".includes(c)) return "";
  }
  digits = digits.replace(/^00/, "");
  return /^[1-9]\d{6,14}$/.test(digits) ? digits : "";
}

/** The calling codes of one and two digits; the others have three. */
const shortCodes = new Set(
  (
    "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66" +
    " 81 82 84 86 90 91 92 93 94 95 98"
  ).split(" "),
);

/** Groups of digits behind the calling code, by calling code and count, or by count alone. */
const groups: Record<string, number[]> = {
  "33/9": [1, 2, 2, 2, 2],
  "55/10": [2, 4, 4],
  "55/11": [2, 5, 4],
  "5": [5],
  "6": [3, 3],
  "7": [3, 4],
  "8": [4, 4],
  "9": [3, 3, 3],
  "10": [3, 3, 4],
  "11": [3, 4, 4],
  "12": [4, 4, 4],
};

/** phone is a number as people read it: +34 600 330 005. Anything else stays as it is. */
export function phone(number: string): string {
  if (!/^[1-9]\d{6,14}$/.test(number)) return number;
  const code = [1, 2].map((n) => number.slice(0, n)).find((c) => shortCodes.has(c)) ?? number.slice(0, 3);
  const rest = number.slice(code.length);
  const parts: string[] = ["+" + code];
  let at = 0;
  for (const n of groups[`${code}/${rest.length}`] ?? groups[rest.length] ?? [rest.length]) {
    parts.push(rest.slice(at, at + n));
    at += n;
  }
  return parts.join("\u00a0");
}

/** isUserID reports whether a text is a channel's id of a person. */
export const isUserID = (text: string): boolean => /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/.test(text.trim());

/** addressee is the number of a recipient, or the channel's id of a person without one. */
export function addressee(to: { number?: string; user_id?: string }): string {
  return to.number ? phone(to.number) : (to.user_id ?? "");
}

/** numberIn is the number that somebody types or looks for: digits as they are, else the cleaned number; "": it is none. */
export function numberIn(text: string): string {
  return /^[0-9]{7,15}$/.test(text.trim()) ? text.trim() : cleaned(text);
}
