import { Menu } from "@mantine/core";
import { useRef, type ReactElement } from "react";
import { useTexts } from "../../i18n";
import { icons, kindText } from "./Icons";
import { kinds, type Kind } from "./model";
import { texts } from "./texts";

/** AddStep is a menu of the kinds of steps behind its child. The focus returns to the child, until a step that was added takes it. */
export function AddStep({ add, children }: { add: (kind: Kind) => void; children: ReactElement }) {
  const t = useTexts(texts);
  const box = useRef<HTMLSpanElement>(null);
  const back = () => box.current?.querySelector("button")?.focus({ preventScroll: true });
  return (
    <span ref={box} style={{ display: "contents" }}>
      <Menu position="bottom-start" width={280} withinPortal returnFocus={false} onClose={back}>
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: "auto" }}>
          {kinds.map((k) => {
            const Icon = icons[k];
            return (
              <Menu.Item key={k} leftSection={<Icon size={16} aria-hidden="true" />} onClick={() => add(k)}>
                <span>{kindText(k, t)}</span>
                <br />
                <span className="small muted">{t[`${k}Help`]}</span>
              </Menu.Item>
            );
          })}
        </Menu.Dropdown>
      </Menu>
    </span>
  );
}
