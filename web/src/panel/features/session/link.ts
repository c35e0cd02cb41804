/** linkToken is the secret of the link that led here. It is taken out of the address, and kept while the window is open, so that the
    page can be left for the sign-in and come back to. */
export function linkToken(kind: "invitation" | "forgotten"): string {
  const kept = "carillon." + kind;
  const given = location.hash.slice(1);
  try {
    if (given) sessionStorage.setItem(kept, given);
    else return sessionStorage.getItem(kept) ?? "";
  } catch {
    /* for the life of the page */
  }
  if (given) history.replaceState(history.state, "", location.pathname + location.search);
  return given;
}

/** forgetToken forgets the secret of a link that was used. */
export function forgetToken(kind: "invitation" | "forgotten"): void {
  try {
    sessionStorage.removeItem("carillon." + kind);
  } catch {
    /* nothing was kept */
  }
}
