import { dictionary, type Language } from "../../i18n";
import { codes } from "./codes";

/** Why a message ended as it did, and what to do about it (key_next); the reasons are those of docs/states.md. */
export const reasons = dictionary(
  {
    duplicate: "Same number and same text twice in one request",
    duplicate_next: "Nothing to do: the first of the two was sent.",
    suppressed: "The number wants no such messages",
    suppressed_next:
      "Its owner stopped them, or someone added it under Suppressions. Lift it there only if its owner asked for that.",
    canceled: "Canceled before it was sent",
    canceled_next: "Send it anew if it is wanted after all.",
    outcome_unknown: "No answer from the provider, and no receipt in time",
    outcome_unknown_next:
      "It may have arrived all the same: a late receipt still corrects this. Resend only what may arrive twice. The sender's policy for unknown outcomes decides what happens by itself.",
    media_rejected: "The picture, video or document could not be used",
    media_rejected_next:
      "Check that its address opens without a sign-in, over HTTPS, and that its type and size are allowed. Then send again.",
    provider_refused: "The provider refused this message for good",
    provider_refused_next: "The provider's words below say why. Correct that before you send again.",
    undeliverable: "The number cannot be reached on this channel",
    undeliverable_next:
      "Check the number. It may have no WhatsApp, an old version of it, or not have accepted its terms. Try another channel, such as a call.",
    recipient_opted_out: "The recipient stopped marketing messages",
    recipient_opted_out_next: "The number is suppressed for marketing now. Do not send marketing to it again.",
    channel_limited: "The channel declined, to limit what its users get",
    channel_limited_next:
      "Wait at least 24 hours. Sending the same again sooner makes it worse; send less marketing to people who do not react.",
    template_rejected: "The template is gone, disabled, or does not fit any more",
    template_rejected_next: "Open the template, see what its reviewer says, and send anew with one that is approved.",
    expired: "It could not be sent within 24 hours",
    expired_next: "Its sender was held back for that long. See the sender's state, then resend what is still of use.",
    attempts_exhausted: "Ten attempts in about three hours failed",
    attempts_exhausted_next: "The provider had trouble for that long. Look at its status page; then resend.",
    line_unavailable: "This version places no calls by the line's provider",
    line_unavailable_next: "Choose another provider for the line.",
    interrupted: "The program stopped during the call",
    interrupted_next: "It is never dialed again by itself. Call again if it was important.",
    window_closed: "The person wrote more than 24 hours ago",
    window_closed_next: "Only a template may be sent now.",
  },
  {
    duplicate: "El mismo número y el mismo texto dos veces en una petición",
    duplicate_next: "No hay que hacer nada: el primero de los dos se envió.",
    suppressed: "El número no quiere estos mensajes",
    suppressed_next:
      "La persona los rechazó o alguien añadió el número en Supresiones. Quítelo de allí solo si la persona lo pide.",
    canceled: "Cancelado antes de enviarse",
    canceled_next: "Envíelo de nuevo si al final hace falta.",
    outcome_unknown: "El proveedor no respondió y no llegó ningún acuse a tiempo",
    outcome_unknown_next:
      "Puede haber llegado de todos modos: un acuse tardío aún lo corrige. Reenvíe solo lo que no importe que llegue dos veces. La política del remitente para resultados desconocidos decide qué ocurre si usted no hace nada.",
    media_rejected: "No se pudo usar la imagen, el vídeo o el documento",
    media_rejected_next:
      "Compruebe que su dirección se abre sin iniciar sesión, por HTTPS, y que su tipo y tamaño están permitidos. Después envíe otra vez.",
    provider_refused: "El proveedor rechazó este mensaje definitivamente",
    provider_refused_next: "Las palabras del proveedor, abajo, dicen por qué. Corríjalo antes de enviar otra vez.",
    undeliverable: "No se puede llegar a este número por este canal",
    undeliverable_next:
      "Compruebe el número. Quizá no tenga WhatsApp, use una versión antigua o no haya aceptado sus condiciones. Pruebe otro canal, como una llamada.",
    recipient_opted_out: "El destinatario dejó de recibir mensajes de marketing",
    recipient_opted_out_next: "El número queda suprimido para marketing. No le envíe más marketing.",
    channel_limited: "El canal no lo aceptó, para limitar lo que reciben sus usuarios",
    channel_limited_next:
      "Espere al menos 24 horas. Repetirlo antes lo empeora; envíe menos marketing a quien no reacciona.",
    template_rejected: "La plantilla ya no existe, está desactivada o ya no coincide",
    template_rejected_next: "Abra la plantilla, vea qué dice su revisor y envíe de nuevo con una aprobada.",
    expired: "No se pudo enviar en 24 horas",
    expired_next:
      "Su remitente estuvo detenido todo ese tiempo. Vea el estado del remitente y reenvíe lo que aún sirva.",
    attempts_exhausted: "Fallaron diez intentos en unas tres horas",
    attempts_exhausted_next: "El proveedor tuvo problemas todo ese tiempo. Mire su página de estado y después reenvíe.",
    line_unavailable: "Esta versión no puede llamar con el proveedor de la línea",
    line_unavailable_next: "Elija otro proveedor para la línea.",
    interrupted: "El programa se detuvo durante la llamada",
    interrupted_next: "Nunca se vuelve a marcar sola. Llame otra vez si era importante.",
    window_closed: "La persona escribió hace más de 24 horas",
    window_closed_next: "Ahora solo se puede enviar una plantilla.",
  },
  {
    duplicate: "O mesmo número e o mesmo texto duas vezes em um pedido",
    duplicate_next: "Não é preciso fazer nada: a primeira das duas foi enviada.",
    suppressed: "O número não quer estas mensagens",
    suppressed_next:
      "A pessoa as recusou ou alguém acrescentou o número em Supressões. Retire-o de lá só se a pessoa pedir.",
    canceled: "Cancelada antes de ser enviada",
    canceled_next: "Envie-a de novo se ainda for necessária.",
    outcome_unknown: "O provedor não respondeu e nenhuma confirmação chegou a tempo",
    outcome_unknown_next:
      "Pode ter chegado mesmo assim: uma confirmação tardia ainda corrige isto. Reenvie só o que possa chegar duas vezes sem problema. A política do remetente para resultados desconhecidos decide o que acontece se você não fizer nada.",
    media_rejected: "Não foi possível usar a imagem, o vídeo ou o documento",
    media_rejected_next:
      "Verifique se o endereço abre sem login, por HTTPS, e se o tipo e o tamanho são permitidos. Depois envie de novo.",
    provider_refused: "O provedor recusou esta mensagem definitivamente",
    provider_refused_next: "As palavras do provedor, abaixo, dizem o motivo. Corrija isso antes de enviar de novo.",
    undeliverable: "Não é possível alcançar este número por este canal",
    undeliverable_next:
      "Verifique o número. Ele pode não ter WhatsApp, usar uma versão antiga ou não ter aceitado os termos. Tente outro canal, como uma chamada.",
    recipient_opted_out: "O destinatário parou de receber mensagens de marketing",
    recipient_opted_out_next: "O número fica suprimido para marketing. Não lhe envie mais marketing.",
    channel_limited: "O canal não a aceitou, para limitar o que os usuários recebem",
    channel_limited_next: "Aguarde pelo menos 24 horas. Repetir antes piora; envie menos marketing a quem não reage.",
    template_rejected: "O modelo não existe mais, está desativado ou não serve mais",
    template_rejected_next: "Abra o modelo, veja o que diz o revisor e envie de novo com um aprovado.",
    expired: "Não foi possível enviar em 24 horas",
    expired_next:
      "O remetente ficou parado esse tempo todo. Veja o estado do remetente e reenvie o que ainda for útil.",
    attempts_exhausted: "Falharam dez tentativas em cerca de três horas",
    attempts_exhausted_next: "O provedor teve problemas esse tempo todo. Veja a sua página de estado e depois reenvie.",
    line_unavailable: "Esta versão não pode ligar com o provedor da linha",
    line_unavailable_next: "Escolha outro provedor para a linha.",
    interrupted: "O programa parou durante a chamada",
    interrupted_next: "Nunca é discada de novo sozinha. Ligue outra vez se era importante.",
    window_closed: "A pessoa escreveu há mais de 24 horas",
    window_closed_next: "Agora só pode ser enviado um modelo.",
  },
);

/** reasonText says in short why a message ended as it did; a reason that nobody described stays as it is. */
export function reasonText(language: Language, reason: string): string {
  return (reasons[language] as Record<string, string>)[reason] ?? reason.replaceAll("_", " ");
}

/** codeOf is the provider's code at the beginning of its words; "": there is none. */
export function codeOf(detail: string | undefined): string {
  return /^(\d{1,7})(?:\/\d+)?(?=\s|$)/.exec(detail ?? "")?.[1] ?? "";
}

/** explained says why and what next, by the provider's code where that says more than the reason. */
export function explained(
  language: Language,
  reason: string | undefined,
  detail: string | undefined,
): { why: string; next: string } | undefined {
  const code = codeOf(detail);
  const byCode = codes[language] as Record<string, string>;
  if (code && byCode["c" + code]) return { why: byCode["c" + code]!, next: byCode[`c${code}_next`] ?? "" };
  if (!reason) return undefined;
  return {
    why: reasonText(language, reason),
    next: (reasons[language] as Record<string, string>)[reason + "_next"] ?? "",
  };
}
