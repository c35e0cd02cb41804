// What the scripts that customers' pages embed have in common. Every byte of it is in both.

/** Listeners of events, by name. */
export type Listeners = Record<string, ((value?: unknown) => void)[]>;

export type Call = [string, ...unknown[]];
export type Api = { (...call: Call): void; q?: Iterable<unknown>[]; on?: number };

/** visitorOf is who visits, kept in the page's own storage, or for the page's life where that is not to be had. */
export function visitorOf(store: string): { id: string; created_at: string } {
  let kept;
  try { kept = JSON.parse(localStorage.getItem(store) || "null"); } catch { /* private mode */ }
  // A page without https has no crypto.randomUUID; addresses of blobs end with a random UUID everywhere.
  kept ||= { id: URL.createObjectURL(new Blob()).slice(-36), created_at: new Date().toISOString() };
  try { localStorage.setItem(store, JSON.stringify(kept)); } catch { /* private mode */ }
  return kept;
}

/**
 * dress gives the button its style by a made sheet, which a site's policy for styles does not concern, and places it for good: beside
 * the body, whose content single-page navigation may replace. A frame that is moved begins anew.
 */
export function dress(host: HTMLElement, root: ShadowRoot, css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  const page = document.documentElement;
  const place = () => { if (!host.isConnected) page.append(host); };
  place();
  new MutationObserver(place).observe(page, { childList: true });
}

/** styleOf is what button and frame have in common, at `offset` pixels from their side. */
export function styleOf(position: string, colour: string, on: string, offset: number): string {
  const side = /left/.test(position) ? "left" : "right";
  const edge = /top/.test(position) ? "top" : "bottom";
  return ":host{all:initial;position:fixed;z-index:2147483000;" + side + ":" + offset + "px;" + edge + ":20px}" +
    "button{width:56px;height:56px;border:0;border-radius:50%;cursor:pointer;background:" + colour + ";color:" + on + ";box-shadow:0 4px 16px #0004;display:grid;place-items:center}" +
    "button:focus-visible{outline:3px solid #1d4ed8;outline-offset:2px}" +
    "iframe{display:none;position:fixed;" + side + ":20px;" + edge + ":88px;width:380px;height:min(620px,100vh - 110px);border:0;border-radius:16px;box-shadow:0 8px 40px #0005;background:#fff}" +
    ":host(.o) iframe{display:block}@media(max-width:480px){:host(.o) iframe{inset:0;width:100%;height:100%;border-radius:0}:host(.o) button{display:none}}";
}

/** animate has the button move a few times where motion is welcome. */
export const animation = "@media(prefers-reduced-motion:no-preference){button{animation:a 2s 4}}@keyframes a{50%{scale:1.08}}";

/** hex is a colour if it is #rrggbb. */
export function hex(colour: unknown, otherwise: string): string { return /^#[0-9a-f]{6}$/i.test(colour as string) ? colour as string : otherwise; }

/** onColour is the colour of what is drawn on another. */
export function onColour(colour: string): string {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)) as [number, number, number];
  return r * 0.299 + g * 0.587 + b * 0.114 > 160 ? "#15130f" : "#fff";
}
