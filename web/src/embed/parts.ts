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

/** Launcher is the button of a widget, from its configuration. */
export interface Launcher {
  css: string;
  name: string;
  close: string;
  label?: string;
}

/** Joined is a voice widget for whose button the chat's stands: `stand` gives it the chat's style, or its own back. */
export interface Joined {
  stand: (css?: string) => void;
  host: HTMLElement;
  hearing?: boolean;
}

/**
 * dress styles the button with a constructed style sheet, which a site's content policy does not restrict. It keeps the button outside
 * the body, whose content single-page navigation may replace; a moved frame would reload. The returned function replaces the style.
 */
export function dress(host: HTMLElement, root: ShadowRoot, css: string): (css: string) => void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
  const page = document.documentElement;
  const place = () => {
    if (!host.isConnected) page.append(host);
  };
  place();
  new MutationObserver(place).observe(page, { childList: true });
  return (css) => sheet.replaceSync(css);
}
