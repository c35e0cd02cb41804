// Measures the panel's first pages with Lighthouse, as a desktop sees them, against the demo with data. `make lighthouse` starts it.
// Lighthouse is not one of the project's packages: LIGHTHOUSE names a folder in which it was installed.
//
//   node bench/lighthouse.mjs READY.json [page …]      prints a table; fails below 95 of performance or accessibility
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "../web/node_modules/playwright-core/index.mjs";

const least = 95, rounds = Number(process.env.ROUNDS ?? 3);
const ready = JSON.parse(await readFile(process.argv[2], "utf8"));
const from = createRequire(pathToFileURL(join(process.env.LIGHTHOUSE, "package.json")));
const { default: lighthouse, desktopConfig } = await import(pathToFileURL(from.resolve("lighthouse")));

const port = await new Promise((resolve) => { const s = createServer().listen(0, "127.0.0.1", () => { const { port } = s.address(); s.close(() => resolve(port)); }); });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", `--remote-debugging-port=${port}`],
});

/** data sends messages, so that the pages have something to show. */
async function data() {
  for (let i = 0; i < 60; i++) {
    const r = await fetch(`${ready.base_url}/functions/v1/notify?access_key=${ready.access_key}`, {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        contact: { number: `346${String(10_000_000 + i)}`, name: "Ana" }, recipient_id: "demo", notification_type: "utility", campaign_name: `campaign ${i % 6}`,
        name_template: "hello", language_template: "en", components_push: { body_text_0: "Ana" },
      }),
    });
    if (!r.ok) throw new Error(`${r.status} ${await r.text()}`);
  }
}

async function signIn() {
  const page = await (await browser.newContext()).newPage();
  await page.goto(ready.panel_url + "/sign-in");
  await page.getByLabel("E-mail").fill(ready.email);
  await page.getByLabel("Password", { exact: true }).fill(ready.password);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => !url.pathname.endsWith("/sign-in"));
  const [cookie] = (await page.context().cookies()).filter((c) => c.name === "carillon_session");
  return `${cookie.name}=${cookie.value}`;
}

await data();
const cookie = await signIn();
const all = process.argv.slice(3);
const pages = all.length > 0 ? all : ["/panel/sign-in", "/panel", "/panel/notifications", "/docs/api/notifications"];
let failed = false;
console.log("| Page | Performance | Accessibility | Best practices | FCP ms | LCP ms | TBT ms | CLS |\n|---|---:|---:|---:|---:|---:|---:|---:|");
for (const page of pages) {
  const runs = [];
  for (let i = 0; i < rounds; i++) {
    const { lhr } = await lighthouse(ready.base_url + page, {
      port, logLevel: "error", output: "json", onlyCategories: ["performance", "accessibility", "best-practices"],
      extraHeaders: page.startsWith("/panel") && !page.endsWith("/sign-in") ? { Cookie: cookie } : {},
    }, desktopConfig);
    if (lhr.runtimeError) throw new Error(`${page}: ${lhr.runtimeError.message}`);
    runs.push(lhr);
  }
  runs.sort((a, b) => a.categories.performance.score - b.categories.performance.score);
  const middle = runs[Math.floor(runs.length / 2)];
  const score = (name) => Math.round(middle.categories[name].score * 100), ms = (name) => Math.round(middle.audits[name].numericValue);
  console.log(`| ${page} | ${score("performance")} | ${score("accessibility")} | ${score("best-practices")} | ${ms("first-contentful-paint")} | ${ms("largest-contentful-paint")} | ${ms("total-blocking-time")} | ${middle.audits["cumulative-layout-shift"].numericValue.toFixed(3)} |`);
  for (const a of Object.values(middle.audits)) {
    const counts = Object.values(middle.categories).some((c) => c.auditRefs.some((r) => r.id === a.id && r.weight > 0));
    if (counts && a.score !== null && a.score < 0.9) console.error(`  ${page}: ${a.id} ${a.displayValue ?? ""}: ${(a.details?.items ?? []).slice(0, 4).map((x) => x.node?.selector ?? x.description ?? x.url ?? "").join("; ")}`);
  }
  if (score("performance") < least || score("accessibility") < least) failed = true;
}
await browser.close();
if (failed) { console.error(`A page is below ${least}.`); process.exitCode = 1; }
