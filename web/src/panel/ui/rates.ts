// Rates of recipients, defined once: docs/concepts.md has the same definitions.

/** Figures are numbers of recipients; sent, delivered and read include those that came further. answered are the calls in delivered, replied those who wrote back, clicked those who followed a counted link. */
export interface Figures {
  accepted: number;
  waiting: number;
  sent: number;
  delivered: number;
  answered: number;
  read: number;
  replied: number;
  clicked: number;
  failed: number;
  skipped: number;
  canceled: number;
}

export type Rated =
  "waiting" | "sent" | "unconfirmed" | "delivered" | "read" | "replied" | "clicked" | "failed" | "left_out";
export type Whole = "accepted" | "sent" | "readable";

/** of is what each rate is a share of. Nobody can read a call: those that were answered are not readable. */
export const of: Record<Rated, Whole> = {
  waiting: "accepted",
  sent: "accepted",
  unconfirmed: "sent",
  delivered: "sent",
  read: "readable",
  replied: "readable",
  clicked: "readable",
  failed: "accepted",
  left_out: "accepted",
};

/** Rate is a part of a whole. */
export interface Rate {
  part: number;
  whole: number;
  of: Whole;
}

/** rateOf is a rate of figures. */
export function rateOf(name: Rated, f: Figures): Rate {
  const parts: Record<Rated, number> = {
    waiting: f.waiting,
    sent: f.sent,
    unconfirmed: Math.max(0, f.accepted - f.waiting - f.delivered - f.failed - f.skipped - f.canceled),
    delivered: f.delivered,
    read: f.read,
    replied: f.replied,
    clicked: f.clicked,
    failed: f.failed,
    left_out: f.skipped + f.canceled,
  };
  const wholes: Record<Whole, number> = { accepted: f.accepted, sent: f.sent, readable: f.delivered - f.answered };
  return { part: parts[name], whole: wholes[of[name]], of: of[name] };
}

/** parts are what becomes of recipients, each in one of them: as in outcomeOf, from the best to the worst. */
export const parts = ["read", "delivered", "unconfirmed", "waiting", "left_out", "failed"] as const;
export type Part = (typeof parts)[number];

/** partsOf are figures without overlap. delivered are those who have not read it; of calls, the answered. */
export function partsOf(f: Figures): Record<Part, number> {
  const part = (name: Rated) => rateOf(name, f).part;
  return {
    read: f.read,
    delivered: Math.max(0, f.delivered - f.read),
    unconfirmed: part("unconfirmed"),
    waiting: f.waiting,
    left_out: part("left_out"),
    failed: f.failed,
  };
}
