/** place is an address that the server wrote into the page; the page's own origin where a development server did not, and "" without a page. */
function place(name: string): string {
  const text = globalThis.document?.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
  return /^https?:/.test(text) ? text : (globalThis.location?.origin ?? "");
}

/** base is the address of the public interface, widgets that of the widgets' pages. */
export const base = place("carillon-base");
export const widgets = place("carillon-widgets");
