// Verify tokens that were chosen in this window: the server stores them and never shows them again, and Meta asks for the same one.

const chosen = new Map<string, string>();

/** newToken is a word that nobody guesses. */
export function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_");
}

/** remember keeps the token of a sender until the window is closed. */
export function remember(sender: string, token: string): void {
  chosen.set(sender, token);
}

export function remembered(sender: string): string {
  return chosen.get(sender) ?? "";
}
