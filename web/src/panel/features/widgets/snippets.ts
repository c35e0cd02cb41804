// What to paste into a site so that it shows a widget, by the kind of site.
import type { Widget } from "./types";
import { widgets } from "./places";

export const sites = ["html", "react", "wordpress", "gtm", "shopify"] as const;
export type Site = (typeof sites)[number];

/** attributes are those of the tag, in order. */
function attributes(w: Widget, key: string): [string, string][] {
  return [
    ["widget", w.id!],
    ["customer", key],
    ...(w.kind === "voice" ? [["language-lovi", w.language] as [string, string]] : []),
  ];
}

const source = (w: Widget) => `${widgets}/embed/${w.kind}.js`;

/** tagOf is the tag of a page. */
export function tagOf(w: Widget, key: string): string {
  const all = attributes(w, key).map(([name, value]) => `\n  ${name}="${value}"`);
  return `<script async src="${source(w)}"${all.join("")}></script>`;
}

/** snippetOf is what a kind of site takes. WordPress and Shopify take the tag itself. */
export function snippetOf(site: Site, w: Widget, key: string): string {
  const set = (indent: string) =>
    attributes(w, key)
      .map(([name, value]) => `${indent}script.setAttribute("${name}", "${value}");\n`)
      .join("");
  if (site === "react") {
    const name = w.kind === "voice" ? "VoiceWidget" : "ChatWidget";
    return `import { useEffect } from "react";

export function ${name}() {
  useEffect(() => {
    if (document.querySelector('script[src="${source(w)}"]')) return;
    const script = document.createElement("script");
    script.async = true;
    script.src = "${source(w)}";
${set("    ")}    document.body.append(script);
  }, []);
  return null;
}`;
  }
  // Tag Manager drops attributes of tags that it does not know: a script sets them.
  if (site === "gtm")
    return `<script>
(function () {
  var script = document.createElement("script");
  script.async = true;
  script.src = "${source(w)}";
${set("  ")}  document.body.appendChild(script);
})();
</script>`;
  return tagOf(w, key);
}

/** policyOf is what a Content Security Policy has to allow. */
export function policyOf(): string {
  const { origin } = new URL(widgets);
  return `script-src ${origin}; connect-src ${origin}; frame-src ${origin}`;
}
