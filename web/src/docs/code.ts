// Code to copy, in the language that the reader chose.
const name = "carillon.docs.language";

/** code shows one language at a time, and puts a button for copying on every piece of code. */
export function code(): void {
  const buttons = document.querySelectorAll<HTMLButtonElement>("[data-language]");
  const show = (language: string) => {
    for (const b of buttons) b.setAttribute("aria-pressed", String(b.dataset.language === language));
    for (const p of document.querySelectorAll<HTMLElement>("[data-code]"))
      p.classList.toggle("other", p.dataset.code !== language);
  };
  for (const b of buttons) {
    b.addEventListener("click", () => {
      const before = b.getBoundingClientRect().top;
      const language = b.dataset.language ?? "curl";
      show(language);
      scrollBy({ top: b.getBoundingClientRect().top - before, behavior: "instant" }); // what is above changed its height
      try {
        localStorage.setItem(name, language);
      } catch {
        /* then it lasts as long as the page */
      }
    });
  }
  try {
    const kept = localStorage.getItem(name);
    if (kept === "go" || kept === "ts") show(kept);
  } catch {
    /* curl it is */
  }
  for (const pre of document.querySelectorAll("pre")) copyButton(pre);
}

function copyButton(pre: HTMLPreElement): void {
  const box = document.createElement("div");
  box.className = "copyable";
  pre.replaceWith(box);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  box.append(pre, button);
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(pre.textContent ?? "").then(
      () => {
        button.textContent = "Copied";
      },
      () => {
        button.textContent = "Not allowed";
      },
    );
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
}
