import { AppShell } from "@mantine/core";
import { useDisclosure, useHotkeys, useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { useIsFetching, type Query } from "@tanstack/react-query";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { useTexts, withTexts } from "../i18n";
import { useCan, useCompany } from "../session";
import { Note, Page } from "../ui/parts";
import { writing } from "../ui/keys";
import { useSlow } from "../ui/waiting";
import { BottomBar } from "./BottomBar";
import { Nav } from "./Nav";
import { Shortcuts } from "./Shortcuts";
import { Stale } from "./Stale";
import { SubNav } from "./SubNav";
import { texts } from "./texts";

const Palette = lazy(withTexts(() => import("./Palette")));
const Calls = lazy(withTexts(() => import("../features/talk/Calls")));

const fit = { getInitialValueInEffect: false };

/** useIcons reports whether the menu shows icons alone: as chosen, else on narrow windows. A phone has the whole menu, which opens. */
function useIcons() {
  const phone = useMediaQuery("(max-width: 47.99em)", false, fit);
  const narrow = useMediaQuery("(max-width: 1199px)", false, fit);
  const [chosen, choose] = useLocalStorage<boolean | null>({ key: "carillon.nav.icons", defaultValue: null, ...fit });
  const icons = !phone && (chosen ?? narrow);
  return { icons, phone, toggle: phone ? undefined : () => choose(!icons) };
}

const pause = 60;
const guarded = 900;

/** useArrival puts the focus on the content after a way to another page, unless something there has taken it: the keyboard goes on there, not behind the link. A dialog that led there gives the focus back when it has closed; until somebody acts it comes along again. */
function useArrival(at: string) {
  const from = useRef(at);
  useEffect(() => {
    if (from.current === at) return;
    from.current = at;
    const begun = Date.now();
    const timer = setInterval(() => {
      const content = document.getElementById("content"),
        holder = document.activeElement;
      if (Date.now() - begun > guarded) done();
      else if (content && !content.contains(holder) && !holder?.closest("[role=dialog]"))
        content.focus({ preventScroll: true });
    }, pause);
    const done = () => {
      clearInterval(timer);
      clearTimeout(listens);
      window.removeEventListener("keydown", done);
      window.removeEventListener("pointerdown", done);
    };
    const listens = setTimeout(() => {
      // after the key or press that led here
      window.addEventListener("keydown", done);
      window.addEventListener("pointerdown", done);
    });
    return done;
  }, [at]);
}

/** unloaded reports whether a part of the page has no data yet. */
const unloaded = (q: Query): boolean => q.isActive() && q.state.data === undefined;

/** Shell is the frame of the pages: navigation, search, shortcuts. */
export function Shell() {
  const t = useTexts(texts);
  const company = useCompany();
  const can = useCan();
  const [menu, { toggle, close }] = useDisclosure(false);
  const [help, { open: showHelp, close: hideHelp }] = useDisclosure(false);
  const [searching, search] = useState(0); // how often the search was asked for: it is loaded the first time
  const at = useRouterState({ select: (s) => s.location.pathname });
  // A closed company has no pages, for a reason that the note gives; the account is the member's own.
  const closed = company.moving || company.suspended;
  const why = <Note tone="warn">{company.moving ? t.companyMoving : t.companySuspended}</Note>;
  const slow = useSlow(useIsFetching({ predicate: unloaded }) > 0);
  useEffect(close, [at, close]);
  const { icons, phone, toggle: toggleIcons } = useIcons();
  useArrival(at);
  useHotkeys([["mod+K", () => search((n) => n + 1)]], []);
  useEffect(() => {
    const keys = (e: KeyboardEvent) => {
      if (e.key === "?" && !e.ctrlKey && !e.metaKey && !e.altKey && !writing(e.target)) showHelp();
    };
    window.addEventListener("keydown", keys);
    return () => window.removeEventListener("keydown", keys);
  }, [showHelp]);
  return (
    <AppShell
      footer={{ height: { base: 56, sm: 0 } }}
      navbar={{ width: icons ? 64 : 240, breakpoint: "sm", collapsed: { mobile: !menu } }}
      transitionDuration={150}
    >
      <a href="#content" className="skip">
        {t.skip}
      </a>
      <AppShell.Navbar aria-label={t.navigation} component="nav" inert={phone && !menu}>
        <Nav search={() => search((n) => n + 1)} shortcuts={showHelp} icons={icons} toggle={toggleIcons} />
      </AppShell.Navbar>
      {can("conversations:answer") && (
        <Suspense>
          <Calls key={company.id} />
        </Suspense>
      )}
      <AppShell.Main id="content" tabIndex={-1} style={{ outline: "none" }} aria-busy={slow || undefined}>
        {closed && !at.startsWith("/account") ? (
          <Page title={company.name}>{why}</Page>
        ) : (
          <>
            {closed && (
              <div className="page" style={{ paddingBottom: 0 }}>
                {why}
              </div>
            )}
            <Stale slow={slow} />
            <SubNav />
            <Outlet />
          </>
        )}
      </AppShell.Main>
      <AppShell.Footer hiddenFrom="sm" component="nav" aria-label={t.menu}>
        <BottomBar menu={menu} more={toggle} />
      </AppShell.Footer>
      {searching > 0 && (
        <Suspense>
          <Palette asked={searching} shortcuts={showHelp} />
        </Suspense>
      )}
      <Shortcuts opened={help} close={hideHelp} />
    </AppShell>
  );
}
