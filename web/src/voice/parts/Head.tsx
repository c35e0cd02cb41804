import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Host, Widget } from "../host";
import type { Texts } from "../texts";
import { Icon } from "./Icon";

/** Head is the line at the top: who this is, what is to be had there, and how to leave. */
export function Head({
  host,
  texts,
  widget,
  title,
  children,
}: {
  host: Host;
  texts: Texts;
  widget: Widget;
  title?: string;
  children?: ComponentChildren;
}) {
  return (
    <header class="head">
      <Avatar logo={widget.logo} name={title} />
      {title && <h1 dir="auto">{title}</h1>}
      <span class="space" />
      {children}
      {widget.chat && (
        <button class="icon" aria-label={texts.chat} title={texts.chat} onClick={() => host.tell("chat")}>
          <Icon name="chat" />
        </button>
      )}
      {host.embedded && (
        <button class="icon" aria-label={texts.close} title={texts.close} onClick={() => host.tell("close")}>
          <Icon name="close" />
        </button>
      )}
    </header>
  );
}

/** Avatar is the logo, or the initial of a name. */
function Avatar({ logo, name }: { logo?: string; name?: string }) {
  const [broken, setBroken] = useState("");
  if (logo && logo !== broken) return <img class="avatar logo" src={logo} alt="" onError={() => setBroken(logo)} />;
  return name ? (
    <span class="avatar" aria-hidden="true">
      {initial(name)}
    </span>
  ) : null;
}

function initial(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? "";
}

/** Number is what to quote when something has to be looked into. */
export function Number({ id, texts }: { id: string; texts: Texts }) {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    const done = () => {
      setCopied(true);
      setTimeout(() => setCopied(false), 3000);
    };
    if (navigator.clipboard) navigator.clipboard.writeText(id).then(done, () => select(done));
    else select(done);
  };
  const select = (done: () => void) => {
    // a frame may be denied the clipboard
    const range = document.createRange();
    range.selectNodeContents(document.getElementById("number")!);
    const s = getSelection();
    s?.removeAllRanges();
    s?.addRange(range);
    if (document.execCommand("copy")) done();
  };
  return (
    <p class="number">
      <span>{texts.number}</span>
      <code id="number">{id}</code>
      <button class="icon small" aria-label={texts.copy} title={texts.copy} onClick={copy}>
        <Icon name={copied ? "check" : "copy"} size={16} />
      </button>
      <span class="hidden" role="status">
        {copied ? texts.copied : ""}
      </span>
    </p>
  );
}
