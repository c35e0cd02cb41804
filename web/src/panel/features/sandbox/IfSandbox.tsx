import type { ReactNode } from "react";
import { useLines } from "../lines/useLines";

/** IfSandbox shows something to companies that have a line of the sandbox. */
export function IfSandbox({ children }: { children: ReactNode }) {
  return useLines(false).data?.some((l) => l.provider === "sandbox") ? children : null;
}
