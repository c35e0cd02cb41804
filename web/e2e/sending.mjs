// What the tests of the page that sends have in common with its measurement.
import { accessible, context, dye, fits, ready, shot } from "./browser.mjs";
import { call } from "./voice.mjs";

const owner = { email: ready.email, password: ready.password };

export async function open(browser, t, path, options = {}, who = owner) {
  const c = await context(browser, { locale: "en-GB", viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"], ...options });
  t.after(async () => { c.check(); await c.close(); });
  const p = await c.newPage();
  await p.goto(ready.panel_url + path);
  await p.locator("input").nth(0).fill(who.email);
  await p.locator("input").nth(1).fill(who.password);
  await p.keyboard.press("Enter");
  await p.locator("main h1, main h2").first().waitFor();
  return p;
}
export const sentTo = async (number) => (await call("GET", `/functions/v1/notify?number=${number}&access_key=${ready.access_key}`)).data;

/** modes looks at a page as it is on a phone, and in the dark, and leaves it as it was. */
export async function modes(p, name) {
  const was = p.viewportSize();
  for (const [mode, width, colorScheme] of [["phone", 390, "light"], ["wide-dark", 1440, "dark"]]) {
    await p.setViewportSize({ width, height: 900 });
    await dye(p, colorScheme);
    await fits(p, `${name} ${mode}`);
    await accessible(p, `${name} ${mode}`);
    await shot(p, `${name}-${mode}`);
  }
  await dye(p, "light");
  await p.setViewportSize(was);
}

/** choose chooses a template by typing a part of its name. */
export async function choose(p, text, option) {
  await p.getByRole("combobox", { name: "Template" }).fill(text);
  await p.getByRole("option", { name: option }).click();
}

/** people is a CSV file of that many people as a spreadsheet writes it, with rows between them. */
export function people(n, between = {}) {
  const lines = ["Teléfono;Nombre;Día"];
  for (let i = 0; i < n; i++) { if (between[i]) lines.push(...between[i]); lines.push(`${34600300100 + 7 * i};Ana ${i};Monday`); }
  return "\ufeff" + lines.join("\r\n") + "\r\n";
}
export const drop = (p, name, text) => p.locator('input[type="file"]').setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
