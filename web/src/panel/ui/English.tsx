import { Fragment, type ReactNode } from "react";

/** English marks a sentence of the server or of a provider: it is English whatever the language of the page. */
export function English({ children }: { children: ReactNode }) {
  return <span lang="en">{children}</span>;
}

/** filled puts elements in the places {name} of a text. */
export function filled(text: string, values: Record<string, ReactNode>): ReactNode {
  return text
    .split(/\{(\w+)\}/)
    .map((part, i) => <Fragment key={i}>{i % 2 && part in values ? values[part] : part}</Fragment>);
}
