import { dictionary } from "../../i18n";

export const texts = dictionary({
  title: "Users", about: "Who works in this company, and what their role lets them do.", add: "Add a user", name: "Name", email: "E-mail", role: "Role", lastSignIn: "Last sign-in", you: "You", actions: "Actions for {name}",
  addTitle: "Add a user", password: "First password", passwordHelp: "At least 12 characters. Leave it empty for somebody who has an account here already.", generate: "Make one up", short: "At least 12 characters",
  added: "{name} was added", addedText: "Pass on the e-mail address and this password. It is not shown again; the person can change it under their account.", emailBad: "Check the e-mail address",
  changeRole: "Change the role", roleChanged: "The role is changed", reset: "Set a password", resetTitle: "Set a password for {name}", resetText: "All sessions of {name} end.", resetDone: "The password is set", newPassword: "New password",
  signOut: "Sign out everywhere", signOutTitle: "Sign {name} out everywhere?", signOutText: "All sessions end at once, in browsers and elsewhere.", signedOut: "All sessions have ended",
  remove: "Remove", removeTitle: "Remove {name} from {company}?", removeText: "{name} loses access at once. An account that belongs to no other company is deleted.", removed: "{name} was removed", done: "Done",
  ownerHelp: "Everything, owners included", adminHelp: "Everything but owners and the installation", developerHelp: "Agents, widgets, webhooks; reads keys", marketerHelp: "Sends notifications, changes templates",
  teammateHelp: "Answers conversations", viewerHelp: "Reads",
}, {
  title: "Usuarios", about: "Quién trabaja en esta empresa y qué le permite su rol.", add: "Añadir un usuario", name: "Nombre", email: "Correo electrónico", role: "Rol", lastSignIn: "Último acceso", you: "Usted", actions: "Acciones para {name}",
  addTitle: "Añadir un usuario", password: "Primera contraseña", passwordHelp: "Al menos 12 caracteres. Déjela vacía si la persona ya tiene una cuenta aquí.", generate: "Inventar una", short: "Al menos 12 caracteres",
  added: "{name} está en la empresa", addedText: "Comunique el correo y esta contraseña. No se volverá a mostrar; la persona puede cambiarla en su cuenta.", emailBad: "Revise el correo electrónico",
  changeRole: "Cambiar el rol", roleChanged: "El rol ha cambiado", reset: "Poner una contraseña", resetTitle: "Poner una contraseña a {name}", resetText: "Todas las sesiones de {name} terminan.", resetDone: "La contraseña está cambiada", newPassword: "Nueva contraseña",
  signOut: "Cerrar todas las sesiones", signOutTitle: "¿Cerrar todas las sesiones de {name}?", signOutText: "Terminan al momento, en navegadores y en otros sitios.", signedOut: "Todas las sesiones han terminado",
  remove: "Quitar", removeTitle: "¿Quitar a {name} de {company}?", removeText: "{name} pierde el acceso al momento. Una cuenta que no es de otra empresa se borra.", removed: "{name} ya no está en la empresa", done: "Hecho",
  ownerHelp: "Todo, también los propietarios", adminHelp: "Todo menos propietarios e instalación", developerHelp: "Agentes, widgets, webhooks; lee claves", marketerHelp: "Envía notificaciones, cambia plantillas",
  teammateHelp: "Responde conversaciones", viewerHelp: "Lee",
}, {
  title: "Usuários", about: "Quem trabalha nesta empresa e o que o seu papel permite.", add: "Adicionar um usuário", name: "Nome", email: "E-mail", role: "Papel", lastSignIn: "Último acesso", you: "Você", actions: "Ações para {name}",
  addTitle: "Adicionar um usuário", password: "Primeira senha", passwordHelp: "Pelo menos 12 caracteres. Deixe vazia para quem já tem conta aqui.", generate: "Inventar uma", short: "Pelo menos 12 caracteres",
  added: "{name} foi adicionado", addedText: "Comunique o e-mail e esta senha. Não será mostrada de novo; a pessoa pode mudá-la na sua conta.", emailBad: "Verifique o e-mail",
  changeRole: "Mudar o papel", roleChanged: "O papel foi mudado", reset: "Definir senha", resetTitle: "Definir uma senha para {name}", resetText: "Todas as sessões de {name} terminam.", resetDone: "A senha foi definida", newPassword: "Nova senha",
  signOut: "Terminar todas as sessões", signOutTitle: "Terminar todas as sessões de {name}?", signOutText: "Terminam imediatamente, em navegadores e em outros lugares.", signedOut: "Todas as sessões terminaram",
  remove: "Remover", removeTitle: "Remover {name} de {company}?", removeText: "{name} perde o acesso imediatamente. Uma conta que não é de outra empresa é apagada.", removed: "{name} foi removido", done: "Concluído",
  ownerHelp: "Tudo, também os proprietários", adminHelp: "Tudo menos proprietários e instalação", developerHelp: "Agentes, widgets, webhooks; lê chaves", marketerHelp: "Envia notificações, altera modelos",
  teammateHelp: "Responde a conversas", viewerHelp: "Lê",
});
