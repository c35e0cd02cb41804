import { Fragment, type ReactNode } from "react";
import { Tooltip } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { IconChevronDown, IconFileCode } from "@tabler/icons-react";
import { Link, useRouterState } from "@tanstack/react-router";
import { useTexts } from "../i18n";
import { useCan } from "../session";
import { useFading } from "../ui/fading";
import { covers, entriesOf, sections, type Entry, type Section } from "./sections";
import { texts } from "./texts";

/** NavLinks are the pages in their groups; icons shows them without their names. */
export function NavLinks({ icons }: { icons: boolean }) {
  const can = useCan();
  const path = useRouterState({ select: (s) => s.location.pathname });
  const list = useFading<HTMLDivElement>(path);
  const groups = sections.map((s, i) => {
    const entries = entriesOf(s, can);
    return entries.length > 0 && <Group key={s.text ?? i} section={s} entries={entries} path={path} icons={icons} />;
  });
  return (
    <>
      <div className="nav-links fading-y" ref={list}>
        {groups.slice(0, -1)}
      </div>
      {groups.at(-1)}
    </>
  );
}

interface GroupProps {
  section: Section;
  entries: Entry[];
  path: string;
  icons: boolean;
}

function Group({ section, entries, path, icons }: GroupProps) {
  const t = useTexts(texts);
  const [opened, setOpened] = useLocalStorage({
    key: "carillon.nav." + section.text,
    defaultValue: !section.collapsed,
    getInitialValueInEffect: false,
  });
  const shown = opened || entries.some((e) => at(e, path));
  return (
    <div role="group" aria-label={section.text && t[section.text]} className={section.text ? undefined : "nav-bare"}>
      {section.collapsed ? (
        <Named label={t.developers} icons={icons}>
          <button
            type="button"
            className="nav-link nav-fold"
            aria-expanded={shown}
            onClick={() => setOpened(!shown)}
            data-open={shown || undefined}
          >
            {icons && <IconFileCode size={17} stroke={1.7} aria-hidden="true" />}
            <span className="nav-name">{t.developers}</span>
            <IconChevronDown size={14} aria-hidden="true" className="nav-chevron" />
          </button>
        </Named>
      ) : (
        section.text && (
          <div className="nav-group" aria-hidden="true">
            <span className="nav-name">{t[section.text]}</span>
          </div>
        )
      )}
      {shown && entries.map((e) => <Line key={e.text} entry={e} path={path} icons={icons} />)}
      {shown && section.collapsed && (
        <Named label={t.docs} icons={icons}>
          <a href="/docs" target="_blank" rel="noopener" className="nav-link">
            <IconFileCode size={17} stroke={1.7} aria-hidden="true" />
            <span className="nav-name">{t.docs}</span>
          </a>
        </Named>
      )}
    </div>
  );
}

const at = (e: Entry, path: string): boolean => (e.tabs ?? [e]).some((p) => covers(p, path));

function Line({ entry, path, icons }: { entry: Entry; path: string; icons: boolean }) {
  const t = useTexts(texts);
  const { icon: Icon, count: Count, only: Only = Fragment } = entry;
  return (
    <Only>
      <Named label={t[entry.text]} icons={icons}>
        <Link
          to={entry.to}
          className="nav-link"
          activeOptions={{ exact: entry.to === "/" }}
          aria-current={at(entry, path) ? "page" : undefined}
        >
          <Icon size={17} stroke={1.7} aria-hidden="true" />
          <span className="nav-name">{t[entry.text]}</span>
          {Count && <Count />}
        </Link>
      </Named>
    </Only>
  );
}

/** Named shows the name of an icon beside it. */
function Named({ label, icons, children }: { label: string; icons: boolean; children: ReactNode }) {
  return (
    <Tooltip label={label} disabled={!icons} position="right" events={{ hover: true, focus: true, touch: false }}>
      {children}
    </Tooltip>
  );
}
