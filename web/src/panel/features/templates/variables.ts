// The values that a template takes, and their keys in a request, such as header_text_0, header_image, body_text_N and button_url_N.
import { isCounted } from "./links";
import type { TemplateButton, TemplateComponent } from "./types";

const marker = /\{\{\s*([^{}]+?)\s*\}\}/g;

/** Place is one value that a template takes: its name in the text, and its key. Two with the same name in the body are one. */
export interface Place {
  key: string;
  name: string;
  part:
    "header" | "media" | "body" | "button" | "location" | "product" | "code" | "coupon" | "offer" | "products" | "flow";
  /** n is the position of a button, or of a variable in the body. */
  n: number;
  /** card is the position of the card that the place is on. */
  card?: number;
  optional?: boolean;
  /** counted: the value is the address that a counted link leads to. */
  counted?: boolean;
}

/** markersOf are the names of the variables of a text: numbers by their value, names in the order in which they appear. */
export function markersOf(text: string): string[] {
  const found = [...new Set([...text.matchAll(marker)].map((m) => m[1]!))];
  return found.every((n) => /^\d+$/.test(n)) ? found.sort((a, b) => Number(a) - Number(b)) : found;
}

/** typeOf is the type of a part; the channel writes some in small letters. */
export const typeOf = (c: TemplateComponent): string => c.type.toUpperCase();

/** partOf is the part of a type. */
export const partOf = (components: TemplateComponent[], type: string): TemplateComponent | undefined =>
  components.find((c) => typeOf(c) === type);

/** placesOf are the values that a template takes, in the order of its parts. */
export function placesOf(components: TemplateComponent[]): Place[] {
  const buttons = partOf(components, "BUTTONS")?.buttons ?? [];
  const code = buttons.some(copiesCode); // stands in the text too
  const body = code ? [] : markersOf(partOf(components, "BODY")?.text ?? "");
  return [
    ...headerPlaces(partOf(components, "HEADER")),
    ...(partOf(components, "LIMITED_TIME_OFFER")?.limited_time_offer?.has_expiration
      ? [{ key: "offer_expiration", name: "expiration", part: "offer", n: 0 } as const]
      : []),
    ...body.map((name, n) => ({ key: "body_text_" + n, name, part: "body", n }) as const),
    ...buttons.flatMap(buttonPlaces),
    ...(partOf(components, "CAROUSEL")?.cards ?? []).flatMap((x, card) =>
      placesOf(x.components).map((place) => ({ ...place, key: `card_${card}_${place.key}`, card })),
    ),
  ];
}

function headerPlaces(header: TemplateComponent | undefined): Place[] {
  const format = header?.format?.toUpperCase() ?? "TEXT";
  if (format === "LOCATION")
    return ["latitude", "longitude", "name", "address"].map((name) => ({
      key: "header_location_" + name,
      name,
      part: "location",
      n: 0,
    }));
  if (format === "PRODUCT")
    return ["product", "catalog"].map((name) => ({ key: "header_" + name, name, part: "product", n: 0 }));
  if (format !== "TEXT") {
    const name = format.toLowerCase();
    return [{ key: "header_" + name, name, part: "media", n: 0 }];
  }
  return markersOf(header?.text ?? "")
    .slice(0, 1)
    .map((name) => ({ key: "header_text_0", name, part: "header", n: 0 }));
}

/** copiesCode reports whether a button takes a one-time code; the channel lists it as a link that names the method. */
export const copiesCode = (b: TemplateButton): boolean => b.type === "OTP" || !!b.url?.includes("otp_type=");

function buttonPlaces(b: TemplateButton, n: number): Place[] {
  if (copiesCode(b)) return [{ key: "button_url_" + n, name: "code", part: "code", n }];
  switch (b.type) {
    case "COPY_CODE":
      return [{ key: "button_coupon_" + n, name: "coupon", part: "coupon", n }];
    case "CATALOG":
      return [{ key: "button_product_" + n, name: "thumbnail", part: "product", n, optional: true }];
    case "MPM":
      return [
        { key: "button_product_" + n, name: "thumbnail", part: "product", n },
        { key: "button_products_" + n, name: "products", part: "products", n },
      ];
    case "FLOW":
      return [{ key: "button_flow_" + n, name: "token", part: "flow", n, optional: true }];
  }
  return markersOf(b.url ?? "")
    .slice(0, 1)
    .map((name) => ({
      key: "button_url_" + n,
      name,
      part: "button",
      n,
      ...(isCounted(b.url) ? { counted: true } : {}),
    }));
}

/** filledIn replaces the variables of a text. */
export function filledIn(text: string, value: (name: string, whole: string) => string): string {
  return text.replace(marker, (whole, name: string) => value(name, whole));
}
