/** cell is a value of a CSV file. A spreadsheet computes no cell that begins with an apostrophe. */
function cell(v: string | number | undefined): string {
  const text = String(v ?? "");
  const safe = /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+$/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** csvOf is a CSV file of rows, with the names of its columns in the first line. */
export function csvOf<T>(rows: T[], columns: Record<string, (row: T) => string | number | undefined>): string {
  const lines = [Object.keys(columns), ...rows.map((r) => Object.values(columns).map((f) => f(r)))];
  return "\ufeff" + lines.map((l) => l.map(cell).join(",") + "\r\n").join("");
}

/** download gives the browser a CSV file. */
export function download(name: string, csv: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}
