import { dictionary } from "../../i18n";

/** Texts of the phone that gets messages. */
export const texts = dictionary({
  calls: "Calls", messages: "Messages", views: "What the phone got", about: "A phone inside Carillon. It gets what senders of the sandbox send, and what you do on it reaches Carillon as a real person's answer does.",
  none: "There is no messaging sender of the sandbox", noneText: "Add a sender of provider “sandbox”, and its messages come here.", sender: "Sender", number: "Number of the phone", numberHelp: "7 to 15 digits. The last four decide what happens, see the guide.", last: "Written to last", name: "Name", nameHelp: "As the person's profile has it",
  reach: "Reachable", reachHelp: "While it is not, it gets nothing: messages stay “sent”.", away: "The phone is unreachable", choose: "Type a number or choose one", chooseText: "The phone shows what its owner sees.", badNumber: "7 to 15 digits",
  empty: "No messages yet", emptyText: "Send one to this number, or write first.", write: "Message", send: "Send", attach: "Attach", photo: "Photo", voice: "Voice message", document: "Document", more: "React or reply", reply: "Reply to this", cancel: "Cancel the reply", typing: "is writing…",
  reacted: "You reacted {emoji}", readByCompany: "Read", sent: "Sent", notSent: "Not sent", phone: "Phone {number}", company: "Company", you: "You", image: "Picture", video: "Video", file: "Document", stop: "STOP", start: "START", call: "Call {number}", react: "React with {emoji}", closed: "Only who may send can write here.",
}, {
  calls: "Llamadas", messages: "Mensajes", views: "Lo que recibió el teléfono", about: "Un teléfono dentro de Carillon. Recibe lo que envían los remitentes de pruebas, y lo que usted haga en él llega a Carillon como la respuesta de una persona real.",
  none: "No hay ningún remitente de mensajes de pruebas", noneText: "Añada un remitente del proveedor «sandbox» y sus mensajes llegan aquí.", sender: "Remitente", number: "Número del teléfono", numberHelp: "De 7 a 15 cifras. Las cuatro últimas deciden lo que ocurre, vea la guía.", last: "Últimos destinatarios", name: "Nombre", nameHelp: "El del perfil de la persona",
  reach: "Disponible", reachHelp: "Mientras no lo esté no recibe nada: los mensajes quedan «enviados».", away: "El teléfono no está disponible", choose: "Escriba un número o elija uno", chooseText: "El teléfono muestra lo que ve su dueño.", badNumber: "De 7 a 15 cifras",
  empty: "Todavía no hay mensajes", emptyText: "Envíe uno a este número, o escriba primero.", write: "Mensaje", send: "Enviar", attach: "Adjuntar", photo: "Foto", voice: "Mensaje de voz", document: "Documento", more: "Reaccionar o responder", reply: "Responder a este", cancel: "Cancelar la respuesta", typing: "está escribiendo…",
  reacted: "Reaccionó con {emoji}", readByCompany: "Leído", sent: "Enviado", notSent: "No enviado", phone: "Teléfono {number}", company: "Empresa", you: "Usted", image: "Imagen", video: "Vídeo", file: "Documento", stop: "BAJA", start: "ALTA", call: "Llamar al {number}", react: "Reaccionar con {emoji}", closed: "Solo quien puede enviar puede escribir aquí.",
}, {
  calls: "Chamadas", messages: "Mensagens", views: "O que o telefone recebeu", about: "Um telefone dentro do Carillon. Recebe o que enviam os remetentes de testes, e o que fizer nele chega ao Carillon como a resposta de uma pessoa real.",
  none: "Não há nenhum remetente de mensagens de testes", noneText: "Adicione um remetente do fornecedor «sandbox» e as suas mensagens chegam aqui.", sender: "Remetente", number: "Número do telefone", numberHelp: "De 7 a 15 algarismos. Os quatro últimos decidem o que acontece, veja o guia.", last: "Últimos destinatários", name: "Nome", nameHelp: "O do perfil da pessoa",
  reach: "Contactável", reachHelp: "Enquanto não o estiver não recebe nada: as mensagens ficam «enviadas».", away: "O telefone não está contactável", choose: "Escreva um número ou escolha um", chooseText: "O telefone mostra o que o dono vê.", badNumber: "De 7 a 15 algarismos",
  empty: "Ainda não há mensagens", emptyText: "Envie uma para este número, ou escreva primeiro.", write: "Mensagem", send: "Enviar", attach: "Anexar", photo: "Foto", voice: "Mensagem de voz", document: "Documento", more: "Reagir ou responder", reply: "Responder a esta", cancel: "Cancelar a resposta", typing: "está a escrever…",
  reacted: "Reagiu com {emoji}", readByCompany: "Lida", sent: "Enviada", notSent: "Não enviada", phone: "Telefone {number}", company: "Empresa", you: "Você", image: "Imagem", video: "Vídeo", file: "Documento", stop: "SAIR", start: "VOLTAR", call: "Ligar para {number}", react: "Reagir com {emoji}", closed: "Só quem pode enviar pode escrever aqui.",
});

export type PhoneTexts = (typeof texts)["en"];
