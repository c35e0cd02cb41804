import { ActionIcon, Button, Checkbox, SegmentedControl, Textarea, TextInput, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { ButtonsField } from "./ButtonsField";
import { Counter } from "./Counter";
import { newButton, newCard, type Form, type FormCard } from "./form";
import { limits } from "./rules";
import { editorTexts } from "./texts";
import { markersOf } from "./variables";

interface Props {
  form: Form;
  set: (to: Partial<Form>) => void;
  error: (field: string) => ReactNode;
  left: (field: string) => void;
  /** handle reports whether the channel reviews pictures by uploaded samples. */
  handle: boolean;
}

/** ExtrasField has the parts that few templates have: an offer, a carousel, the request to call. */
export function ExtrasField({ form, set, error, left, handle }: Props) {
  const t = useTexts(editorTexts);
  const marketing = form.category === "MARKETING";
  const carousel = form.cards.length > 0;
  const toggle = () => {
    const first = { ...newCard(), buttons: [newButton("QUICK_REPLY")] };
    set({ cards: carousel ? [] : [first, newCard(first)] });
  };
  return (
    <div className="templates-extras" role="group" aria-label={t.extras}>
      <span className="field-label">
        {t.extras} <span className="muted templates-optional">{t.optional}</span>
      </span>
      {(marketing || form.offer.on) && (
        <Checkbox
          label={t.offer}
          description={t.offerHelp}
          checked={form.offer.on}
          error={error("offer")}
          onChange={(e) => set({ offer: { ...form.offer, on: e.currentTarget.checked } })}
        />
      )}
      {form.offer.on && (
        <div className="templates-extra">
          <TextInput
            label={t.offerText}
            value={form.offer.text}
            maxLength={40}
            error={error("offer.text")}
            onChange={(e) => set({ offer: { ...form.offer, text: e.currentTarget.value } })}
            rightSection={<Counter text={form.offer.text} most={limits.offer} />}
            rightSectionWidth={64}
            rightSectionPointerEvents="none"
          />
          <Checkbox
            label={t.offerExpires}
            checked={form.offer.expires}
            onChange={(e) => set({ offer: { ...form.offer, expires: e.currentTarget.checked } })}
          />
        </div>
      )}
      {(marketing || carousel) && (
        <Checkbox label={t.carousel} description={t.carouselHelp} checked={carousel} onChange={toggle} />
      )}
      {carousel && <Cards form={form} set={set} error={error} left={left} handle={handle} />}
      <Checkbox
        label={t.asksToCall}
        description={t.asksToCallHelp}
        checked={form.asksToCall}
        onChange={(e) => set({ asksToCall: e.currentTarget.checked })}
      />
    </div>
  );
}

const headers: Form["cardHeader"][] = ["IMAGE", "VIDEO", "PRODUCT"];

/** Cards are the cards of a carousel. Their buttons are alike, so a change of one's kinds changes all. */
function Cards({ form, set, error, left, handle }: Props) {
  const t = useTexts(editorTexts);
  const put = (i: number, to: Partial<FormCard>) =>
    set({ cards: form.cards.map((c, n) => (n === i ? { ...c, ...to } : c)) });
  const change = (i: number, buttons: FormCard["buttons"]) => {
    const alike = buttons.length === form.cards[i]!.buttons.length;
    set({
      cards: form.cards.map((c, n) =>
        n === i
          ? { ...c, buttons }
          : alike
            ? c
            : { ...c, buttons: buttons.map((b) => c.buttons.find((own) => own.type === b.type) ?? newButton(b.type)) },
      ),
    });
  };
  return (
    <div className="templates-extra">
      <SegmentedControl
        aria-label={t.cardHeader}
        className="templates-segments"
        value={form.cardHeader}
        onChange={(v) => set({ cardHeader: v })}
        data={headers.map((h) => ({ value: h, label: t[h] }))}
      />
      {error("cards") && (
        <p className="templates-error small" role="alert">
          {error("cards")}
        </p>
      )}
      {form.cards.map((c, i) => (
        <div key={c.key} className="templates-card" role="group" aria-label={fill(t.cardN, { n: i + 1 })}>
          <div className="templates-button-head">
            <b className="small">{fill(t.cardN, { n: i + 1 })}</b>
            <Tooltip label={t.removeButton}>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                disabled={form.cards.length <= 2}
                aria-label={fill(t.removeN, { name: fill(t.cardN, { n: i + 1 }) })}
                onClick={() => set({ cards: form.cards.filter((_, n) => n !== i) })}
              >
                <IconTrash size={15} />
              </ActionIcon>
            </Tooltip>
          </div>
          {form.cardHeader !== "PRODUCT" && handle && (
            <TextInput
              label={t.handle}
              description={t.handleHelp}
              spellCheck={false}
              autoComplete="off"
              value={c.handle}
              maxLength={2000}
              error={error(`cards.${i}.handle`)}
              onChange={(e) => put(i, { handle: e.currentTarget.value })}
            />
          )}
          <Textarea
            label={t.body}
            autosize
            minRows={2}
            value={c.body}
            maxLength={320}
            error={error(`cards.${i}.body`)}
            onBlur={() => left(`cards.${i}.body`)}
            onChange={(e) => put(i, { body: e.currentTarget.value })}
            rightSection={<Counter text={c.body} most={limits.cardBody} />}
            rightSectionWidth={64}
            rightSectionPointerEvents="none"
          />
          {markersOf(c.body).map((v) => (
            <TextInput
              key={v}
              label={fill(t.sampleOf, { name: `{{${v}}}` })}
              value={c.samples[v] ?? ""}
              maxLength={160}
              onChange={(e) => put(i, { samples: { ...c.samples, [v]: e.currentTarget.value } })}
            />
          ))}
          <ButtonsField
            buttons={c.buttons}
            change={(buttons) => change(i, buttons)}
            error={error}
            left={left}
            provider={handle ? "whatsapp" : undefined}
            at={`cards.${i}.buttons`}
            only={form.cardHeader === "PRODUCT" ? ["SPM", "URL"] : ["QUICK_REPLY", "URL", "PHONE_NUMBER"]}
            most={form.cardHeader === "PRODUCT" ? 1 : limits.cardButtons}
          />
        </div>
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={15} />}
        disabled={form.cards.length >= limits.cards}
        onClick={() => set({ cards: [...form.cards, newCard(form.cards[0])] })}
      >
        {t.addCard}
      </Button>
    </div>
  );
}
