import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Host } from "../host";
import type { Texts } from "../texts";
import { Icon } from "./Icon";

/** Head is the line at the top: who this is, what is to be had there, and how to leave. */
export function Head({
  host,
  texts,
  title,
  children,
}: {
  host: Host;
  texts: Texts;
  title?: string;
  children?: ComponentChildren;
}) {
  return (
    <header class="head">
      {title && (
        <>
          <span class="avatar" aria-hidden="true">
            {initial(title)}
          </span>
          <h1 dir="auto">{title}</h1>
        </>
      )}
      <span class="space" />
      {children}
      {host.embedded && (
        <button class="icon" aria-label={texts.close} title={texts.close} onClick={() => host.tell("close")}>
          <Icon name="close" />
        </button>
      )}
    </header>
  );
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
