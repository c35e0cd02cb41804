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

/** search has a slash lead to the field of the search, and shows what is found while somebody types. */
export function search(): void {
  const field = document.getElementById("q") as HTMLInputElement | null;
  if (!field) return;
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
    field.focus();
  });
  find(field);
}

const shown = 8; // hits below the field: the page of the search has them all

interface Hit {
  path: string;
  title: string;
  page: string;
}

function link(h: Hit): Element {
  const a = document.createElement("a");
  const name = document.createElement("b");
  const page = document.createElement("span");
  a.href = h.path;
  name.textContent = h.title;
  page.textContent = h.page;
  page.className = "quiet";
  a.append(name, " ", page);
  return a;
}

/** find lists the first hits below the field. The arrow keys go through them, Escape closes the list. */
function find(field: HTMLInputElement): void {
  const form = field.form!;
  const found = document.createElement("div");
  found.className = "found";
  found.setAttribute("role", "region");
  found.setAttribute("aria-label", "Search results");
  found.setAttribute("aria-live", "polite");
  found.hidden = true;
  form.append(found);
  let asked = new AbortController();
  const close = () => {
    asked.abort();
    found.hidden = true;
  };
  const ask = async () => {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    const query = field.value.trim();
    if (!query) return close();
    const response = await fetch(`/docs/search?as=json&q=${encodeURIComponent(query)}`, { signal }).catch(() => null);
    const answer = (await response?.json().catch(() => null)) as { hits: Hit[] } | null | undefined;
    if (!answer || signal.aborted) return; // Enter still leads to the page of the search
    if (answer.hits.length > 0) found.replaceChildren(...answer.hits.slice(0, shown).map(link));
    else found.textContent = "Nothing has all of these words.";
    found.hidden = false;
  };
  field.addEventListener("input", () => void ask());
  form.addEventListener("submit", close);
  form.addEventListener("focusout", (e) => {
    if (!form.contains(e.relatedTarget as Node | null)) close();
  });
  found.addEventListener("click", (e) => {
    if ((e.target as Element).closest("a")) close(); // the hit may be on this page
  });
  form.addEventListener("keydown", (e) => {
    if (found.hidden) return;
    if (e.key === "Escape") {
      close();
      field.focus();
      return;
    }
    const stops = [field, ...found.querySelectorAll("a")];
    const next = stops.indexOf(e.target as HTMLInputElement) + (e.key === "ArrowDown" ? 1 : -1);
    if ((e.key !== "ArrowDown" && e.key !== "ArrowUp") || !stops[next]) return;
    e.preventDefault();
    stops[next].focus();
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
