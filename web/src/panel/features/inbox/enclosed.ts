import type { Order } from "./types";

/** money is an amount as the reader's language writes it; any other text stays as it is. */
export function money(amount: string | undefined, currency: string | undefined, language: string): string {
  if (!amount) return "";
  if (currency && isFinite(Number(amount))) {
    try {
      return new Intl.NumberFormat(language, { style: "currency", currency }).format(Number(amount));
    } catch {
      /* no currency that the browser knows */
    }
  }
  return currency ? `${amount} ${currency}` : amount;
}

/** total is the price of an order; "" where its prices are not all amounts of one currency. */
export function total(order: Order, language: string): string {
  const currency = order.items[0]?.currency;
  if (!currency) return "";
  let sum = 0;
  for (const x of order.items) {
    const cost = Number(x.price || NaN) * Number(x.quantity);
    if (x.currency !== currency || !isFinite(cost)) return "";
    sum += cost;
  }
  return money(String(Math.round(sum * 1000) / 1000), currency, language);
}
