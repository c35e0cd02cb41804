import { useState } from "preact/hooks";
import type { WidgetData } from "../host";

/** Avatar is the logo, or the initial of the company. */
export function Avatar({ widget }: { widget: WidgetData }) {
  const [broken, setBroken] = useState("");
  const initial = (widget.appearance.title || widget.company_name || "C").trim().charAt(0).toUpperCase();
  if (!widget.logo || broken === widget.logo)
    return (
      <div class="avatar" aria-hidden="true">
        {initial}
      </div>
    );
  return <img class="avatar logo" src={widget.logo} alt="" onError={() => setBroken(widget.logo!)} />;
}
