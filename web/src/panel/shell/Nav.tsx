import { Menu, Tooltip } from "@mantine/core";
import { IconCheck, IconLayoutSidebar, IconSearch, IconSelector } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useTexts } from "../i18n";
import { queries, useCompany, useMe } from "../session";
import { initials } from "../format";
import { shared } from "../ui/texts";
import { AccountMenu } from "./AccountMenu";
import { NavLinks } from "./NavLinks";
import { texts } from "./texts";

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

interface Props {
  search: () => void;
  shortcuts: () => void;
  icons: boolean;
  /** toggle changes between icons and names; undefined where there is no room for a choice. */
  toggle?: () => void;
}

/** Nav is the navigation: the company, the search, the pages, the account. */
export function Nav({ search, shortcuts, icons, toggle }: Props) {
  const t = useTexts(texts);
  return (
    <div className={icons ? "nav icons" : "nav"}>
      <CompanySwitch />
      <Tooltip label={t.find} disabled={!icons} position="right">
        <button type="button" className="find" onClick={search}>
          <IconSearch size={15} aria-hidden="true" />
          <span className="nav-name">{t.find}</span>
          <kbd aria-hidden="true">{mac ? "⌘K" : "Ctrl K"}</kbd>
        </button>
      </Tooltip>
      <NavLinks icons={icons} />
      {toggle && (
        <Tooltip label={t.expand} disabled={!icons} position="right">
          <button type="button" className="nav-link" aria-expanded={!icons} onClick={toggle}>
            <IconLayoutSidebar size={17} stroke={1.7} aria-hidden="true" />
            <span className="nav-name">{icons ? t.expand : t.collapse}</span>
          </button>
        </Tooltip>
      )}
      <AccountMenu shortcuts={shortcuts} />
    </div>
  );
}

/** CompanySwitch names the company, and changes to another one. */
function CompanySwitch() {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const me = useMe();
  const company = useCompany();
  const navigate = useNavigate();
  const label = (
    <>
      <span className="mark" aria-hidden="true">
        {initials(company.name)}
      </span>
      <span className="two">
        <strong className="cut">{company.name}</strong>
        <span className="small muted cut">{s[company.role]}</span>
      </span>
    </>
  );
  if (me.companies.length < 2)
    return (
      <div className="switch" style={{ cursor: "default", background: "none" }}>
        {label}
      </div>
    );
  const go = (id: string) => {
    void navigate({ to: "/", search: { company: id } }).then(() =>
      queries.removeQueries({ predicate: (q) => q.queryKey[0] === company.id }),
    );
  };
  return (
    <Menu width={232} position="bottom-start" offset={4} withinPortal={false}>
      <Menu.Target>
        <button type="button" className="switch">
          {label}
          <IconSelector size={16} aria-hidden="true" />
          <span className="hidden">{t.company}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {me.companies.map((c) => (
          <Menu.Item
            key={c.id}
            onClick={() => go(c.id)}
            rightSection={
              c.id === company.id ? (
                <IconCheck size={15} />
              ) : c.suspended || c.moving ? (
                <span className="small muted">{c.moving ? t.moving : t.suspended}</span>
              ) : null
            }
          >
            {c.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
