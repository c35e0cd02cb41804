import { ActionIcon, Button, Checkbox, Menu, TextInput, Tooltip } from "@mantine/core";
import {
  IconAddressBook,
  IconArrowBackUp,
  IconArrowDown,
  IconArrowUp,
  IconBuildingStore,
  IconCopy,
  IconExternalLink,
  IconForms,
  IconPackage,
  IconPhone,
  IconPhoneCall,
  IconPlus,
  IconShoppingBag,
  IconTrash,
} from "@tabler/icons-react";
import { useRef, type ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { Counter } from "./Counter";
import { editorTexts } from "./texts";
import { labels, newButton, type ButtonKind, type FormButton } from "./form";
import { countedUrl, isCounted, mayCount } from "./links";
import { limits } from "./rules";
import { markersOf } from "./variables";

interface Props {
  buttons: FormButton[];
  change: (to: FormButton[]) => void;
  error: (field: string) => ReactNode;
  left: (field: string) => void;
  /** at is the field of the form that has the buttons: buttons, or cards.0.buttons. */
  at?: string;
  /** only are the kinds that may be here, and most how many; by default all. */
  only?: ButtonKind[];
  most?: number;
  /** provider is the sender's, if it is known. */
  provider?: string;
}

const kinds: Record<ButtonKind, typeof IconPhone> = {
  QUICK_REPLY: IconArrowBackUp,
  URL: IconExternalLink,
  PHONE_NUMBER: IconPhone,
  COPY_CODE: IconCopy,
  FLOW: IconForms,
  CATALOG: IconBuildingStore,
  MPM: IconShoppingBag,
  SPM: IconPackage,
  VOICE_CALL: IconPhoneCall,
  REQUEST_CONTACT_INFO: IconAddressBook,
};
const all = Object.keys(kinds) as ButtonKind[];

/** ButtonsField is the buttons under a template. */
export function ButtonsField({
  buttons,
  change,
  error,
  left,
  at: place = "buttons",
  only = all,
  most = limits.buttons,
  provider,
}: Props) {
  const t = useTexts(editorTexts);
  const box = useRef<HTMLDivElement>(null);
  const count = (type: ButtonKind) => buttons.filter((b) => b.type === type).length;
  const full = buttons.length >= most;
  const room = (type: ButtonKind): boolean =>
    !full && (type === "QUICK_REPLY" || count(type) < (type === "URL" ? limits.urls : 1));
  const set = (i: number, to: Partial<FormButton>) => change(buttons.map((b, n) => (n === i ? { ...b, ...to } : b)));
  const add = (type: ButtonKind) => {
    const last = buttons.map((b) => b.type).lastIndexOf("QUICK_REPLY"); // quick replies stand together
    const at = type === "QUICK_REPLY" && last >= 0 ? last + 1 : buttons.length;
    change([...buttons.slice(0, at), newButton(type), ...buttons.slice(at)]);
    requestAnimationFrame(() =>
      box.current?.querySelectorAll<HTMLInputElement>(".templates-button input")[inputsBefore(buttons, at)]?.focus(),
    );
  };
  const move = (i: number, by: number) => {
    const next = [...buttons];
    [next[i], next[i + by]] = [next[i + by]!, next[i]!];
    change(next);
  };
  return (
    <div ref={box} className="templates-buttons" role="group" aria-label={t.buttons}>
      <span className="field-label">
        {t.buttons} <span className="muted templates-optional">{t.optional}</span>
      </span>
      {buttons.map((b, i) => {
        const Icon = kinds[b.type];
        const name = b.text || t[b.type];
        const at = `${place}.${i}.`;
        return (
          <div
            key={b.key}
            className="templates-button"
            role="group"
            aria-label={fill(t.buttonN, { n: i + 1, name: t[b.type] })}
          >
            <div className="templates-button-head">
              <span className="small muted">
                <Icon size={14} aria-hidden="true" />
                {t[b.type]}
              </span>
              <span className="templates-button-acts">
                <Tooltip label={t.up}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size="sm"
                    disabled={i === 0}
                    aria-label={fill(t.moveUp, { name })}
                    onClick={() => move(i, -1)}
                  >
                    <IconArrowUp size={15} />
                  </ActionIcon>
                </Tooltip>
                <Tooltip label={t.down}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size="sm"
                    disabled={i === buttons.length - 1}
                    aria-label={fill(t.moveDown, { name })}
                    onClick={() => move(i, 1)}
                  >
                    <IconArrowDown size={15} />
                  </ActionIcon>
                </Tooltip>
                <Tooltip label={t.removeButton}>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    size="sm"
                    aria-label={fill(t.removeN, { name })}
                    onClick={() => change(buttons.filter((_, n) => n !== i))}
                  >
                    <IconTrash size={15} />
                  </ActionIcon>
                </Tooltip>
              </span>
            </div>
            <TextInput
              label={t.buttonText}
              value={b.text}
              maxLength={60}
              disabled={!!labels[b.type]}
              description={labels[b.type] ? t.labelFixed : undefined}
              error={error(at + "text")}
              onChange={(e) => set(i, { text: e.currentTarget.value })}
              rightSection={<Counter text={b.text} most={limits.button} />}
              rightSectionWidth={64}
              rightSectionPointerEvents="none"
            />
            {b.type === "URL" && !isCounted(b.url) && (
              <TextInput
                label={t.url}
                description={t.urlHelp}
                placeholder="https://"
                type="url"
                spellCheck={false}
                value={b.url}
                maxLength={2100}
                error={error(at + "url")}
                onBlur={() => left(at + "url")}
                onChange={(e) => set(i, { url: e.currentTarget.value })}
              />
            )}
            {b.type === "URL" && !isCounted(b.url) && markersOf(b.url).length > 0 && (
              <TextInput
                label={fill(t.sampleOf, { name: `{{${markersOf(b.url)[0]}}}` })}
                value={b.sample}
                maxLength={500}
                onChange={(e) => set(i, { sample: e.currentTarget.value })}
              />
            )}
            {b.type === "URL" && (
              <Checkbox
                label={t.countClicks}
                description={
                  isCounted(b.url) || mayCount(provider) ? fill(t.countClicksHelp, { url: countedUrl }) : t.countNoHttps
                }
                checked={isCounted(b.url)}
                disabled={!isCounted(b.url) && !mayCount(provider)}
                error={isCounted(b.url) && error(at + "url")}
                onChange={(e) => set(i, { url: e.currentTarget.checked ? countedUrl : "", sample: "" })}
              />
            )}
            {b.type === "COPY_CODE" && (
              <TextInput
                label={t.couponSample}
                description={t.couponHelp}
                spellCheck={false}
                value={b.sample}
                maxLength={40}
                error={error(at + "sample")}
                onChange={(e) => set(i, { sample: e.currentTarget.value })}
              />
            )}
            {b.type === "FLOW" && (
              <TextInput
                label={t.flow}
                description={t.flowHelp}
                spellCheck={false}
                value={b.flow}
                maxLength={100}
                error={error(at + "flow")}
                onChange={(e) => set(i, { flow: e.currentTarget.value })}
              />
            )}
            {b.type === "PHONE_NUMBER" && (
              <TextInput
                label={t.phone}
                description={t.phoneHelp}
                type="tel"
                value={b.phone}
                maxLength={30}
                error={error(at + "phone")}
                onChange={(e) => set(i, { phone: e.currentTarget.value })}
              />
            )}
          </div>
        );
      })}
      {error(place) && (
        <p className="templates-error small" role="alert">
          {error(place)}
        </p>
      )}
      <Menu position="bottom-start" width={280} withinPortal={false}>
        <Menu.Target>
          <Button variant="default" size="xs" leftSection={<IconPlus size={15} />} disabled={full}>
            {t.addButton}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {only.map((type) => {
            const Icon = kinds[type];
            return (
              <Menu.Item key={type} leftSection={<Icon size={16} />} disabled={!room(type)} onClick={() => add(type)}>
                {t[type]}
                <span className="templates-kind small muted">{t[`${type}_help`]}</span>
              </Menu.Item>
            );
          })}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

/** inputsBefore is how many fields the buttons before one have. */
function inputsBefore(buttons: FormButton[], at: number): number {
  return buttons
    .slice(0, at)
    .reduce(
      (n, b) =>
        n +
        1 +
        (b.type === "URL" ? (isCounted(b.url) ? 1 : 2 + Math.min(markersOf(b.url).length, 1)) : 0) +
        (["PHONE_NUMBER", "COPY_CODE", "FLOW"].includes(b.type) ? 1 : 0),
      0,
    );
}
