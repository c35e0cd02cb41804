import { dictionary } from "../../i18n";

export const texts = dictionary({
  title: "Your account", password: "Password", passwordAbout: "Changing it ends your other sessions.", present: "Present password", fresh: "New password", freshHelp: "At least 12 characters", change: "Change the password", changed: "The password is changed; other sessions have ended",
  short: "At least 12 characters", show: "Show or hide the password", sessions: "Sessions", sessionsAbout: "Where you are signed in. End what you do not recognise, and change your password.", device: "Device", address: "Address", used: "Last used", expires: "Ends", here: "This browser", over: "Over the interface", end: "End", ended: "The session has ended",
  endOthers: "End all others", endOthersTitle: "End all other sessions?", endOthersText: "You stay signed in here only.", othersEnded: "All other sessions have ended", companies: "Companies",
}, {
  title: "Su cuenta", password: "Contraseña", passwordAbout: "Al cambiarla terminan sus demás sesiones.", present: "Contraseña actual", fresh: "Nueva contraseña", freshHelp: "Al menos 12 caracteres", change: "Cambiar la contraseña", changed: "La contraseña ha cambiado; las demás sesiones han terminado",
  short: "Al menos 12 caracteres", show: "Mostrar u ocultar la contraseña", sessions: "Sesiones", sessionsAbout: "Dónde ha iniciado sesión. Termine lo que no reconozca y cambie su contraseña.", device: "Dispositivo", address: "Dirección", used: "Último uso", expires: "Termina", here: "Este navegador", over: "Por la interfaz", end: "Terminar", ended: "La sesión ha terminado",
  endOthers: "Terminar las demás", endOthersTitle: "¿Terminar todas las demás sesiones?", endOthersText: "Seguirá dentro solo aquí.", othersEnded: "Las demás sesiones han terminado", companies: "Empresas",
}, {
  title: "Sua conta", password: "Senha", passwordAbout: "Mudá-la termina as outras sessões.", present: "Senha atual", fresh: "Nova senha", freshHelp: "Pelo menos 12 caracteres", change: "Mudar a senha", changed: "A senha foi mudada; as outras sessões terminaram",
  short: "Pelo menos 12 caracteres", show: "Mostrar ou ocultar a senha", sessions: "Sessões", sessionsAbout: "Onde você entrou. Termine o que não reconhece e mude a senha.", device: "Dispositivo", address: "Endereço", used: "Último uso", expires: "Termina", here: "Este navegador", over: "Pela interface", end: "Terminar", ended: "A sessão terminou",
  endOthers: "Terminar as outras", endOthersTitle: "Terminar todas as outras sessões?", endOthersText: "Continua dentro apenas aqui.", othersEnded: "As outras sessões terminaram", companies: "Empresas",
});
