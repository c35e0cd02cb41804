import { dictionary } from "../../i18n";

/** What is said behind a number of recipients: for one | for several. */
export const countTexts = dictionary({
  read: "read|read", delivered: "delivered|delivered", completed: "completed|completed", sent: "sent|sent", in_progress: "talking|talking", ringing: "ringing|ringing", dialing: "being dialed|being dialed", sending: "being sent|being sent", queued: "queued|queued", scheduled: "scheduled|scheduled",
  busy: "busy|busy", no_answer: "without an answer|without an answer", rejected: "rejected|rejected", voicemail: "voicemail|voicemails", skipped: "skipped|skipped", canceled: "canceled|canceled", failed: "failed|failed",
}, {
  read: "leído|leídos", delivered: "entregado|entregados", completed: "completada|completadas", sent: "enviado|enviados", in_progress: "hablando|hablando", ringing: "sonando|sonando", dialing: "marcando|marcando", sending: "enviando|enviando", queued: "en cola|en cola", scheduled: "programado|programados",
  busy: "ocupado|ocupados", no_answer: "sin respuesta|sin respuesta", rejected: "rechazado|rechazados", voicemail: "buzón de voz|buzones de voz", skipped: "omitido|omitidos", canceled: "cancelado|cancelados", failed: "fallido|fallidos",
}, {
  read: "lida|lidas", delivered: "entregue|entregues", completed: "concluída|concluídas", sent: "enviada|enviadas", in_progress: "falando|falando", ringing: "chamando|chamando", dialing: "discando|discando", sending: "enviando|enviando", queued: "na fila|na fila", scheduled: "agendada|agendadas",
  busy: "ocupado|ocupados", no_answer: "sem resposta|sem resposta", rejected: "recusada|recusadas", voicemail: "caixa postal|caixas postais", skipped: "ignorada|ignoradas", canceled: "cancelada|canceladas", failed: "com falha|com falha",
});
