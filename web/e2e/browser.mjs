// What the browser tests have in common: the running program, a browser that may reach nothing else, axe, screenshots.
import assert from "node:assert/strict";
import { readFile, mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { deflateSync } from "node:zlib";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
export const ready = JSON.parse(await readFile(process.env.CARILLON_READY, "utf8"));
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");

// No name but localhost is ever resolved. A handler of all requests would see as much, and have the browser do without its cache.
const onlyThisMachine =
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1";

export async function launch(...more) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      onlyThisMachine,
      ...more,
    ],
  });
}

/** context is a browser of its own, in which a request to a host that is not on this machine fails the test, as does a dialog of a script. */
export async function context(browser, options = {}) {
  const c = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  c.setDefaultTimeout(120_000); // what takes longer hangs
  const foreign = [];
  c.allowed = []; // hosts whose responses a test makes up
  c.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (
      c.allowed.includes(hostname) ||
      protocol === "data:" ||
      protocol === "blob:" ||
      hostname === "localhost" ||
      hostname.endsWith(".localhost") ||
      hostname === "127.0.0.1"
    )
      return;
    foreign.push(request.url());
  });
  const errors = [];
  c.on("weberror", (e) => errors.push(String(e.error())));
  c.on("requestfailed", (r) => console.error("failed:", r.method(), r.url(), r.failure()?.errorText)); // shown where a test fails
  c.on("console", (m) => {
    if (m.type() === "error") console.error("console:", m.text(), m.location().url);
  });
  c.on("dialog", (d) => {
    if (d.type() === "beforeunload") return d.accept();
    errors.push(`${d.type()}: ${d.message()}`);
    return d.dismiss();
  });
  c.check = () => {
    assert.deepEqual(foreign, [], "requests to foreign hosts");
    assert.deepEqual(errors, [], "errors and dialogs in the page");
  };
  return c;
}

/** seen are the pages on which axe found nothing, and in which colour scheme: by what does not depend on that. */
const seen = new Map();

/** byColour are the rules whose result may differ by the colour scheme alone. */
const byColour = ["color-contrast", "link-in-text-block"];

/** accessible asserts that axe finds no violation in a page or frame. Of one that was asked about in the other colour scheme, only colours are asked about. */
export async function accessible(frame, what) {
  // What fades in has another contrast until it is there; what goes on for ever has not.
  // The end of one may be the beginning of another, of an element within.
  await frame.evaluate(async () => {
    for (let calm = 0, rounds = 0; calm < 2 && rounds < 60; rounds++) {
      await new Promise(requestAnimationFrame);
      const running = document
        .getAnimations()
        .filter((a) => a.effect?.getComputedTiming().endTime !== Infinity && a.playState === "running");
      calm = running.length === 0 ? calm + 1 : 0;
      await Promise.all(running.map((a) => a.finished.catch(() => {})));
    }
  });
  if (!(await frame.evaluate(() => "axe" in globalThis))) await frame.evaluate(axe);
  const { key, scheme } = await frame.evaluate(() => ({
    key: [
      location.pathname,
      innerWidth,
      document.querySelectorAll("*").length,
      ...[...document.querySelectorAll("h1,h2,h3,[role=dialog],[role=alert]")].map((x) => x.textContent),
    ].join("\n"),
    scheme:
      document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"),
  }));
  const only =
    seen.has(key) && seen.get(key) !== scheme
      ? { type: "rule", values: byColour }
      : ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const found = await frame.evaluate(async (runOnly) => {
    const { violations } = await globalThis.axe.run(document, {
      runOnly,
      resultTypes: ["violations"],
      preload: false,
      iframes: false,
    });
    // A tooltip belongs to what it describes, wherever in the page it is: it needs no landmark.
    const tooltip = (node) => {
      const at = document.querySelector(node.target[0]);
      return (
        at?.closest('[role="tooltip"]') ||
        (at?.dataset.portal && [...at.children].every((x) => x.matches('[role="tooltip"]') || !x.innerText.trim()))
      ); // it may have gone
    };
    return violations
      .map((v) => ({ ...v, nodes: v.nodes.filter((n) => v.id !== "region" || !tooltip(n)) }))
      .filter((v) => v.nodes.length > 0);
  }, only);
  assert.deepEqual(
    found.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join("; ")}`),
    [],
    what,
  );
  if (!seen.has(key)) seen.set(key, scheme);
}

/** fits waits until nothing of a page goes past its side: what was resized, or moves, comes to rest first. */
export async function fits(page, what) {
  await page
    .waitForFunction(() => document.documentElement.scrollWidth <= innerWidth)
    .catch(async (e) => {
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll("main *")]
          .filter((x) => x.getBoundingClientRect().right > innerWidth)
          .map((x) => x.className)
          .join(" | "),
      );
      assert.fail(`${what} goes past its side: ${wide} (${e.message.split("\n")[0]})`);
    });
}

/**
 * unclipped asserts that nothing within a part of a page is cut off or lies over another text: on a phone, a tablet, a desktop, and at twice
 * the size. It leaves the page as it was.
 */
export async function unclipped(page, within, name) {
  const was = page.viewportSize();
  for (const [width, height, look] of [
    [390, 844, "phone"],
    [1024, 768, "tablet"],
    [1440, 900, "desktop"],
    [720, 450, "zoomed"],
  ]) {
    await page.setViewportSize({ width, height });
    await fits(page, `${name} at ${width} px`);
    const faults = () =>
      page.evaluate((within) => {
        const all = [...document.querySelectorAll(within)];
        if (all.length === 0) return ["nothing is there"];
        return all.flatMap((part) => {
          const frame = part.getBoundingClientRect();
          const texts = [...part.querySelectorAll("svg text")].map((x) => [x.textContent, x.getBoundingClientRect()]);
          return [
            ...[...part.querySelectorAll("*")]
              .filter((x) => x.scrollWidth > x.clientWidth + 1 && x.clientWidth > 1 && !x.closest("svg, .hidden"))
              // a long name may end in an ellipsis, where all of it shows on hover
              .filter((x) => !(x.closest("[title]") && getComputedStyle(x).textOverflow === "ellipsis"))
              .map((x) => `${x.className}: ${x.textContent} is cut off`),
            ...texts
              .filter(([, r]) => r.left < frame.left - 0.5 || r.right > frame.right + 0.5)
              .map(([text]) => text + " goes past its side"),
            ...texts.flatMap(([a, r], i) =>
              texts
                .slice(i + 1)
                .filter(([, q]) => r.left < q.right && q.left < r.right && r.top + 2 < q.bottom && q.top + 2 < r.bottom)
                .map(([b]) => `${a} lies over ${b}`),
            ),
          ];
        });
      }, within);
    let found = await faults();
    for (let i = 0; found.length > 0 && i < 50; i++) {
      await page.evaluate(() => new Promise(requestAnimationFrame)); // what was resized is drawn again
      found = await faults();
    }
    assert.deepEqual(found, [], `${name} at ${width} px`);
    await shot(page, `${name}-${look}`);
  }
  await page.setViewportSize(was);
}

/** visit goes to another page of the panel as a link does, without loading all of it again. */
export async function visit(page, path) {
  await page.evaluate((to) => {
    history.pushState({}, "", to);
    dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  }, path);
}

/** dye has a page of the panel follow a dark or a light system, and waits until it does. */
export async function dye(page, colorScheme) {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.waitForFunction(
    (scheme) =>
      document.documentElement.dataset.theme === scheme &&
      document.documentElement.dataset.mantineColorScheme === scheme,
    colorScheme,
  );
}

/**
 * looks has axe look at a state of a page in a light room, and on a phone in a dark one, and leaves the page as it was. pages/table.mjs has a
 * table for the pages themselves.
 */
export async function looks(page, name) {
  const was = page.viewportSize();
  await shot(page, name);
  await accessible(page, name);
  for (const [look, width, height, scheme] of [
    ["phone", 390, 844, "light"],
    ["dark", was.width, was.height, "dark"],
    ["phone-dark", 390, 844, "dark"],
  ]) {
    if (!process.env.SHOTS && look !== "phone-dark") continue;
    await page.setViewportSize({ width, height });
    await dye(page, scheme);
    await shot(page, `${name}-${look}`);
  }
  await fits(page, name);
  // At its end, where a bar at the bottom of the screen covers nothing.
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await accessible(page, name + " on a phone in a dark room");
  await page.setViewportSize(was);
  await dye(page, "light");
}

/** shot keeps a screenshot in the folder SHOTS, where one is named. */
export async function shot(page, name) {
  if (!process.env.SHOTS) return;
  await mkdir(process.env.SHOTS, { recursive: true });
  await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

/** site serves one page under a host name of its own, until it is closed. */
export async function site(name, html, headers = {}) {
  const server = createServer((_, r) => {
    r.writeHead(200, { "Content-Type": "text/html; charset=utf-8", ...headers });
    r.end(html);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://${name}.localhost:${server.address().port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

function crc(bytes) {
  let c = ~0;
  for (const b of bytes) {
    c ^= b;
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  }
  return ~c >>> 0;
}

/** png is a picture of a sky over a sea. */
export function png(width = 320, height = 200) {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = y * (1 + width * 3) + 1 + x * 3,
        sea = y > height * 0.62 + 6 * Math.sin(x / 18);
      rows.set(sea ? [20, 100 + x / 8, 160] : [250 - y / 2, 190 - y / 4, 120 + y / 2], at);
    }
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]),
      out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
