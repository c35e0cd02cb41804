// The frame around the pages: the menu of small screens, the key for the search, and where the reader is.

/** menu opens and closes the list of pages on small screens. */
export function menu(): void {
  const button = document.getElementById("menu"),
    pages = document.getElementById("pages");
  if (!button || !pages) return;
  const open = (yes: boolean) => {
    button.setAttribute("aria-expanded", String(yes));
    document.documentElement.classList.toggle("menu-open", yes);
  };
  button.addEventListener("click", () => open(button.getAttribute("aria-expanded") !== "true"));
  pages.addEventListener("click", (e) => {
    if ((e.target as Element).closest("a")) open(false);
  });
  addEventListener("keydown", (e) => {
    if (e.key === "Escape" && button.getAttribute("aria-expanded") === "true") {
      open(false);
      button.focus();
    }
  });
  pages.querySelector('[aria-current="page"]')?.scrollIntoView({ block: "nearest" });
  follow();
}

/** search has a slash lead to the field of the search. */
export function search(): void {
  addEventListener("keydown", (e) => {
    const at = e.target as HTMLElement;
    if (
      e.key !== "/" ||
      e.ctrlKey ||
      e.metaKey ||
      e.altKey ||
      at.isContentEditable ||
      /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)
    )
      return;
    e.preventDefault();
    document.getElementById("q")?.focus();
  });
}

/** follow marks the heading that is being read. */
function follow(): void {
  const links = new Map<string, Element>();
  for (const a of document.querySelectorAll<HTMLAnchorElement>('.toc a[href^="#"], .ops a[href^="#"]'))
    links.set(decodeURIComponent(a.hash.slice(1)), a);
  if (links.size === 0) return;
  const marks = [...links.keys()].map((id) => document.getElementById(id)).filter((x) => x !== null);
  const mark = () => {
    let now = marks[0];
    for (const x of marks) if (x.getBoundingClientRect().top < 140) now = x;
    for (const [id, a] of links) {
      const here = now?.id === id;
      if (here === a.hasAttribute("aria-current")) continue;
      if (here) a.setAttribute("aria-current", "location");
      else a.removeAttribute("aria-current");
    }
  };
  let waiting = false;
  addEventListener(
    "scroll",
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}
