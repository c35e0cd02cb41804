import type { ReactNode } from "react";
import { useLines } from "../lines/useLines";
import { useNumbers } from "./useHandset";

/** IfSandbox shows something to companies that have a line or a messaging sender of the sandbox. */
export function IfSandbox({ children }: { children: ReactNode }) {
  const line = useLines(false).data?.some((l) => l.provider === "sandbox");
  const sender = (useNumbers("", false).data?.senders.length ?? 0) > 0;
  return line || sender ? children : null;
}
