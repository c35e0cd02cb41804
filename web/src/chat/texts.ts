// The texts of the page. A widget's own `texts` replace them key by key.
import { pick } from "../shared/texts";

export { direction, fill } from "../shared/texts";

export const en = {
  title: "Chat with us", placeholder: "Write a message…", send: "Send", attach: "Attach a file", close: "Close", menu: "More", person: "Talk to a person",
  end: "End the conversation", endAsk: "End this conversation?", endYes: "End it", cancel: "Cancel", anew: "Start a new conversation", you: "You",
  sending: "Sending…", sent: "Sent", notSent: "Not sent", retry: "Try again", remove: "Remove", offline: "You are offline. Messages are sent when you are back.",
  reconnecting: "Reconnecting…", failed: "The chat cannot be loaded.", reload: "Try again", writing: "{name} is writing…", someone: "Someone",
  queued: "We are looking for a person for you.", position: "You are number {n} in the queue.", away: "Nobody is here right now. Leave your e-mail address: you will find our answer here.",
  name: "Your name", email: "Your e-mail address", emailBad: "Please check the e-mail address.", leave: "Send", thanks: "Thank you. We will get back to you.",
  rate: "How was this conversation?", comment: "What could be better? (optional)", rateSend: "Send rating", rated: "Thank you for your rating.", stars: "{n} of 5",
  sources: "Source", file: "File", tooBig: "The file is larger than {n} MB.", typeBad: "This kind of file cannot be sent.", tooLong: "{n} characters too many",
  joined: "{name} joined", missed: "Nobody was free. We will answer here.", released: "{name} handed you back to the queue", returned: "The assistant answers again",
  resolved: "The conversation was closed", reopened: "The conversation goes on", left: "You ended the conversation", abandoned: "You left the queue",
  introduced: "You left your contact details", handoff_requested: "You asked for a person", today: "Today", yesterday: "Yesterday", newer: "New messages", conversation: "Conversation",
  uploading: "Uploading…", assistant: "Assistant", dropped: "Drop the file here", fileFailed: "The file could not be sent. Please try again.", fileFull: "No more files can be sent here.",
};
export type Texts = typeof en;

const es: Texts = {
  title: "Chatee con nosotros", placeholder: "Escriba un mensaje…", send: "Enviar", attach: "Adjuntar un archivo", close: "Cerrar", menu: "Más", person: "Hablar con una persona",
  end: "Terminar la conversación", endAsk: "¿Terminar esta conversación?", endYes: "Terminar", cancel: "Cancelar", anew: "Empezar otra conversación", you: "Usted",
  sending: "Enviando…", sent: "Enviado", notSent: "No enviado", retry: "Reintentar", remove: "Quitar", offline: "No tiene conexión. Los mensajes se enviarán cuando vuelva.",
  reconnecting: "Reconectando…", failed: "No se puede cargar el chat.", reload: "Reintentar", writing: "{name} está escribiendo…", someone: "Alguien",
  queued: "Buscamos a una persona para usted.", position: "Es el número {n} en la cola.", away: "Ahora no hay nadie. Deje su correo: encontrará aquí nuestra respuesta.",
  name: "Su nombre", email: "Su correo electrónico", emailBad: "Revise el correo electrónico.", leave: "Enviar", thanks: "Gracias. Le responderemos.",
  rate: "¿Qué le pareció esta conversación?", comment: "¿Qué podría mejorar? (opcional)", rateSend: "Enviar valoración", rated: "Gracias por su valoración.", stars: "{n} de 5",
  sources: "Fuente", file: "Archivo", tooBig: "El archivo supera los {n} MB.", typeBad: "No se puede enviar este tipo de archivo.", tooLong: "Sobran {n} caracteres",
  joined: "{name} se ha unido", missed: "No había nadie libre. Le responderemos aquí.", released: "{name} le ha devuelto a la cola", returned: "Vuelve a responder el asistente",
  resolved: "La conversación se ha cerrado", reopened: "La conversación continúa", left: "Ha terminado la conversación", abandoned: "Ha dejado la cola",
  introduced: "Ha dejado sus datos de contacto", handoff_requested: "Ha pedido hablar con una persona", today: "Hoy", yesterday: "Ayer", newer: "Mensajes nuevos", conversation: "Conversación",
  uploading: "Subiendo…", assistant: "Asistente", dropped: "Suelte el archivo aquí", fileFailed: "No se pudo enviar el archivo. Inténtelo de nuevo.", fileFull: "Aquí no se pueden enviar más archivos.",
};

const pt: Texts = {
  title: "Fale conosco", placeholder: "Escreva uma mensagem…", send: "Enviar", attach: "Anexar um arquivo", close: "Fechar", menu: "Mais", person: "Falar com uma pessoa",
  end: "Encerrar a conversa", endAsk: "Encerrar esta conversa?", endYes: "Encerrar", cancel: "Cancelar", anew: "Começar outra conversa", you: "Você",
  sending: "Enviando…", sent: "Enviado", notSent: "Não enviado", retry: "Tentar de novo", remove: "Remover", offline: "Você está sem conexão. As mensagens serão enviadas quando ela voltar.",
  reconnecting: "Reconectando…", failed: "Não foi possível carregar o chat.", reload: "Tentar de novo", writing: "{name} está escrevendo…", someone: "Alguém",
  queued: "Estamos procurando uma pessoa para você.", position: "Você é o número {n} da fila.", away: "Não há ninguém disponível agora. Deixe seu e-mail: você encontrará nossa resposta aqui.",
  name: "Seu nome", email: "Seu e-mail", emailBad: "Verifique o e-mail.", leave: "Enviar", thanks: "Obrigado. Em breve responderemos.",
  rate: "Como foi esta conversa?", comment: "O que poderia melhorar? (opcional)", rateSend: "Enviar avaliação", rated: "Obrigado pela sua avaliação.", stars: "{n} de 5",
  sources: "Fonte", file: "Arquivo", tooBig: "O arquivo tem mais de {n} MB.", typeBad: "Este tipo de arquivo não pode ser enviado.", tooLong: "{n} caracteres a mais",
  joined: "{name} entrou", missed: "Ninguém estava livre. Responderemos por aqui.", released: "{name} devolveu você à fila", returned: "O assistente voltou a responder",
  resolved: "A conversa foi encerrada", reopened: "A conversa continua", left: "Você encerrou a conversa", abandoned: "Você saiu da fila",
  introduced: "Você deixou seus dados de contato", handoff_requested: "Você pediu para falar com uma pessoa", today: "Hoje", yesterday: "Ontem", newer: "Novas mensagens", conversation: "Conversa",
  uploading: "Enviando…", assistant: "Assistente", dropped: "Solte o arquivo aqui", fileFailed: "Não foi possível enviar o arquivo. Tente de novo.", fileFull: "Não é possível enviar mais arquivos aqui.",
};

export const languages: Record<string, Texts> = { en, es, pt };

/** textsFor are the texts of a language, English where there are none, with a widget's own over them. */
export function textsFor(language: string, own?: Record<string, string>): Texts { return pick(languages, language, own); }
