import { useEffect, useState } from "react";
import { clock } from "./format";

/** Ticking is how long something goes on, by the second. */
export function Ticking({ since }: { since: string }) {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    const i = setInterval(() => set(Date.now()), 1000);
    return () => clearInterval(i);
  }, []);
  return (
    <span role="timer" className="calls-ticking">
      {clock((now - Date.parse(since)) / 1000)}
    </span>
  );
}
