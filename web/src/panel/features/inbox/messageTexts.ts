import { dictionary } from "../../i18n";

/** Texts of conversations over messaging channels. */
export const texts = dictionary({
  byChannel: "Known by their number", channel: "WhatsApp", queued: "Queued", sending: "Sending", sent: "Sent", delivered: "Delivered", read: "Read", failed: "Not sent", unknown: "Unknown whether sent",
  window_closed: "the contact wrote more than 24 hours ago", outcome_unknown: "no response came", attempts_exhausted: "every attempt failed", undeliverable: "the number cannot be reached", provider_refused: "the channel refused it", media_rejected: "the channel does not take the file", recipient_opted_out: "the contact opted out", channel_limited: "the channel limits what the contact gets", expired: "it came too late",
  left: "Replies possible for {time}", closed: "Window closed", closedText: "The contact wrote more than 24 hours ago. Only a template reaches them until they write again.", noSender: "The sender of this conversation was removed.",
  template: "Template", choose: "Choose a template", none: "This sender has no approved template", preview: "Preview", value: "Value for {key}", send: "Send template", sentTemplate: "Template sent", by: "Template · {name}", loadFailed: "The templates could not be loaded.", retry: "Try again",
  header_text: "Header", header_image: "Address of the picture", header_video: "Address of the video", header_document: "Address of the document", body_text: "Body {n}", button_url: "Button {n}",
}, {
  byChannel: "Conocido por su número", channel: "WhatsApp", queued: "En cola", sending: "Enviando", sent: "Enviado", delivered: "Entregado", read: "Leído", failed: "No enviado", unknown: "No se sabe si se envió",
  window_closed: "el contacto escribió hace más de 24 horas", outcome_unknown: "no hubo respuesta", attempts_exhausted: "fallaron todos los intentos", undeliverable: "el número no es accesible", provider_refused: "el canal lo rechazó", media_rejected: "el canal no admite el archivo", recipient_opted_out: "el contacto se dio de baja", channel_limited: "el canal limita lo que recibe el contacto", expired: "llegó demasiado tarde",
  left: "Se puede responder durante {time}", closed: "Ventana cerrada", closedText: "El contacto escribió hace más de 24 horas. Hasta que vuelva a escribir solo le llega una plantilla.", noSender: "El remitente de esta conversación se eliminó.",
  template: "Plantilla", choose: "Elija una plantilla", none: "Este remitente no tiene plantillas aprobadas", preview: "Vista previa", value: "Valor de {key}", send: "Enviar plantilla", sentTemplate: "Plantilla enviada", by: "Plantilla · {name}", loadFailed: "No se pudieron cargar las plantillas.", retry: "Reintentar",
  header_text: "Encabezado", header_image: "Dirección de la imagen", header_video: "Dirección del vídeo", header_document: "Dirección del documento", body_text: "Cuerpo {n}", button_url: "Botón {n}",
}, {
  byChannel: "Conhecido pelo seu número", channel: "WhatsApp", queued: "Na fila", sending: "Enviando", sent: "Enviada", delivered: "Entregue", read: "Lida", failed: "Não enviada", unknown: "Não se sabe se foi enviada",
  window_closed: "o contato escreveu há mais de 24 horas", outcome_unknown: "não houve resposta", attempts_exhausted: "todas as tentativas falharam", undeliverable: "o número não é acessível", provider_refused: "o canal a recusou", media_rejected: "o canal não aceita o arquivo", recipient_opted_out: "o contato cancelou", channel_limited: "o canal limita o que o contato recebe", expired: "chegou tarde demais",
  left: "Pode responder durante {time}", closed: "Janela fechada", closedText: "O contato escreveu há mais de 24 horas. Até voltar a escrever só é possível enviar um modelo.", noSender: "O remetente desta conversa foi removido.",
  template: "Modelo", choose: "Escolha um modelo", none: "Este remetente não tem modelos aprovados", preview: "Pré-visualização", value: "Valor de {key}", send: "Enviar modelo", sentTemplate: "Modelo enviado", by: "Modelo · {name}", loadFailed: "Não foi possível carregar os modelos.", retry: "Tentar de novo",
  header_text: "Cabeçalho", header_image: "Endereço da imagem", header_video: "Endereço do vídeo", header_document: "Endereço do documento", body_text: "Corpo {n}", button_url: "Botão {n}",
});
