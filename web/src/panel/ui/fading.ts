import { useCallback } from "react";

/** useFading is a ref of a list that scrolls. The current entry stays in view, and edges are marked behind which there are more. */
export function useFading<E extends HTMLElement>(current: string) {
  return useCallback(
    (list: E) => {
      const mark = () => {
        const { scrollTop, scrollLeft, scrollHeight, scrollWidth, clientHeight, clientWidth } = list;
        list.toggleAttribute("data-before", scrollTop + scrollLeft > 1);
        list.toggleAttribute(
          "data-after",
          scrollHeight - clientHeight - scrollTop + scrollWidth - clientWidth - scrollLeft > 1,
        );
      };
      const show = () =>
        list
          .querySelector("[aria-current], [aria-selected=true]")
          ?.scrollIntoView({ block: "nearest", inline: "nearest" });
      const own = new ResizeObserver(show);
      own.observe(list);
      const all = new ResizeObserver(mark);
      for (const part of [list, ...list.children]) all.observe(part);
      list.addEventListener("scroll", mark, { passive: true });
      return () => {
        own.disconnect();
        all.disconnect();
        list.removeEventListener("scroll", mark);
      };
    },
    [current], // another entry is shown at once
  );
}
