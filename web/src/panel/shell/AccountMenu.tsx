import { Popover, SegmentedControl } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBook2, IconKeyboard, IconLogout, IconSelector, IconUserCircle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { initials } from "../format";
import { languages, setLanguage, useLanguage, useTexts, type Language } from "../i18n";
import { useMe } from "../session";
import { signOut } from "./actions";
import { texts } from "./texts";
import { failed } from "../ui/problem";
import { useTheme } from "./theme";

/** AccountMenu is what is the person's own: account, theme, language, sign-out. */
export function AccountMenu({ shortcuts }: { shortcuts: () => void }) {
  const t = useTexts(texts);
  const me = useMe();
  const language = useLanguage();
  const { theme, set } = useTheme();
  const name = me.account.name || me.account.email;
  const [opened, { toggle, close }] = useDisclosure(false);
  return (
    <Popover
      opened={opened}
      onChange={(o) => {
        if (!o) close();
      }}
      width={264}
      position="right-end"
      middlewares={{ flip: { fallbackPlacements: ["top-start"] }, shift: true }}
      offset={6}
      withinPortal={false}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <button type="button" className="switch" onClick={toggle}>
          <span className="mark quiet" aria-hidden="true">
            {initials(name)}
          </span>
          <span className="two">
            <span className="cut">{name}</span>
            {me.account.name && <span className="small muted cut">{me.account.email}</span>}
          </span>
          <IconSelector size={16} aria-hidden="true" />
        </button>
      </Popover.Target>
      <Popover.Dropdown p={6} aria-label={t.account}>
        <Link to="/account" className="nav-link" onClick={close}>
          <IconUserCircle size={17} stroke={1.7} />
          {t.account}
        </Link>
        <a href="/docs" target="_blank" rel="noopener" className="nav-link" onClick={close}>
          <IconBook2 size={17} stroke={1.7} />
          {t.documentation}
        </a>
        <button
          type="button"
          className="nav-link"
          onClick={() => {
            close();
            shortcuts();
          }}
        >
          <IconKeyboard size={17} stroke={1.7} />
          {t.shortcuts}
        </button>
        <div style={{ padding: "6px 10px 10px", display: "grid", gap: 6 }}>
          <span className="small muted" id="theme-label">
            {t.theme}
          </span>
          <SegmentedControl
            size="xs"
            fullWidth
            aria-labelledby="theme-label"
            value={theme}
            onChange={(v) => set(v)}
            data={[
              { value: "light", label: t.light },
              { value: "dark", label: t.dark },
              { value: "auto", label: t.system },
            ]}
          />
          <span className="small muted" id="language-label">
            {t.language}
          </span>
          <SegmentedControl
            size="xs"
            fullWidth
            aria-labelledby="language-label"
            value={language}
            onChange={(v) => void setLanguage(v as Language).catch(failed)}
            data={Object.entries(languages).map(([value, label]) => ({ value, label }))}
          />
        </div>
        <button type="button" className="nav-link" onClick={() => void signOut()}>
          <IconLogout size={17} stroke={1.7} />
          {t.signOut}
        </button>
      </Popover.Dropdown>
    </Popover>
  );
}
