// What the scripts that customers' pages embed have in common. Every byte of it is in both.

/** Listeners of events, by name. */
export type Listeners = Record<string, ((value?: unknown) => void)[]>;

export type Call = [string, ...unknown[]];
export type Api = { (...call: Call): void; q?: unknown[]; on?: number };

/** warn says on the console what the page's developer can put right. */
export const warn = (text: unknown): void => console.warn("carillon:", text);

/** selectorOf is that of the tag of a script. A module, and what a loader runs, is not given its tag: it is found by its address. */
export const selectorOf = (name: string): string => `script[src*="/embed/${name}.js"]`;

/** watchPolicy has a page whose policy keeps the widget out say on the console what to admit. */
export const watchPolicy = (home: string): void =>
  addEventListener("securitypolicyviolation", (e) => {
    if (e.blockedURI.startsWith(home)) warn(`CSP lacks ${e.effectiveDirective} ${home}`);
  });

/** visitorOf is who visits, kept in the page's own storage, or for the page's life where that is not to be had. */
export function visitorOf(store: string): { id: string; created_at: string } {
  try {
    return JSON.parse(localStorage[store]);
  } catch {
    /* private mode, or the first visit */
  }
  // A page without https has no crypto.randomUUID; addresses of blobs end with a random UUID everywhere.
  const visitor = { id: URL.createObjectURL(new Blob()).slice(-36), created_at: new Date().toJSON() };
  try {
    localStorage[store] = JSON.stringify(visitor);
  } catch {
    /* private mode */
  }
  return visitor;
}

/**
 * dress gives the button its style by a made sheet, which a site's policy for styles does not concern, and places it for good: beside
 * the body, whose content single-page navigation may replace. A frame that is moved begins anew.
 *
 * The button is `offset` pixels from its side. The drawing on it is a border that is cut out: it needs no markup, which a page's policy
 * may forbid to write (Trusted Types), and has the colour of text where colours are forced.
 *
 * An open widget stands above the button of the other one, which would cover it where it fills the screen.
 */
export function dress(
  host: HTMLElement,
  root: ShadowRoot,
  position: string,
  colour: string,
  on: string,
  offset: number,
  drawing: string,
  more: string,
): void {
  const side = /left/.test(position) ? "left" : "right";
  const edge = /top/.test(position) ? "top" : "bottom";
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    ":host{all:initial;position:fixed;z-index:2000000000;" +
      side +
      ":" +
      offset +
      "px;" +
      edge +
      ":20px}" +
      "button{width:56px;height:56px;border:0;border-radius:50%;cursor:pointer;background:" +
      colour +
      ";color:" +
      on +
      ";box-shadow:0 4px 16px #0004;display:grid;place-items:center}" +
      "button:before{content:'';border:12px solid;clip-path:path('" +
      drawing +
      "')}" +
      ":focus-visible{outline:3px solid #1d4ed8}" +
      "iframe{display:none;position:fixed;" +
      side +
      ":20px;" +
      edge +
      ":88px;width:380px;height:min(620px,100vh - 110px);border:0;border-radius:16px;box-shadow:0 4px 16px #0004;background:#fff}" +
      ":host(.o){z-index:2000000001}:host(.o) iframe{display:block}@media(max-width:480px){:host(.o) iframe{inset:0;width:100%;height:100%;border-radius:0}:host(.o) button{display:none}}" +
      more,
  );
  root.adoptedStyleSheets = [sheet];
  const page = document.documentElement;
  const place = () => {
    if (!host.isConnected) page.append(host);
  };
  place();
  new MutationObserver(place).observe(page, { childList: true });
}

/** animate has the button move a few times where motion is welcome. */
export const animation = "@media not (prefers-reduced-motion){button{animation:a 2s 4}}@keyframes a{50%{scale:1.08}}";

/** hex is a colour if it is #rrggbb. */
export function hex(colour: unknown, otherwise: string): string {
  return /^#[\da-f]{6}$/i.test(colour as string) ? (colour as string) : otherwise;
}

/** onColour is the colour of what is drawn on another. */
export function onColour(colour: string): string {
  const rgb = parseInt(colour.slice(1), 16);
  return (rgb >> 16) * 0.3 + ((rgb >> 8) & 255) * 0.59 + (rgb & 255) * 0.11 > 160 ? "#15130f" : "#fff";
}
