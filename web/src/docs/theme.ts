// The theme: the one that was chosen here or in the panel, else the system's.
const name = "carillon.theme";

function chosen(): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** theme shows the theme at once, and returns what makes the button work. */
export function theme(): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => {
    const c = chosen();
    return c === "dark" || (c !== "light" && system.matches);
  };
  const show = () => {
    document.documentElement.dataset.theme = dark() ? "dark" : "light";
    document.getElementById("theme")?.setAttribute("aria-label", dark() ? "Light theme" : "Dark theme");
  };
  show();
  system.addEventListener("change", show);
  addEventListener("storage", show);
  return () => {
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      try {
        localStorage.setItem(name, dark() ? "light" : "dark");
      } catch {
        /* then it lasts as long as the page */
      }
      show();
    });
  };
}
