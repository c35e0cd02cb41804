import { Fragment } from "react";
import { Menu } from "@mantine/core";
import { IconCheck, IconSearch, IconSelector } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useTexts } from "../i18n";
import { queries, useCan, useCompany, useMe } from "../session";
import { initials } from "../format";
import { shared } from "../ui/texts";
import { AccountMenu } from "./AccountMenu";
import { sections } from "./sections";
import { texts } from "./texts";

const mac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Nav is the navigation: the company, the search, the pages, the account. */
export function Nav({ search, shortcuts }: { search: () => void; shortcuts: () => void }) {
  const t = useTexts(texts);
  const can = useCan();
  return (
    <div className="nav">
      <CompanySwitch />
      <button type="button" className="find" onClick={search}>
        <IconSearch size={15} aria-hidden="true" />
        {t.find}
        <kbd aria-hidden="true">{mac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      <div className="nav-links">
        {sections.map((s) => {
          const pages = s.pages.filter((p) => !p.needs || can(p.needs));
          if (pages.length === 0) return null;
          return (
            <div key={s.text} role="group" aria-label={t[s.text]}>
              <div className="nav-group" aria-hidden="true">
                {t[s.text]}
              </div>
              {pages.map(({ to, text, icon: Icon, count: Count, only: Only = Fragment }) => (
                <Only key={to}>
                  <Link to={to} className="nav-link" activeOptions={{ exact: to === "/" }}>
                    <Icon size={17} stroke={1.7} aria-hidden="true" />
                    {t[text]}
                    {Count && <Count />}
                  </Link>
                </Only>
              ))}
            </div>
          );
        })}
      </div>
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
    <Menu width="target" position="bottom-start" offset={4} withinPortal={false}>
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
              ) : c.suspended ? (
                <span className="small muted">{t.suspended}</span>
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
