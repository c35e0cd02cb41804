import { dictionary } from "../../i18n";

export const stepTexts = dictionary({
  title: "First steps", close: "Do not show this again in this browser", done: "{n} of {of} done", isDone: "done", isOpen: "not done yet",
  sender: "Add a sender", senderText: "A number that messages or calls come from. One of the sandbox needs no account.", senderGo: "Add a sender",
  template: "Have a template approved", templateText: "Messages to people who have not written first use a text that the channel has reviewed.", templateGo: "Write a template",
  key: "Make an access key", keyText: "Your application sends with it.", keyGo: "Make a key",
  delivered: "Deliver the first message", deliveredText: "To the sandbox's phone or your own.", deliveredGo: "Send one",
  widget: "Place a chat on your site", widgetText: "Done when the first visitor has written.", widgetGo: "Make a widget",
  teammate: "Add a teammate", teammateText: "Somebody who answers conversations or writes templates with you.", teammateGo: "Add somebody",
}, {
  title: "Primeros pasos", close: "No mostrar más en este navegador", done: "{n} de {of} hechos", isDone: "hecho", isOpen: "pendiente",
  sender: "Añada un remitente", senderText: "Un número del que salen mensajes o llamadas. Uno de pruebas no necesita cuenta.", senderGo: "Añadir un remitente",
  template: "Consiga una plantilla aprobada", templateText: "A quien no ha escrito primero se le envía un texto que el canal ha aprobado.", templateGo: "Escribir una plantilla",
  key: "Cree una clave de acceso", keyText: "Su aplicación envía con ella.", keyGo: "Crear una clave",
  delivered: "Entregue el primer mensaje", deliveredText: "Al teléfono de pruebas o al suyo.", deliveredGo: "Enviar uno",
  widget: "Ponga un chat en su sitio", widgetText: "Hecho cuando haya escrito el primer visitante.", widgetGo: "Crear un widget",
  teammate: "Añada a un compañero", teammateText: "Alguien que atienda conversaciones o escriba plantillas con usted.", teammateGo: "Añadir a alguien",
}, {
  title: "Primeiros passos", close: "Não mostrar mais neste navegador", done: "{n} de {of} feitos", isDone: "feito", isOpen: "pendente",
  sender: "Adicione um remetente", senderText: "Um número de onde saem mensagens ou chamadas. Um de teste não precisa de conta.", senderGo: "Adicionar um remetente",
  template: "Tenha um modelo aprovado", templateText: "Para quem não escreveu primeiro, envia-se um texto que o canal aprovou.", templateGo: "Escrever um modelo",
  key: "Crie uma chave de acesso", keyText: "Sua aplicação envia com ela.", keyGo: "Criar uma chave",
  delivered: "Entregue a primeira mensagem", deliveredText: "Ao telefone de teste ou ao seu.", deliveredGo: "Enviar uma",
  widget: "Coloque um chat no seu site", widgetText: "Feito quando o primeiro visitante escrever.", widgetGo: "Criar um widget",
  teammate: "Adicione um colega", teammateText: "Alguém que atenda conversas ou escreva modelos com você.", teammateGo: "Adicionar alguém",
});
