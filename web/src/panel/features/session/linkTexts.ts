import { dictionary } from "../../i18n";

export const linkTexts = dictionary({
  invitation: "Invitation", inviteBad: "This invitation is not valid any more: it was accepted, withdrawn or sent again. The newest e-mail has the link that works.", inviteLate: "This invitation has expired. Ask for another one.", again: "Try again",
  joinTitle: "Join {company}", joinAbout: "{name} invites you, as {role}.", join: "Make the account and join", accept: "Accept the invitation", signInAs: "Sign in to accept",
  knownSelf: "You are signed in as {email}.", knownOther: "The invitation is for {email}; you are signed in as {own}. Sign in with the other account.", knownNobody: "{email} has an account already. Sign in with it, then accept.",
  forgot: "Forgot your password?", forgotten: "Forgot your password?", forgottenAbout: "We send you a link with which you set a new one.", sendLink: "Send the link", noMail: "This installation sends no e-mails. Ask somebody who administers the users of your company for a link.",
  checkMail: "Look into your e-mails", checkMailAbout: "If {email} has an account, a link is on its way. It is good for one hour.", setNew: "Set a new password", setNewAbout: "All sessions of the account end.", isSet: "The new password is set", isSetAbout: "Sign in with it now.",
  linkBad: "This link is not valid any more: it was used, or a newer one was asked for.", linkLate: "This link has expired.", askAgain: "Ask for another link",
  code: "Code", codeAbout: "Enter the code that your authenticator shows, or one of your recovery codes.", codeWrong: "This code is not valid, or was used before", confirm: "Sign in", otherAccount: "Sign in as somebody else", withSSO: "Sign in with {name}", or: "or",
  refused: "The sign-in was not completed. Begin again.", stranger: "Nobody with this e-mail works here yet. Ask for an invitation.", down: "The server for single sign-on does not respond. Try again later, or sign in with your password.", often: "Too many attempts from your network. Try again in a minute.",
}, {
  invitation: "Invitación", inviteBad: "Esta invitación ya no vale: se aceptó, se retiró o se envió otra vez. El correo más reciente tiene el enlace que vale.", inviteLate: "Esta invitación ha caducado. Pida otra.", again: "Intentarlo otra vez",
  joinTitle: "Unirse a {company}", joinAbout: "{name} le invita, como {role}.", join: "Crear la cuenta y unirse", accept: "Aceptar la invitación", signInAs: "Iniciar sesión para aceptar",
  knownSelf: "Ha iniciado sesión como {email}.", knownOther: "La invitación es para {email}; usted ha entrado como {own}. Entre con la otra cuenta.", knownNobody: "{email} ya tiene una cuenta. Entre con ella y después acepte.",
  forgot: "¿Ha olvidado la contraseña?", forgotten: "¿Ha olvidado la contraseña?", forgottenAbout: "Le enviamos un enlace con el que poner una nueva.", sendLink: "Enviar el enlace", noMail: "Esta instalación no envía correos. Pida un enlace a quien administra los usuarios de su empresa.",
  checkMail: "Mire su correo", checkMailAbout: "Si {email} tiene una cuenta, hay un enlace en camino. Vale una hora.", setNew: "Poner una contraseña nueva", setNewAbout: "Todas las sesiones de la cuenta terminan.", isSet: "La contraseña nueva está puesta", isSetAbout: "Ya puede entrar con ella.",
  linkBad: "Este enlace ya no vale: se usó o se pidió otro más nuevo.", linkLate: "Este enlace ha caducado.", askAgain: "Pedir otro enlace",
  code: "Código", codeAbout: "Escriba el código que muestra su autenticador, o uno de sus códigos de recuperación.", codeWrong: "Este código no vale o ya se usó", confirm: "Iniciar sesión", otherAccount: "Entrar con otra cuenta", withSSO: "Entrar con {name}", or: "o",
  refused: "El inicio de sesión no se completó. Empiece otra vez.", stranger: "Nadie con este correo trabaja aquí todavía. Pida una invitación.", down: "El servidor de inicio de sesión único no responde. Inténtelo más tarde o entre con su contraseña.", often: "Demasiados intentos desde su red. Inténtelo dentro de un minuto.",
}, {
  invitation: "Convite", inviteBad: "Este convite não é mais válido: foi aceito, retirado ou enviado de novo. O e-mail mais recente tem o link que vale.", inviteLate: "Este convite expirou. Peça outro.", again: "Tentar de novo",
  joinTitle: "Juntar-se a {company}", joinAbout: "{name} convida-o, como {role}.", join: "Criar a conta e juntar-se", accept: "Aceitar o convite", signInAs: "Entrar para aceitar",
  knownSelf: "Você entrou como {email}.", knownOther: "O convite é para {email}; você entrou como {own}. Entre com a outra conta.", knownNobody: "{email} já tem uma conta. Entre com ela e depois aceite.",
  forgot: "Esqueceu a senha?", forgotten: "Esqueceu a senha?", forgottenAbout: "Enviamos um link com que define uma nova.", sendLink: "Enviar o link", noMail: "Esta instalação não envia e-mails. Peça um link a quem administra os usuários da sua empresa.",
  checkMail: "Veja os seus e-mails", checkMailAbout: "Se {email} tem uma conta, um link está a caminho. Vale uma hora.", setNew: "Definir uma nova senha", setNewAbout: "Todas as sessões da conta terminam.", isSet: "A nova senha está definida", isSetAbout: "Já pode entrar com ela.",
  linkBad: "Este link não é mais válido: foi usado, ou foi pedido outro mais recente.", linkLate: "Este link expirou.", askAgain: "Pedir outro link",
  code: "Código", codeAbout: "Escreva o código que o seu autenticador mostra, ou um dos seus códigos de recuperação.", codeWrong: "Este código não é válido ou já foi usado", confirm: "Entrar", otherAccount: "Entrar com outra conta", withSSO: "Entrar com {name}", or: "ou",
  refused: "O login não foi concluído. Comece de novo.", stranger: "Ainda ninguém com este e-mail trabalha aqui. Peça um convite.", down: "O servidor de login único não responde. Tente mais tarde ou entre com a senha.", often: "Tentativas demais a partir da sua rede. Tente dentro de um minuto.",
});
