// Flows to begin with, in the language of the page.
import type { Language } from "../../i18n";
import type { Flow } from "./types";

export const exampleNames = ["menu", "order", "appointment", "blank"] as const;
export type ExampleName = (typeof exampleNames)[number];

const words = {
  en: {
    menu: "menu",
    hello: "Hello {{first_name}}, what can we do for you?",
    prices: "Prices",
    hours: "Opening hours",
    person: "A person",
    priceText: "Our prices are at example.com/prices.",
    hoursText: "We are open from Monday to Friday, 9 to 18.",
    wants: "Wants a person",
    else: "Can we help with anything else?",
    arrived: "Hello {{first_name}}, did your order arrive?",
    yes: "yes",
    no: "no",
    missing: "The order did not arrive",
    thanks: "Thank you, enjoy it!",
    day: "Does {{date}} at {{time}} still suit you?",
    asks: "One moment, I am asking.",
    confirmed: "Confirmed. See you then!",
    full: "The appointment cannot be confirmed",
    other: "Another time is wanted",
  },
  es: {
    menu: "menú",
    hello: "Hola {{first_name}}, ¿qué necesita?",
    prices: "Precios",
    hours: "Horario",
    person: "Una persona",
    priceText: "Nuestros precios están en example.com/precios.",
    hoursText: "Abrimos de lunes a viernes, de 9 a 18.",
    wants: "Quiere una persona",
    else: "¿Podemos ayudarle en algo más?",
    arrived: "Hola {{first_name}}, ¿recibió su pedido?",
    yes: "sí",
    no: "no",
    missing: "El pedido no llegó",
    thanks: "¡Gracias, que lo disfrute!",
    day: "¿Le sigue yendo bien el {{date}} a las {{time}}?",
    asks: "Un momento, lo consulto.",
    confirmed: "Confirmado. ¡Hasta entonces!",
    full: "No se puede confirmar la cita",
    other: "Quiere otra hora",
  },
  pt: {
    menu: "menu",
    hello: "Olá, {{first_name}}! Em que podemos ajudar?",
    prices: "Preços",
    hours: "Horário",
    person: "Uma pessoa",
    priceText: "Nossos preços estão em example.com/precos.",
    hoursText: "Abrimos de segunda a sexta, das 9h às 18h.",
    wants: "Quer falar com uma pessoa",
    else: "Podemos ajudar em mais alguma coisa?",
    arrived: "Olá, {{first_name}}! Você recebeu o seu pedido?",
    yes: "sim",
    no: "não",
    missing: "O pedido não chegou",
    thanks: "Obrigado, aproveite!",
    day: "O dia {{date}}, às {{time}}, continua bom para você?",
    asks: "Um momento, vou verificar.",
    confirmed: "Confirmado. Até lá!",
    full: "Não foi possível confirmar o agendamento",
    other: "Quer outro horário",
  },
};

/** example is a flow to begin with. */
export function example(which: ExampleName, name: string, language: Language): Flow {
  const w = words[language];
  switch (which) {
    case "menu":
      return {
        name,
        trigger: { keywords: [w.menu] },
        steps: [
          { id: "menu", ask: "wish", question: w.hello, choices: [w.prices, w.hours, w.person] },
          {
            if: `wish == '${w.person}'`,
            then: [{ handoff: w.wants }],
            else: [{ if: `wish == '${w.prices}'`, then: [{ say: w.priceText }], else: [{ say: w.hoursText }] }],
          },
          { ask: "more", question: w.else, accept: "yes_no" },
          { if: "more == 'yes'", then: [{ goto: "menu" }], else: [{ end: true }] },
        ],
      };
    case "order":
      return {
        name,
        trigger: { event: "order-shipped" },
        steps: [
          { ask: "received", question: w.arrived, choices: [w.yes, w.no] },
          { if: `received == '${w.no}'`, then: [{ handoff: w.missing }], else: [{ say: w.thanks }, { end: true }] },
        ],
      };
    case "appointment":
      return {
        name,
        trigger: { event: "appointment" },
        steps: [
          { ask: "suits", question: w.day, accept: "yes_no" },
          {
            if: "suits == 'yes'",
            then: [
              { say: w.asks },
              {
                http: {
                  method: "POST",
                  url: "https://example.com/appointments/{{appointment_id}}/confirm",
                  status: "status",
                },
              },
              { if: "status == 200", then: [{ say: w.confirmed }, { end: true }], else: [{ handoff: w.full }] },
            ],
            else: [{ handoff: w.other }],
          },
        ],
      };
    case "blank":
      return { name, trigger: {}, steps: [] };
  }
}
