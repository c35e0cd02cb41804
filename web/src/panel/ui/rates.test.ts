import { expect, it } from "vitest";
import { figuresOf, type Campaign } from "../features/campaigns/types";
import { rateOf, type Figures, type Rated } from "./rates";

const figures: Figures = {
  accepted: 100,
  waiting: 4,
  sent: 90,
  delivered: 80,
  answered: 30,
  read: 25,
  replied: 10,
  clicked: 5,
  failed: 8,
  skipped: 2,
  canceled: 1,
};
const shares = (f: Figures) =>
  (["waiting", "sent", "unconfirmed", "delivered", "read", "replied", "clicked", "failed", "left_out"] as Rated[]).map(
    (name) => {
      const { part, whole } = rateOf(name, f);
      return `${name} ${part}/${whole}`;
    },
  );

it("has one whole for each rate, and calls are never read", () => {
  expect(shares(figures)).toEqual([
    "waiting 4/100",
    "sent 90/100",
    "unconfirmed 5/90",
    "delivered 80/90",
    "read 25/50",
    "replied 10/50",
    "clicked 5/50",
    "failed 8/100",
    "left_out 3/100",
  ]);
});

it("is the same for a campaign as for the overview", () => {
  const { accepted, ...same } = figures;
  const campaign: Campaign = { name: "c", first_at: "", last_at: "", recipients: accepted, unconfirmed: 5, ...same };
  expect(shares(figuresOf(campaign))).toEqual(shares(figures));
});
