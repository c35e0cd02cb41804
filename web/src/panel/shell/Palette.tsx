import "@mantine/spotlight/styles.css";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconBook2,
  IconBuilding,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconSearch,
  IconUserCircle,
} from "@tabler/icons-react";
import { useDebouncedValue, useLocalStorage } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState, type KeyboardEvent } from "react";
import { fill, useTexts } from "../i18n";
import { useCan, useCompany, useMe } from "../session";
import { signOut } from "./actions";
import { pagesOf } from "./sections";
import { kindOf, placeOf, useFound, type Hit } from "./search";
import { texts } from "./texts";
import { useTheme } from "./theme";

const [store, spotlight] = createSpotlight();

/** chooseFirst takes what is found first when Enter comes before the list has selected it. */
function chooseFirst(e: KeyboardEvent) {
  if (e.key === "Enter" && !document.querySelector(".palette [data-selected]"))
    document.querySelector<HTMLElement>(".palette [data-action]")?.click();
}

/** Palette finds pages, actions and what the company has. What was chosen last comes first. It opens whenever asked grows. */
export default function Palette({ asked, shortcuts }: { asked: number; shortcuts: () => void }) {
  const t = useTexts(texts);
  const can = useCan();
  const me = useMe();
  const company = useCompany();
  const navigate = useNavigate();
  const { shown, set } = useTheme();
  const [query, setQuery] = useState("");
  const text = query.trim();
  const [asking] = useDebouncedValue(text, 150);
  const results = useFound(asking);
  const [recent, setRecent] = useLocalStorage<Hit[]>({
    key: "carillon.recent." + company.id,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const found = text ? results : recent;
  useEffect(() => {
    if (asked > 0) spotlight.open();
  }, [asked]);
  const open = useCallback(
    (hit: Hit) => {
      setRecent((now) => [hit, ...now.filter((x) => x.kind !== hit.kind || x.id !== hit.id)].slice(0, 5));
      void navigate(placeOf(hit));
    },
    [setRecent, navigate],
  );
  const actions = useMemo(
    (): SpotlightActionGroupData[] => [
      ...(found.length > 0
        ? [
            {
              group: text ? t.results : t.recent,
              actions: found.map((hit) => ({
                id: hit.kind + " " + hit.id,
                label: hit.name,
                description: [t[kindOf(hit)], hit.text].filter(Boolean).join(" · "),
                keywords: text, // the server found it
                leftSection: <IconSearch size={18} stroke={1.7} />,
                onClick: () => open(hit),
              })),
            },
          ]
        : []),
      {
        group: t.pages,
        actions: [
          ...pagesOf(can).map(({ to, text, icon: Icon, keywords }) => ({
            id: to,
            label: t[text],
            keywords,
            leftSection: <Icon size={18} stroke={1.7} />,
            onClick: () => void navigate({ to }),
          })),
          {
            id: "/account",
            label: t.account,
            keywords: "password sessions profile",
            leftSection: <IconUserCircle size={18} stroke={1.7} />,
            onClick: () => void navigate({ to: "/account" }),
          },
        ],
      },
      {
        group: t.actions,
        actions: [
          ...me.companies
            .filter((c) => c.id !== company.id)
            .map((c) => ({
              id: c.id,
              label: fill(t.switchTo, { name: c.name }),
              leftSection: <IconBuilding size={18} stroke={1.7} />,
              onClick: () => void navigate({ to: "/", search: { company: c.id } }),
            })),
          {
            id: "theme",
            label: t.toggleTheme,
            keywords: "dark light",
            leftSection: <IconMoon size={18} stroke={1.7} />,
            onClick: () => set(shown === "dark" ? "light" : "dark"),
          },
          {
            id: "documentation",
            label: t.documentation,
            keywords: "docs help api reference guides",
            leftSection: <IconBook2 size={18} stroke={1.7} />,
            onClick: () => window.open("/docs", "_blank", "noopener"),
          },
          {
            id: "shortcuts",
            label: t.shortcuts,
            keywords: "keyboard help",
            leftSection: <IconKeyboard size={18} stroke={1.7} />,
            onClick: shortcuts,
          },
          {
            id: "sign-out",
            label: t.signOut,
            leftSection: <IconLogout size={18} stroke={1.7} />,
            onClick: () => void signOut(),
          },
        ],
      },
    ],
    [t, can, me, company, navigate, shown, set, shortcuts, text, found, open],
  );
  return (
    <Spotlight
      store={store}
      shortcut={null}
      query={query}
      onQueryChange={setQuery}
      actions={actions}
      nothingFound={t.nothing}
      scrollable
      centered={false}
      yOffset="12vh"
      overlayProps={{ backgroundOpacity: 0.35, blur: 0 }}
      classNames={{ content: "palette" }}
      maxHeight={420}
      radius="lg"
      attributes={{ content: { "aria-label": t.find } }}
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: t.palette,
        "aria-label": t.palette,
        autoFocus: true,
        onKeyDown: chooseFirst,
      }}
    />
  );
}
