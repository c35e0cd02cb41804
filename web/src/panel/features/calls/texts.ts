import { dictionary } from "../../i18n";
import type { CallState } from "./types";

/** Texts of the pages of calls. */
export const texts = dictionary({
  title: "Calls", about: "Telephone calls that your agents hold.", state: "State", contact: "Contact", agent: "Agent", line: "Line", campaign: "Campaign", when: "When", duration: "Duration", result: "Result", number: "Number",
  anyState: "Any state", anyAgent: "Any agent", anyLine: "Any line", under_way: "Under way", waiting: "Waiting", unreached: "Not reached", groups: "Together", single: "One state", clear: "Clear filters", filters: "Filters", outgoing: "Outgoing", incoming: "Incoming", hidden: "Number withheld", directions: "Direction", nobody: "Nobody has called yet", nobodyText: "A person who calls the number of a line talks with the agent that the line names.", toLines: "Choose a line's agent",
  newOne: "1 new call", newMany: "{n} new calls", live: "Live", offline: "Not live: reconnecting…", recording: "Recording", recorded: "Has a recording", noName: "No name", deleted: "Deleted",
  noneFound: "No call fits these filters", noneFoundText: "Change a filter, or clear them all.", noneYet: "Nothing found so far", noneYetText: "Older calls have not been searched yet.", searchOn: "Search older calls",
  scheduled: "Scheduled", queued: "Queued", dialing: "Dialing", ringing: "Ringing", in_progress: "Talking", completed: "Completed", busy: "Busy", no_answer: "No answer", rejected: "Declined", voicemail: "Voicemail", failed: "Failed", canceled: "Canceled", skipped: "Skipped",
  human: "A person answered", machine: "A machine answered", unknown: "Unknown who answered", person: "Person", device: "Machine", by_agent: "The agent hung up", by_callee: "The person hung up", by_caller: "The caller hung up", by_system: "Carillon ended it",
  undeliverable: "The number does not exist", provider_refused: "The line's provider refused it", line_unavailable: "The line cannot place calls", interrupted: "The program stopped during the call", suppressed: "The number does not want to be called", attempts_exhausted: "Every attempt failed", expired: "Its time ran out",
}, {
  title: "Llamadas", about: "Llamadas telefónicas que atienden sus agentes.", state: "Estado", contact: "Contacto", agent: "Agente", line: "Línea", campaign: "Campaña", when: "Cuándo", duration: "Duración", result: "Resultado", number: "Número",
  anyState: "Cualquier estado", anyAgent: "Cualquier agente", anyLine: "Cualquier línea", under_way: "En curso", waiting: "En espera", unreached: "Sin contacto", groups: "En conjunto", single: "Un estado", clear: "Quitar filtros", filters: "Filtros", outgoing: "Salientes", incoming: "Entrantes", hidden: "Número oculto", directions: "Dirección", nobody: "Aún no ha llamado nadie", nobodyText: "Quien llama al número de una línea habla con el agente que la línea nombra.", toLines: "Elegir el agente de una línea",
  newOne: "1 llamada nueva", newMany: "{n} llamadas nuevas", live: "En vivo", offline: "Sin conexión en vivo: reconectando…", recording: "Grabación", recorded: "Tiene grabación", noName: "Sin nombre", deleted: "Eliminado",
  noneFound: "Ninguna llamada cumple estos filtros", noneFoundText: "Cambie un filtro o quítelos todos.", noneYet: "Nada por ahora", noneYetText: "Aún no se han buscado llamadas más antiguas.", searchOn: "Buscar llamadas más antiguas",
  scheduled: "Programada", queued: "En cola", dialing: "Marcando", ringing: "Sonando", in_progress: "Hablando", completed: "Completada", busy: "Ocupado", no_answer: "Sin respuesta", rejected: "Rechazada", voicemail: "Buzón de voz", failed: "Fallida", canceled: "Cancelada", skipped: "Omitida",
  human: "Contestó una persona", machine: "Contestó una máquina", unknown: "No se sabe quién contestó", person: "Persona", device: "Máquina", by_agent: "Colgó el agente", by_callee: "Colgó la persona", by_caller: "Colgó quien llamaba", by_system: "La terminó Carillon",
  undeliverable: "El número no existe", provider_refused: "El proveedor de la línea la rechazó", line_unavailable: "La línea no puede llamar", interrupted: "El programa se detuvo durante la llamada", suppressed: "El número no quiere recibir llamadas", attempts_exhausted: "Todos los intentos fallaron", expired: "Se agotó su tiempo",
}, {
  title: "Chamadas", about: "Chamadas telefônicas que os seus agentes conduzem.", state: "Estado", contact: "Contato", agent: "Agente", line: "Linha", campaign: "Campanha", when: "Quando", duration: "Duração", result: "Resultado", number: "Número",
  anyState: "Qualquer estado", anyAgent: "Qualquer agente", anyLine: "Qualquer linha", under_way: "Em andamento", waiting: "Em espera", unreached: "Sem contato", groups: "Em conjunto", single: "Um estado", clear: "Limpar filtros", filters: "Filtros", outgoing: "Efetuadas", incoming: "Recebidas", hidden: "Número oculto", directions: "Direção", nobody: "Ainda ninguém ligou", nobodyText: "Quem liga para o número de uma linha fala com o agente que a linha indica.", toLines: "Escolher o agente de uma linha",
  newOne: "1 chamada nova", newMany: "{n} chamadas novas", live: "Ao vivo", offline: "Sem conexão ao vivo: reconectando…", recording: "Gravação", recorded: "Tem gravação", noName: "Sem nome", deleted: "Excluído",
  noneFound: "Nenhuma chamada cumpre estes filtros", noneFoundText: "Altere um filtro ou limpe todos.", noneYet: "Nada por agora", noneYetText: "Ainda não foram buscadas chamadas mais antigas.", searchOn: "Buscar chamadas mais antigas",
  scheduled: "Agendada", queued: "Na fila", dialing: "Discando", ringing: "Tocando", in_progress: "Falando", completed: "Concluída", busy: "Ocupado", no_answer: "Sem resposta", rejected: "Recusada", voicemail: "Caixa postal", failed: "Falhou", canceled: "Cancelada", skipped: "Omitida",
  human: "Atendeu uma pessoa", machine: "Atendeu uma máquina", unknown: "Não se sabe quem atendeu", person: "Pessoa", device: "Máquina", by_agent: "O agente desligou", by_callee: "A pessoa desligou", by_caller: "Quem ligou desligou", by_system: "O Carillon a terminou",
  undeliverable: "O número não existe", provider_refused: "O provedor da linha a recusou", line_unavailable: "A linha não pode ligar", interrupted: "O programa parou durante a chamada", suppressed: "O número não quer receber chamadas", attempts_exhausted: "Todas as tentativas falharam", expired: "Seu tempo se esgotou",
});
export type CallTexts = Record<keyof typeof texts.en, string>;

/** stateText is the plain word for a state. */
export function stateText(t: CallTexts, s: CallState): string { return t[s]; }

/** reasonText says why a call ended as it did. */
export function reasonText(t: CallTexts, reason: string | undefined): string { return reason && reason !== "canceled" ? (t[reason as keyof CallTexts] ?? reason) : ""; }
