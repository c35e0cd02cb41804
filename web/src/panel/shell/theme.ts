// The theme that was chosen. Mantine's components and the tokens follow the same one.
import {
  useComputedColorScheme,
  useMantineColorScheme,
  type MantineColorScheme,
  type MantineColorSchemeManager,
} from "@mantine/core";
import { useLayoutEffect } from "react";

const kept = "carillon.theme";

/** manager keeps the theme in the browser, where it may, and follows other windows. */
export function manager(): MantineColorSchemeManager {
  let listener: ((e: StorageEvent) => void) | undefined;
  const valid = (v: unknown): v is MantineColorScheme => v === "light" || v === "dark" || v === "auto";
  return {
    get: (fallback) => {
      try {
        const v = localStorage.getItem(kept);
        return valid(v) ? v : fallback;
      } catch {
        return fallback;
      }
    },
    set: (v) => {
      try {
        localStorage.setItem(kept, v);
      } catch {
        /* for the life of the page */
      }
    },
    subscribe: (on) => {
      window.addEventListener(
        "storage",
        (listener = (e) => {
          if (e.key === kept && valid(e.newValue)) on(e.newValue);
        }),
      );
    },
    unsubscribe: () => {
      if (listener) window.removeEventListener("storage", listener);
    },
    clear: () => {
      try {
        localStorage.removeItem(kept);
      } catch {
        /* nothing was kept */
      }
    },
  };
}

/** useTheme is the theme, and the way to change it; it has to be called where the whole page can follow it. */
export function useTheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme("light", { getInitialValueInEffect: false });
  return { theme: colorScheme, shown, set: setColorScheme };
}

/** FollowTheme gives the tokens the theme that Mantine shows. */
export function FollowTheme() {
  const { shown } = useTheme();
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = shown;
  }, [shown]);
  return null;
}
