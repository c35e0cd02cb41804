import { dictionary } from "../../i18n";

/** Texts of the list of notifications. */
export const texts = dictionary({
  title: "Notifications", about: "Everything that was sent, and what became of it.", filters: "Filters", clear: "Clear filters", live: "Live", offline: "Not live: reconnecting…",
  find: "Find by id or number", findHelp: "The id of a notification or message, yours or the provider's, or a telephone number", finding: "Looking…", notFound: "Nothing sent has this id. An id of the provider is looked for among the messages to its number, or the newest 1,000 notifications.",
  state: "State", anyState: "Any state", channel: "Channel", anyChannel: "Any channel", type: "Type", anyType: "Any type", sender: "Sender", anySender: "Any sender", campaign: "Campaign", number: "Number", from: "From", to: "Until",
  messaging: "Messages", voice: "Calls", transactional: "Transactional", utility: "Utility", marketing: "Marketing",
  scheduled: "Scheduled", in_progress: "In progress", completed: "Completed", canceled: "Canceled",
  queued: "Queued", sending: "Being sent", sent: "Sent", delivered: "Delivered", read: "Read", failed: "Failed", skipped: "Skipped",
  dialing: "Dialing", ringing: "Ringing", busy: "Busy", no_answer: "No answer", rejected: "Rejected", voicemail: "Voicemail",
  what: "Message", recipients: "Recipients", result: "Result", when: "When", call: "Call", one: "1 recipient", many: "{n} recipients", due: "due {time}",
  newOne: "1 new notification", newMany: "{n} new notifications", noneFound: "No notification fits these filters", noneFoundText: "Change a filter, or clear them all.",
  noneYet: "Nothing among the newest 5,000", noneYetText: "Older notifications have not been looked through yet.", searchOn: "Search older ones", lookedOn: "This part of the list has been looked through.",
  first: "Nothing has been sent yet", firstText: "Notifications appear here as they are accepted, by the interface or by this panel, and change as they are sent, delivered and read.", send: "Send the first one",
  keyNext: "Next notification", keyBack: "Previous notification", keyOpen: "Open it", keyFind: "Find by id or number", open: "Open {name}",
}, {
  title: "Notificaciones", about: "Todo lo que se ha enviado y su resultado.", filters: "Filtros", clear: "Quitar filtros", live: "En vivo", offline: "Sin conexión: reconectando…",
  find: "Buscar por id o número", findHelp: "El id de una notificación o de un mensaje, propio o del proveedor, o un número de teléfono", finding: "Buscando…", notFound: "Nada de lo enviado tiene este id. Un id del proveedor se busca entre los mensajes a su número o en las 1.000 notificaciones más recientes.",
  state: "Estado", anyState: "Cualquier estado", channel: "Canal", anyChannel: "Cualquier canal", type: "Tipo", anyType: "Cualquier tipo", sender: "Remitente", anySender: "Cualquier remitente", campaign: "Campaña", number: "Número", from: "Desde", to: "Hasta",
  messaging: "Mensajes", voice: "Llamadas", transactional: "Transaccional", utility: "Utilidad", marketing: "Marketing",
  scheduled: "Programada", in_progress: "En curso", completed: "Completada", canceled: "Cancelada",
  queued: "En cola", sending: "Enviando", sent: "Enviado", delivered: "Entregado", read: "Leído", failed: "Fallido", skipped: "Omitido",
  dialing: "Marcando", ringing: "Sonando", busy: "Ocupado", no_answer: "Sin respuesta", rejected: "Rechazada", voicemail: "Buzón de voz",
  what: "Mensaje", recipients: "Destinatarios", result: "Resultado", when: "Cuándo", call: "Llamada", one: "1 destinatario", many: "{n} destinatarios", due: "para {time}",
  newOne: "1 notificación nueva", newMany: "{n} notificaciones nuevas", noneFound: "Ninguna notificación coincide con estos filtros", noneFoundText: "Cambie un filtro o quítelos todos.",
  noneYet: "Nada entre las 5.000 más recientes", noneYetText: "Todavía no se ha buscado en las notificaciones más antiguas.", searchOn: "Buscar en las más antiguas", lookedOn: "La búsqueda en esta parte de la lista ha terminado.",
  first: "Aún no se ha enviado nada", firstText: "Las notificaciones aparecen aquí al aceptarse, por la API o desde este panel, y cambian al enviarse, entregarse y leerse.", send: "Enviar la primera",
  keyNext: "Notificación siguiente", keyBack: "Notificación anterior", keyOpen: "Abrir la notificación", keyFind: "Buscar por id o número", open: "Abrir {name}",
}, {
  title: "Notificações", about: "Tudo o que foi enviado e o resultado.", filters: "Filtros", clear: "Limpar filtros", live: "Ao vivo", offline: "Sem conexão: reconectando…",
  find: "Buscar por id ou número", findHelp: "O id de uma notificação ou mensagem, seu ou do provedor, ou um número de telefone", finding: "Procurando…", notFound: "Nada do que foi enviado tem este id. Um id do provedor é buscado entre as mensagens para o seu número ou nas 1.000 notificações mais recentes.",
  state: "Estado", anyState: "Qualquer estado", channel: "Canal", anyChannel: "Qualquer canal", type: "Tipo", anyType: "Qualquer tipo", sender: "Remetente", anySender: "Qualquer remetente", campaign: "Campanha", number: "Número", from: "Desde", to: "Até",
  messaging: "Mensagens", voice: "Chamadas", transactional: "Transacional", utility: "Utilidade", marketing: "Marketing",
  scheduled: "Agendada", in_progress: "Em andamento", completed: "Concluída", canceled: "Cancelada",
  queued: "Na fila", sending: "Enviando", sent: "Enviado", delivered: "Entregue", read: "Lido", failed: "Falhou", skipped: "Ignorado",
  dialing: "Discando", ringing: "Chamando", busy: "Ocupado", no_answer: "Sem resposta", rejected: "Recusada", voicemail: "Caixa postal",
  what: "Mensagem", recipients: "Destinatários", result: "Resultado", when: "Quando", call: "Chamada", one: "1 destinatário", many: "{n} destinatários", due: "para {time}",
  newOne: "1 notificação nova", newMany: "{n} notificações novas", noneFound: "Nenhuma notificação corresponde a estes filtros", noneFoundText: "Altere um filtro ou limpe todos.",
  noneYet: "Nada entre as 5.000 mais recentes", noneYetText: "Ainda não foi feita a busca nas notificações mais antigas.", searchOn: "Buscar nas mais antigas", lookedOn: "A busca nesta parte da lista terminou.",
  first: "Nada foi enviado ainda", firstText: "As notificações aparecem aqui quando são aceitas, pela API ou por este painel, e mudam ao serem enviadas, entregues e lidas.", send: "Enviar a primeira",
  keyNext: "Próxima notificação", keyBack: "Notificação anterior", keyOpen: "Abrir a notificação", keyFind: "Buscar por id ou número", open: "Abrir {name}",
});
export type SentTexts = Record<keyof typeof texts.en, string>;

/** stateText is the plain word for a state of a notification, message or call. */
export function stateText(t: SentTexts, s: string): string { return t[s as keyof SentTexts] ?? s; }
