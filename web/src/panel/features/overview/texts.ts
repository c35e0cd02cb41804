import { dictionary } from "../../i18n";

export const texts = dictionary({
  title: "Overview", about: "What became of your messages and calls, and what needs you.", asOf: "As of {time}", range: "Range", "24h": "24 hours", "7d": "7 days", "30d": "30 days", own: "Own", from: "From", to: "To",
  filters: "Range and filters", campaign: "Campaign", type: "Type", anyType: "Any type", template: "Template", anyTemplate: "Any template", sender: "Sender", anySender: "Any sender", channel: "Channel", anyChannel: "Any channel", clear: "Clear filters",
  transactional: "Transactional", utility: "Utility", marketing: "Marketing", messaging: "Messages", voice: "Calls",
  accepted: "Accepted", sent: "Sent", delivered: "Delivered", read: "Read", failed: "Failed", lateness: "Lateness", waitingN: "{n} still waiting", noneWaiting: "None waiting",
  ofAccepted: "{share} of accepted", ofSent: "{share} of sent", ofDelivered: "{share} of delivered", latest: "95 %: {p95} · 99 %: {p99}", noLateness: "Nothing sent yet",
  overTime: "Over time", form: "Form", chart: "Chart", table: "Table", chartHelp: "Chart of accepted, delivered, read and failed over time. The arrow keys move along it.", hour: "Hour", day: "Day",
  meaning: "Each point counts the recipients accepted then, and what has become of them so far: later receipts raise it. Times are yours.",
  none: "Nothing was accepted in this range.", noneFiltered: "Nothing fits these filters in this range.", byCampaign: "Campaigns, last used first", byTemplate: "Templates", bySender: "Senders", byType: "Types", name: "Name", filter: "Filter",
  only: "Only {name}", allCampaigns: "All campaigns", noCampaign: "(no name)", goneSender: "(removed)", skippedNote: "{n} recipients were skipped: they are suppressed, or were named twice.",
}, {
  title: "Resumen", about: "Qué ha pasado con sus mensajes y llamadas, y qué requiere su atención.", asOf: "Datos de las {time}", range: "Periodo", "24h": "24 horas", "7d": "7 días", "30d": "30 días", own: "Otro", from: "Desde", to: "Hasta",
  filters: "Periodo y filtros", campaign: "Campaña", type: "Tipo", anyType: "Cualquier tipo", template: "Plantilla", anyTemplate: "Cualquier plantilla", sender: "Remitente", anySender: "Cualquier remitente", channel: "Canal", anyChannel: "Cualquier canal", clear: "Quitar filtros",
  transactional: "Transaccional", utility: "Utilidad", marketing: "Marketing", messaging: "Mensajes", voice: "Llamadas",
  accepted: "Aceptados", sent: "Enviados", delivered: "Entregados", read: "Leídos", failed: "Fallidos", lateness: "Retraso", waitingN: "{n} en espera", noneWaiting: "Ninguno en espera",
  ofAccepted: "{share} de los aceptados", ofSent: "{share} de los enviados", ofDelivered: "{share} de los entregados", latest: "95 %: {p95} · 99 %: {p99}", noLateness: "Aún no se ha enviado nada",
  overTime: "Evolución", form: "Vista", chart: "Gráfico", table: "Tabla", chartHelp: "Gráfico de aceptados, entregados, leídos y fallidos a lo largo del tiempo. Recórralo con las flechas.", hour: "Hora", day: "Día",
  meaning: "Cada punto cuenta los destinatarios aceptados en ese momento y lo que ha pasado con ellos hasta ahora: los acuses posteriores lo suben. Las horas son las suyas.",
  none: "No se aceptó nada en este periodo.", noneFiltered: "Nada coincide con estos filtros en este periodo.", byCampaign: "Campañas, empezando por la última", byTemplate: "Plantillas", bySender: "Remitentes", byType: "Tipos", name: "Nombre", filter: "Filtrar",
  only: "Solo {name}", allCampaigns: "Todas las campañas", noCampaign: "(sin nombre)", goneSender: "(eliminado)", skippedNote: "Se omitieron {n} destinatarios: están suprimidos o se indicaron dos veces.",
}, {
  title: "Resumo", about: "O que aconteceu com as suas mensagens e chamadas, e o que requer a sua atenção.", asOf: "Dados das {time}", range: "Período", "24h": "24 horas", "7d": "7 dias", "30d": "30 dias", own: "Outro", from: "De", to: "Até",
  filters: "Período e filtros", campaign: "Campanha", type: "Tipo", anyType: "Qualquer tipo", template: "Modelo", anyTemplate: "Qualquer modelo", sender: "Remetente", anySender: "Qualquer remetente", channel: "Canal", anyChannel: "Qualquer canal", clear: "Limpar filtros",
  transactional: "Transacional", utility: "Utilidade", marketing: "Marketing", messaging: "Mensagens", voice: "Chamadas",
  accepted: "Aceitas", sent: "Enviadas", delivered: "Entregues", read: "Lidas", failed: "Com falha", lateness: "Atraso", waitingN: "{n} em espera", noneWaiting: "Nenhuma em espera",
  ofAccepted: "{share} das aceitas", ofSent: "{share} das enviadas", ofDelivered: "{share} das entregues", latest: "95 %: {p95} · 99 %: {p99}", noLateness: "Nada foi enviado ainda",
  overTime: "Evolução", form: "Visualização", chart: "Gráfico", table: "Tabela", chartHelp: "Gráfico de aceitas, entregues, lidas e com falha ao longo do tempo. Percorra-o com as setas.", hour: "Hora", day: "Dia",
  meaning: "Cada ponto conta os destinatários aceitos naquele momento e o que aconteceu com eles até agora: confirmações posteriores o fazem subir. Os horários são os seus.",
  none: "Nada foi aceito neste período.", noneFiltered: "Nada corresponde a estes filtros neste período.", byCampaign: "Campanhas, começando pela última", byTemplate: "Modelos", bySender: "Remetentes", byType: "Tipos", name: "Nome", filter: "Filtrar",
  only: "Só {name}", allCampaigns: "Todas as campanhas", noCampaign: "(sem nome)", goneSender: "(removido)", skippedNote: "{n} destinatários foram ignorados: estão suprimidos ou foram indicados duas vezes.",
});
