// What the tests of the page that sends have in common with its measurement.
import { call } from "./world.mjs";

export const sentTo = async (company, number) =>
  (await call("GET", `/functions/v1/notify?number=${number}&access_key=${company.access_key}`)).data;

/** choose chooses a template by typing a part of its name. */
export async function choose(p, text, option) {
  await p.getByRole("combobox", { name: "Template" }).fill(text);
  await p.getByRole("option", { name: option }).click();
}

/** people is a CSV file of that many people as a spreadsheet writes it, with rows between them. */
export function people(n, between = {}) {
  const lines = ["Teléfono;Nombre;Día"];
  for (let i = 0; i < n; i++) {
    if (between[i]) lines.push(...between[i]);
    lines.push(`${34600300100 + 7 * i};Ana ${i};Monday`);
  }
  return "\ufeff" + lines.join("\r\n") + "\r\n";
}
export const drop = (p, name, text) =>
  p.locator('input[type="file"]').setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
