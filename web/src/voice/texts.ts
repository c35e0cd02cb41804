// The texts of the page. A widget's own `texts` replace them key by key.
import { pick } from "../shared/texts";

export { direction, fill } from "../shared/texts";

export const en = {
  title: "Talk to us", talk: "Start talking", start: "Start", type: "Type instead", language: "Language", terms: "Before we start", agree: "I have read this and agree", close: "Close", agent: "Assistant",
  deaf: "Speech is not understood here. You type or tap, and the answers are spoken.", mute: "Speech cannot be played here. You speak, and the answers are written.", both: "You type, and the answers are written.",
  connecting: "Connecting", reconnecting: "Reconnecting", listening: "Listening", thinking: "Thinking", speaking: "Speaking", hold: "On hold", ready: "Your turn", muted: "Muted", with: "Connected",
  micOn: "Turn on the microphone", micMute: "Mute the microphone", micUnmute: "Unmute the microphone", micOff: "Turn the microphone off and type", hangUp: "Hang up", soundOn: "Turn the sound on", soundOff: "Turn the sound off",
  hear: "Tap to hear", placeholder: "Or write here…", placeholderTyping: "Write here…", send: "Send", conversation: "What was said", you: "You", sources: "Source", choices: "Answers to choose from", person: "Talk to a person",
  queued: "We are looking for a person for you.", position: "You are number {n} in the queue.", cancel: "Cancel", missed: "Nobody is free at the moment. The assistant goes on.", joined: "{name} is here now", gone: "{name} has left", someone: "A person",
  refused: "The microphone is not allowed. You can write instead, or allow it in the browser's settings and turn it on below.", missing: "No microphone was found. You can write instead.", busy: "Another application is using the microphone. You can write instead.",
  unsupported: "This browser cannot use the microphone here. You can write instead.", problem: "Something went wrong. Please say it again.", cut: "interrupted",
  ended: "The conversation has ended", lasted: "It took {time}.", again: "Talk again", rate: "How was this conversation?", stars: "{n} of 5", comment: "What could be better? (optional)", rateSend: "Send rating", rated: "Thank you for your rating.", notSent: "It could not be sent. Please try again.",
  number: "Conversation number", copy: "Copy", copied: "Copied", failRefused: "This assistant cannot be used here.", failGone: "This assistant does not exist any more.", failBusy: "Everybody is busy at the moment.", failLost: "The connection was lost.", failUnavailable: "The assistant cannot be reached.",
  doLater: "Please try again in a few minutes.", doNetwork: "Check your connection, then try again.", doOwner: "Please tell the owner of this site.", retry: "Try again", failed: "This cannot be loaded.",
};
export type Texts = typeof en;

const es: Texts = {
  title: "Hable con nosotros", talk: "Empezar a hablar", start: "Empezar", type: "Prefiero escribir", language: "Idioma", terms: "Antes de empezar", agree: "Lo he leído y estoy de acuerdo", close: "Cerrar", agent: "Asistente",
  deaf: "Aquí no se entiende la voz. Escriba o toque, y las respuestas se dicen en voz alta.", mute: "Aquí no se puede reproducir voz. Usted habla y las respuestas aparecen por escrito.", both: "Usted escribe y las respuestas aparecen por escrito.",
  connecting: "Conectando", reconnecting: "Reconectando", listening: "Escuchando", thinking: "Pensando", speaking: "Hablando", hold: "En espera", ready: "Su turno", muted: "Silenciado", with: "Conectado",
  micOn: "Activar el micrófono", micMute: "Silenciar el micrófono", micUnmute: "Reactivar el micrófono", micOff: "Apagar el micrófono y escribir", hangUp: "Colgar", soundOn: "Activar el sonido", soundOff: "Quitar el sonido",
  hear: "Toque para oír", placeholder: "O escriba aquí…", placeholderTyping: "Escriba aquí…", send: "Enviar", conversation: "Lo que se ha dicho", you: "Usted", sources: "Fuente", choices: "Respuestas para elegir", person: "Hablar con una persona",
  queued: "Buscamos a una persona para usted.", position: "Es el número {n} en la cola.", cancel: "Cancelar", missed: "Ahora no hay nadie libre. El asistente continúa.", joined: "{name} ya está aquí", gone: "{name} se ha ido", someone: "Una persona",
  refused: "El micrófono no está permitido. Puede escribir, o permitirlo en los ajustes del navegador y activarlo abajo.", missing: "No se ha encontrado ningún micrófono. Puede escribir.", busy: "Otra aplicación usa el micrófono. Puede escribir.",
  unsupported: "Este navegador no puede usar aquí el micrófono. Puede escribir.", problem: "Algo ha fallado. Dígalo de nuevo, por favor.", cut: "interrumpido",
  ended: "La conversación ha terminado", lasted: "Ha durado {time}.", again: "Hablar de nuevo", rate: "¿Qué le pareció esta conversación?", stars: "{n} de 5", comment: "¿Qué podría mejorar? (opcional)", rateSend: "Enviar valoración", rated: "Gracias por su valoración.", notSent: "No se pudo enviar. Inténtelo de nuevo.",
  number: "Número de conversación", copy: "Copiar", copied: "Copiado", failRefused: "Este asistente no se puede usar aquí.", failGone: "Este asistente ya no existe.", failBusy: "Ahora todos están ocupados.", failLost: "Se ha perdido la conexión.", failUnavailable: "No se puede contactar con el asistente.",
  doLater: "Inténtelo de nuevo en unos minutos.", doNetwork: "Compruebe su conexión e inténtelo de nuevo.", doOwner: "Avise al dueño de este sitio.", retry: "Reintentar", failed: "No se puede cargar.",
};

const pt: Texts = {
  title: "Fale conosco", talk: "Começar a falar", start: "Começar", type: "Prefiro escrever", language: "Idioma", terms: "Antes de começar", agree: "Li e concordo", close: "Fechar", agent: "Assistente",
  deaf: "Aqui a voz não é entendida. Escreva ou toque, e as respostas serão faladas.", mute: "Não é possível reproduzir voz aqui. Você fala e as respostas aparecem por escrito.", both: "Você escreve e as respostas aparecem por escrito.",
  connecting: "Conectando", reconnecting: "Reconectando", listening: "Ouvindo", thinking: "Pensando", speaking: "Falando", hold: "Em espera", ready: "Sua vez", muted: "Sem som", with: "Conectado",
  micOn: "Ligar o microfone", micMute: "Silenciar o microfone", micUnmute: "Reativar o microfone", micOff: "Desligar o microfone e escrever", hangUp: "Desligar", soundOn: "Ativar o som", soundOff: "Desativar o som",
  hear: "Toque para ouvir", placeholder: "Ou escreva aqui…", placeholderTyping: "Escreva aqui…", send: "Enviar", conversation: "O que foi dito", you: "Você", sources: "Fonte", choices: "Respostas para escolher", person: "Falar com uma pessoa",
  queued: "Estamos procurando uma pessoa para você.", position: "Você é o número {n} da fila.", cancel: "Cancelar", missed: "Ninguém está livre no momento. O assistente continua.", joined: "{name} já está aqui", gone: "{name} saiu", someone: "Uma pessoa",
  refused: "O microfone não está permitido. Você pode escrever, ou permitir o microfone nas configurações do navegador e ligá-lo abaixo.", missing: "Nenhum microfone foi encontrado. Você pode escrever.", busy: "Outro aplicativo está usando o microfone. Você pode escrever.",
  unsupported: "Este navegador não consegue usar o microfone aqui. Você pode escrever.", problem: "Algo deu errado. Fale de novo, por favor.", cut: "interrompido",
  ended: "A conversa terminou", lasted: "Durou {time}.", again: "Falar de novo", rate: "Como foi esta conversa?", stars: "{n} de 5", comment: "O que poderia melhorar? (opcional)", rateSend: "Enviar avaliação", rated: "Obrigado pela sua avaliação.", notSent: "Não foi possível enviar. Tente de novo.",
  number: "Número da conversa", copy: "Copiar", copied: "Copiado", failRefused: "Este assistente não pode ser usado aqui.", failGone: "Este assistente não existe mais.", failBusy: "No momento estão todos ocupados.", failLost: "A conexão caiu.", failUnavailable: "Não foi possível acessar o assistente.",
  doLater: "Tente de novo em alguns minutos.", doNetwork: "Verifique sua conexão e tente de novo.", doOwner: "Avise o dono deste site.", retry: "Tentar de novo", failed: "Não foi possível carregar.",
};

export const languages: Record<string, Texts> = { en, es, pt };

/** textsFor are the texts of a language, English where there are none, with a widget's own over them. */
export function textsFor(language: string, own?: Record<string, string>): Texts { return pick(languages, language, own); }

/** duration is minutes and seconds. */
export function duration(seconds: number): string { return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`; }
