// Counted links: a button opens an address of this installation, which counts the click and leads on.
import { base } from "../widgets/places";

/** countedUrl is the URL of a button whose clicks are counted. */
export const countedUrl = base + "/l/{{1}}";

/** isCounted reports whether clicks on a button with a URL are counted. */
export const isCounted = (url: string | undefined): boolean =>
  (url ?? "").replace(/\{\{[^{}]*\}\}$/, "{{1}}") === countedUrl;

/** mayCount reports whether recipients of a provider's messages can open counted links. */
export const mayCount = (provider: string | undefined): boolean =>
  base.startsWith("https://") || provider === undefined || provider === "sandbox";
