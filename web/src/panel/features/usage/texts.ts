import { dictionary } from "../../i18n";

export const texts = dictionary({
  title: "Usage and limits", about: "What your company uses, and what it may use.", today: "Today", ofQuota: "of {quota} recipients ({share})", noQuota: "recipients; there is no daily quota", left: "left today", reset: "Starts again {when}: {time}",
  full: "Today's quota is used up: requests to send are refused with quota_exceeded until it starts again.", days: "Recipients a day, the last 30 days", total: "{n} in all", todayShort: "Today",
  daysMeaning: "Recipients accepted, by UTC day. Duplicates and suppressed numbers do not count; what is canceled is not given back.",
  limits: "Limits", limit: "Limit", value: "Value", unlimited: "No limit", perMinuteKey: "a minute and key", perMinuteAddress: "a minute and address", perDay: "a day", bytesPerDay: "bytes a day", daysUnit: "days", forEver: "For ever",
  sends: "Requests to send", sendsAbout: "Beyond it a request gets 429 with the seconds to wait. One request may have up to 100 recipients.", daily: "Recipients", dailyAbout: "Messages and calls together. A request that would pass it is refused whole.",
  dailyCalls: "Calls", dailyCallsAbout: "Of these recipients, those who are called. Further attempts at a call do not count.", bytes: "Stored requests", bytesAbout: "The size of what accepted requests occupy.", templates: "New templates", templatesAbout: "Created by the interface or here.", lists: "Reading lists", listsAbout: "Notifications, suppressions and usage by the interface.",
  templateLists: "Reading templates", templateListsAbout: "The list of approved templates by the interface.", widgets: "Widgets", widgetsAbout: "Requests of the chat and voice widgets from one internet address.",
  retention: "Retention", retentionAbout: "How long notifications that have ended and quiet conversations are kept. Figures of the overview stay for 400 days.",
  callsTitle: "Calls, the last 30 days", noCalls: "No calls were placed.", calls: "{placed} calls were placed, {dialed} were dialed, {answered} were answered ({share} of those dialed).",
}, {
  title: "Uso y límites", about: "Lo que usa su empresa y lo que puede usar.", today: "Hoy", ofQuota: "de {quota} destinatarios ({share})", noQuota: "destinatarios; no hay cuota diaria", left: "quedan hoy", reset: "Empieza de nuevo {when}: {time}",
  full: "La cuota de hoy está agotada: las peticiones de envío se rechazan con quota_exceeded hasta que empiece de nuevo.", days: "Destinatarios por día, últimos 30 días", total: "{n} en total", todayShort: "Hoy",
  daysMeaning: "Destinatarios aceptados, por día UTC. Los duplicados y los suprimidos no cuentan; lo cancelado no se descuenta.",
  limits: "Límites", limit: "Límite", value: "Valor", unlimited: "Sin límite", perMinuteKey: "por minuto y clave", perMinuteAddress: "por minuto y dirección", perDay: "por día", bytesPerDay: "bytes por día", daysUnit: "días", forEver: "Para siempre",
  sends: "Peticiones de envío", sendsAbout: "Al superarlo, la petición recibe un 429 con los segundos que hay que esperar. Una petición puede tener hasta 100 destinatarios.", daily: "Destinatarios", dailyAbout: "Mensajes y llamadas juntos. Una petición que lo supere se rechaza entera.",
  dailyCalls: "Llamadas", dailyCallsAbout: "De esos destinatarios, a los que se llama. Los nuevos intentos de una llamada no cuentan.", bytes: "Peticiones guardadas", bytesAbout: "El tamaño de lo que ocupan las peticiones aceptadas.", templates: "Plantillas nuevas", templatesAbout: "Creadas por la API o aquí.", lists: "Lectura de listas", listsAbout: "Notificaciones, supresiones y uso por la API.",
  templateLists: "Lectura de plantillas", templateListsAbout: "La lista de plantillas aprobadas por la API.", widgets: "Widgets", widgetsAbout: "Peticiones de los widgets de chat y voz desde una dirección de internet.",
  retention: "Conservación", retentionAbout: "Cuánto se guardan las notificaciones terminadas y las conversaciones inactivas. Las cifras del resumen se conservan 400 días.",
  callsTitle: "Llamadas, últimos 30 días", noCalls: "No se hizo ninguna llamada.", calls: "Se hicieron {placed} llamadas, se marcaron {dialed} y se contestaron {answered} ({share} de las marcadas).",
}, {
  title: "Uso e limites", about: "O que a sua empresa usa e o que pode usar.", today: "Hoje", ofQuota: "de {quota} destinatários ({share})", noQuota: "destinatários; não há cota diária", left: "restam hoje", reset: "Recomeça {when}: {time}",
  full: "A cota de hoje está esgotada: os pedidos de envio são recusados com quota_exceeded até ela recomeçar.", days: "Destinatários por dia, últimos 30 dias", total: "{n} no total", todayShort: "Hoje",
  daysMeaning: "Destinatários aceitos, por dia UTC. Duplicados e suprimidos não contam; o que é cancelado não é descontado.",
  limits: "Limites", limit: "Limite", value: "Valor", unlimited: "Sem limite", perMinuteKey: "por minuto e chave", perMinuteAddress: "por minuto e endereço", perDay: "por dia", bytesPerDay: "bytes por dia", daysUnit: "dias", forEver: "Para sempre",
  sends: "Pedidos de envio", sendsAbout: "Acima dele, o pedido recebe um 429 com os segundos de espera. Um pedido pode ter até 100 destinatários.", daily: "Destinatários", dailyAbout: "Mensagens e chamadas juntas. Um pedido que ultrapasse o limite é recusado por inteiro.",
  dailyCalls: "Chamadas", dailyCallsAbout: "Desses destinatários, os que recebem uma chamada. Novas tentativas de uma chamada não contam.", bytes: "Pedidos guardados", bytesAbout: "O tamanho que os pedidos aceitos ocupam.", templates: "Modelos novos", templatesAbout: "Criados pela API ou aqui.", lists: "Leitura de listas", listsAbout: "Notificações, supressões e uso pela API.",
  templateLists: "Leitura de modelos", templateListsAbout: "A lista de modelos aprovados pela API.", widgets: "Widgets", widgetsAbout: "Pedidos dos widgets de chat e voz vindos de um endereço de internet.",
  retention: "Retenção", retentionAbout: "Por quanto tempo são mantidas as notificações terminadas e as conversas paradas. Os números do resumo ficam por 400 dias.",
  callsTitle: "Chamadas, últimos 30 dias", noCalls: "Nenhuma chamada foi feita.", calls: "Foram feitas {placed} chamadas, {dialed} discadas e {answered} atendidas ({share} das discadas).",
});
