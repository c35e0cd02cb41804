import { useDeferredValue, type ReactNode } from "react";

/** Later draws its children in small steps once the page around them is there, so that a large form never blocks it. */
export function Later({ children }: { children: ReactNode }) {
  return useDeferredValue(true, false) ? children : null;
}
