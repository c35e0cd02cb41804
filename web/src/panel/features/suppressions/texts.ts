import { dictionary } from "../../i18n";

export const texts = dictionary({
  title: "Suppressions", about: "Numbers that get no messages and calls from you, or no marketing. A request that names one skips it and goes on.", add: "Add numbers", export: "Export", search: "Number begins with…", digits: "Digits only",
  number: "Number", skips: "Skips", all: "Everything", marketing: "Marketing", allLong: "Everything", marketingLong: "Marketing only", why: "Why", who: "Who", when: "When", copy: "Copy the number", lift: "Lift", interface: "Interface", recipient: "Recipient",
  empty: "Nobody is suppressed", emptyText: "Numbers come here when people ask for no more messages, when the channel says so, or when you add them.", notFound: "Not on the list", notFoundText: "No suppressed number begins with {number}.",
  liftTitle: "Lift the suppression of {number}?", liftText: "Messages and calls reach the number again.", liftOwn: "The person asked not to be contacted. Lift it only if they have asked to be contacted again: doing so otherwise may be against the law.", lifted: "{number} is reached again",
  addTitle: "Add numbers", numbers: "Numbers", numbersHelp: "One, or a pasted list: one a line, or with commas. With country code.", badOne: "One entry is no number with country code:", bad: "{n} entries are no numbers with country code:", line: "Line {n}:",
  count: "{n} numbers.", repeated: "{n} repeated, counted once.", fix: "Correct or remove what is no number", whyHelp: "Optional. Shown in this list.", addN: "Add {n}", added: "{n} added", addedSome: "{n} added, {there} were on the list", tooMany: "At most {n} at once",
  reason_opted_out: "Opted out at the channel", reason_manual: "By hand", reason_asked_in_a_message: "Asked in a message", reason_asked_in_a_call: "Asked in a call",
}, {
  title: "Supresiones", about: "Números que no reciben sus mensajes ni llamadas, o no el marketing. Una petición que nombra uno lo omite y sigue.", add: "Añadir números", export: "Exportar", search: "El número empieza por…", digits: "Solo cifras",
  number: "Número", skips: "Omite", all: "Todo", marketing: "Marketing", allLong: "Todo", marketingLong: "Solo marketing", why: "Por qué", who: "Quién", when: "Cuándo", copy: "Copiar el número", lift: "Levantar", interface: "Interfaz", recipient: "Destinatario",
  empty: "No hay nadie suprimido", emptyText: "Los números llegan aquí cuando alguien pide no recibir más, cuando lo dice el canal o cuando usted los añade.", notFound: "No está en la lista", notFoundText: "Ningún número suprimido empieza por {number}.",
  liftTitle: "¿Levantar la supresión de {number}?", liftText: "Los mensajes y llamadas vuelven a llegar al número.", liftOwn: "La persona pidió no ser contactada. Levántela solo si ha pedido que la contacten de nuevo: de otro modo puede ser ilegal.", lifted: "{number} vuelve a recibir",
  addTitle: "Añadir números", numbers: "Números", numbersHelp: "Uno o una lista pegada: uno por línea, o con comas. Con prefijo de país.", badOne: "Una entrada no es un número con prefijo de país:", bad: "{n} entradas no son números con prefijo de país:", line: "Línea {n}:",
  count: "{n} números.", repeated: "{n} repetidos, contados una vez.", fix: "Corrija o quite lo que no es un número", whyHelp: "Opcional. Se muestra en esta lista.", addN: "Añadir {n}", added: "{n} añadidos", addedSome: "{n} añadidos, {there} ya estaban", tooMany: "Como máximo {n} a la vez",
  reason_opted_out: "Baja en el canal", reason_manual: "A mano", reason_asked_in_a_message: "Lo pidió en un mensaje", reason_asked_in_a_call: "Lo pidió en una llamada",
}, {
  title: "Supressões", about: "Números que não recebem as suas mensagens nem chamadas, ou não o marketing. Um pedido que indica um o ignora e continua.", add: "Adicionar números", export: "Exportar", search: "O número começa por…", digits: "Só dígitos",
  number: "Número", skips: "Ignora", all: "Tudo", marketing: "Marketing", allLong: "Tudo", marketingLong: "Só marketing", why: "Por quê", who: "Quem", when: "Quando", copy: "Copiar o número", lift: "Levantar", interface: "Interface", recipient: "Destinatário",
  empty: "Ninguém está suprimido", emptyText: "Os números chegam aqui quando alguém pede para não receber mais, quando o canal o diz ou quando os adiciona.", notFound: "Não está na lista", notFoundText: "Nenhum número suprimido começa por {number}.",
  liftTitle: "Levantar a supressão de {number}?", liftText: "Mensagens e chamadas voltam a chegar ao número.", liftOwn: "A pessoa pediu para não ser contatada. Levante-a só se pediu para ser contatada de novo: de outro modo pode ser ilegal.", lifted: "{number} volta a receber",
  addTitle: "Adicionar números", numbers: "Números", numbersHelp: "Um ou uma lista colada: um por linha, ou com vírgulas. Com código do país.", badOne: "Uma entrada não é um número com indicativo:", bad: "{n} entradas não são números com indicativo:", line: "Linha {n}:",
  count: "{n} números.", repeated: "{n} repetidos, contados uma vez.", fix: "Corrija ou retire o que não é um número", whyHelp: "Opcional. Mostra-se nesta lista.", addN: "Adicionar {n}", added: "{n} adicionados", addedSome: "{n} adicionados, {there} já estavam", tooMany: "No máximo {n} de uma vez",
  reason_opted_out: "Saiu no canal", reason_manual: "À mão", reason_asked_in_a_message: "Pediu em uma mensagem", reason_asked_in_a_call: "Pediu em uma chamada",
});
