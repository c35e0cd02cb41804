// The widget's colours, in light and in dark, so that everything can be read.
import { contrast, darker, luminance } from "../shared/colour";
import type { Widget } from "./host";

const hex = (c: string | undefined) => (c && /^#[0-9a-f]{6}$/i.test(c) ? c.toLowerCase() : undefined);

export interface Look {
  theme: "light" | "dark";
  properties: Record<string, string>;
}

/** lookOf is how a page with these colours looks where the system is dark or not. */
export function lookOf(colors: Widget["colors"], dark: boolean): Look {
  const background = hex(colors?.background);
  const darkOwn = background !== undefined && luminance(background) < 0.18;
  const theme = dark || darkOwn ? "dark" : "light";
  const properties: Record<string, string> = {};
  let brand = hex(colors?.primary);
  if (brand) {
    const wanted = hex(colors?.on_primary);
    let on = [wanted, "#ffffff", "#15130f"].find((c) => c && contrast(brand!, c) >= 4.5);
    if (!on) {
      brand = darker(brand);
      on = "#ffffff";
    }
    properties["--brand"] = brand;
    properties["--on-brand"] = on;
  }
  // A background is that of one theme; in the other the page has its own.
  if (background && darkOwn === (theme === "dark")) {
    const text = hex(colors?.text);
    const mix = theme === "dark" ? "#ffffff" : "#000000";
    properties["--surface"] = background;
    for (const [name, share] of [
      ["--surface-2", 5],
      ["--surface-3", 10],
      ["--border", 16],
    ] as const)
      properties[name] = `color-mix(in srgb, ${mix} ${share}%, ${background})`;
    if (text && contrast(text, background) >= 7) {
      properties["--text"] = text;
      properties["--muted"] = `color-mix(in srgb, ${text} 78%, ${background})`;
    }
  }
  return { theme, properties };
}
