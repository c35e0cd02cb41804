// What the tests of sent notifications have in common with the measurement of their list.
import { call } from "./world.mjs";

export const withKey = (company, path) => `${path}${path.includes("?") ? "&" : "?"}access_key=${company.access_key}`;

/** send sends a template of the demo to numbers of the sandbox, whose last digits say what becomes of it. */
export async function send(company, numbers, more = {}) {
  const contacts = numbers.map((number, i) => ({
    number,
    name: ["Ana", "Bea", "Carla", "Duarte", "Eva"][Math.min(i, 4)] + " " + Math.min(i, 4),
  }));
  const r = await call("POST", withKey(company, "/functions/v1/notify"), "", {
    ...(contacts.length === 1 ? { contact: contacts[0] } : { contacts }),
    language_template: "en",
    name_template: "hello",
    recipient_id: "demo",
    notification_type: "utility",
    campaign_name: "tours",
    components_push: { body_text_0: "{{name}}" },
    ...more,
  });
  return r.notification_id;
}
export const find = (company, id) => call("GET", withKey(company, "/functions/v1/notify/" + id + "?limit=100"));

export const row = (p, id) => p.locator(`tr[data-id="${id}"]`);
