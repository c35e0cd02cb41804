import { useEffect, useRef, type RefObject, type UIEvent } from "react";

/** useFollow keeps the end of a log in view until its reader scrolls up. The log calls scrolled; what is added to it goes to the end while atEnd says so. */
export function useFollow(box: RefObject<HTMLElement | null>) {
  const atEnd = useRef(true);
  const top = useRef(0);
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const down = () => {
      if (atEnd.current) el.scrollTop = el.scrollHeight;
    };
    const size = new ResizeObserver(down);
    size.observe(el);
    el.addEventListener("load", down, true); // a picture has no height before it is there
    return () => {
      size.disconnect();
      el.removeEventListener("load", down, true);
    };
  }, [box]);
  const scrolled = (e: UIEvent<HTMLElement>) => {
    const el = e.currentTarget;
    if (el.scrollHeight - el.scrollTop - el.clientHeight < 60) atEnd.current = true;
    else if (el.scrollTop < top.current) atEnd.current = false; // else the log has only grown, as by a picture that is being loaded
    top.current = el.scrollTop;
  };
  return { atEnd, scrolled };
}
