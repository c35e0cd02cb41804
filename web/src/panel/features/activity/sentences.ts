// A change as a sentence: who did what to which object.
import { dictionary, fill, type Language } from "../../i18n";
import type { Change } from "./types";

const words = dictionary({
  created: "{who} created {what}", changed: "{who} changed {what}", deleted: "{who} deleted {what}", revoked: "{who} revoked {what}", joined: "{name} became a member", role_changed: "{who} changed the role of {name}",
  removed: "{who} removed {name} from the company", password_set: "{who} set the password of {name}", password_set_own: "{name} set a new password", password_link_made: "{who} made a link for a new password of {name}",
  signed_out: "{who} ended the sessions of {name}", second_factor_on: "{name} turned on the second factor", second_factor_off: "{who} turned off the second factor of {name}", recovery_codes_made: "{name} made new recovery codes",
  erased: "{who} erased the person {name}", identity_linked: "{name} signed in with single sign-on for the first time", invited: "{who} invited {name}", sent: "{who} sent the invitation to {name} again", withdrawn: "{who} withdrew the invitation to {name}",
  submitted: "{who} submitted {what} for review", refused: "The channel did not take {what}", decided: "{who} decided about {what}", categorized: "{who} changed the category of {what}",
  added: "{who} suppressed the number {name}", addedMany: "{who} suppressed {name} numbers", lifted: "{who} lifted the suppression of {name}", canceled: "{who} canceled {what}", moved: "{who} moved {what} to another time",
  resent: "{who} sent {what} again to recipients that failed", hung_up: "{who} hung up {what}", uploaded: "{who} uploaded {what}", startedJob: "{who} began to send {what}", paused: "{who} paused {what}", resumed: "{who} resumed {what}",
  started: "{who} began maintenance", ended: "{who} ended maintenance", send_decided: "{who} had messages sent that a restore had held back", fail_decided: "{who} had messages fail that a restore had held back",
  company: "the company's settings", key: "the access key “{name}”", user: "the user {name}", invitation: "the invitation to {name}", sender: "the sender “{name}”", template: "the template “{name}”", agent: "the agent “{name}”", knowledge: "the knowledge base “{name}”",
  flow: "the flow “{name}”", widget: "the widget “{name}”", secret: "the secret “{name}”", webhook: "the webhook “{name}”", canned_reply: "the canned reply “{name}”", suppression: "the suppression {name}", notification: "a notification", call: "a call", job: "the list “{name}”", other: "{name}",
  api: "A key", setup: "A set-up file", command: "The command line", channel: "The channel", recipient: "The recipient", system: "Carillon", panel: "Somebody", byKey: "The key “{name}”",
}, {
  created: "{who} creó {what}", changed: "{who} cambió {what}", deleted: "{who} eliminó {what}", revoked: "{who} revocó {what}", joined: "{name} se unió a la empresa", role_changed: "{who} cambió el rol de {name}",
  removed: "{who} quitó a {name} de la empresa", password_set: "{who} puso una contraseña nueva a {name}", password_set_own: "{name} puso una contraseña nueva", password_link_made: "{who} creó un enlace para una contraseña nueva de {name}",
  signed_out: "{who} cerró las sesiones de {name}", second_factor_on: "{name} activó el segundo factor", second_factor_off: "{who} desactivó el segundo factor de {name}", recovery_codes_made: "{name} creó códigos de recuperación nuevos",
  erased: "{who} borró a la persona {name}", identity_linked: "{name} entró por primera vez con inicio de sesión único", invited: "{who} invitó a {name}", sent: "{who} volvió a enviar la invitación a {name}", withdrawn: "{who} retiró la invitación a {name}",
  submitted: "{who} envió {what} a revisión", refused: "El canal no aceptó {what}", decided: "{who} decidió sobre {what}", categorized: "{who} cambió la categoría: {what}",
  added: "{who} suprimió el número {name}", addedMany: "{who} suprimió {name} números", lifted: "{who} levantó la supresión de {name}", canceled: "{who} canceló {what}", moved: "{who} cambió la hora: {what}",
  resent: "{who} volvió a enviar {what} a quienes no la recibieron", hung_up: "{who} colgó {what}", uploaded: "{who} subió {what}", startedJob: "{who} empezó a enviar {what}", paused: "{who} pausó {what}", resumed: "{who} reanudó {what}",
  started: "{who} inició el mantenimiento", ended: "{who} terminó el mantenimiento", send_decided: "{who} hizo enviar mensajes retenidos tras una restauración", fail_decided: "{who} dio por fallidos mensajes retenidos tras una restauración",
  company: "los ajustes de la empresa", key: "la clave de acceso «{name}»", user: "el usuario {name}", invitation: "la invitación a {name}", sender: "el remitente «{name}»", template: "la plantilla «{name}»", agent: "el agente «{name}»", knowledge: "la base de conocimiento «{name}»",
  flow: "el flujo «{name}»", widget: "el widget «{name}»", secret: "el secreto «{name}»", webhook: "el webhook «{name}»", canned_reply: "la respuesta guardada «{name}»", suppression: "la supresión {name}", notification: "una notificación", call: "una llamada", job: "la lista «{name}»", other: "{name}",
  api: "Una clave", setup: "Un archivo de configuración", command: "La línea de comandos", channel: "El canal", recipient: "El destinatario", system: "Carillon", panel: "Alguien", byKey: "La clave «{name}»",
}, {
  created: "{who} criou {what}", changed: "{who} alterou {what}", deleted: "{who} excluiu {what}", revoked: "{who} revogou {what}", joined: "{name} entrou na empresa", role_changed: "{who} alterou o papel de {name}",
  removed: "{who} removeu {name} da empresa", password_set: "{who} definiu a senha de {name}", password_set_own: "{name} definiu uma senha nova", password_link_made: "{who} criou um link para uma senha nova de {name}",
  signed_out: "{who} encerrou as sessões de {name}", second_factor_on: "{name} ativou o segundo fator", second_factor_off: "{who} desativou o segundo fator de {name}", recovery_codes_made: "{name} criou códigos de recuperação novos",
  erased: "{who} apagou a pessoa {name}", identity_linked: "{name} entrou pela primeira vez com login único", invited: "{who} convidou {name}", sent: "{who} enviou de novo o convite a {name}", withdrawn: "{who} retirou o convite a {name}",
  submitted: "{who} enviou {what} para análise", refused: "O canal não aceitou {what}", decided: "{who} decidiu sobre {what}", categorized: "{who} alterou a categoria: {what}",
  added: "{who} suprimiu o número {name}", addedMany: "{who} suprimiu {name} números", lifted: "{who} removeu a supressão de {name}", canceled: "{who} cancelou {what}", moved: "{who} mudou a hora: {what}",
  resent: "{who} enviou de novo {what} a quem não a recebeu", hung_up: "{who} desligou {what}", uploaded: "{who} carregou {what}", startedJob: "{who} começou a enviar {what}", paused: "{who} pausou {what}", resumed: "{who} retomou {what}",
  started: "{who} iniciou a manutenção", ended: "{who} terminou a manutenção", send_decided: "{who} mandou enviar mensagens retidas após uma restauração", fail_decided: "{who} considerou como falha mensagens retidas após uma restauração",
  company: "os ajustes da empresa", key: "a chave de acesso “{name}”", user: "o usuário {name}", invitation: "o convite a {name}", sender: "o remetente “{name}”", template: "o modelo “{name}”", agent: "o agente “{name}”", knowledge: "a base de conhecimento “{name}”",
  flow: "o fluxo “{name}”", widget: "o widget “{name}”", secret: "o segredo “{name}”", webhook: "o webhook “{name}”", canned_reply: "a resposta salva “{name}”", suppression: "a supressão {name}", notification: "uma notificação", call: "uma chamada", job: "a lista “{name}”", other: "{name}",
  api: "Uma chave", setup: "Um arquivo de configuração", command: "A linha de comandos", channel: "O canal", recipient: "O destinatário", system: "O Carillon", panel: "Alguém", byKey: "A chave “{name}”",
});

type Word = keyof typeof words.en;

/** authorName is who changed something, at the beginning of a sentence. */
export function authorName(by: Change["by"], kind: string, language: Language): string {
  const t = words[language];
  if (by.origin === "channel" && kind === "suppression") return t.recipient;
  if (!by.name) return t[by.origin as Word] ?? by.origin;
  return by.key.startsWith("key:") ? fill(t.byKey, { name: by.name }) : by.name;
}

/** sentence is a change in words. */
export function sentence(c: Change, language: Language): string {
  const t = words[language];
  const name = c.object.name || c.object.id;
  const what = fill(t[c.object.kind as Word] ?? t.other, { name });
  let how = c.action;
  if (how === "password_set" && c.by.name === c.object.name) how = "password_set_own";
  if (how === "created" && c.object.kind === "invitation") how = "invited";
  if (how === "created" && c.object.kind === "job") how = "uploaded";
  if (how === "started" && c.object.kind === "job") how = "startedJob";
  if (how === "added" && !c.object.id) how = "addedMany";
  return fill(t[how as Word] ?? "{who} · {what}", { who: authorName(c.by, c.object.kind, language), what, name });
}
