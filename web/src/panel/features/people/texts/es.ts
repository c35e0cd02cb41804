import type * as en from "./en";

export const texts: Record<keyof typeof en.texts, string> = {
  title: "Datos de una persona",
  about:
    "Busque, exporte o elimine los datos de una persona: contactos, conversaciones, archivos, mensajes y llamadas, con todos sus números.",
  label: "Número, ID del canal o del contacto",
  help: "p. ej. 34600111222, US.13491208655302741918 o el ID de un contacto",
  bad: "Escriba un número con el código de país, un ID del canal o de un contacto",
  find: "Buscar",
  nothing: "No hay datos de esta persona",
  nothingText:
    "Ningún contacto, conversación, mensaje o llamada de su empresa tiene este número o ID. Aun así puede eliminarlo, también de registros y listas.",
  found: "Datos guardados",
  identities: "Se conoce como",
  contacts: "Contactos",
  conversations: "Conversaciones",
  notifications: "Mensajes",
  calls: "Llamadas hechas",
  noName: "Sin nombre",
  export: "Exportar como archivo ZIP",
  erase: "Eliminar los datos",
  eraseTitle: "¿Eliminar los datos de esta persona?",
  eraseText:
    "Se eliminan para siempre todos los datos de esta persona, también las bajas, así que se enviarían mensajes nuevos al número. Los mensajes en cola se cancelan. Las copias de seguridad anteriores los conservan. El registro de cambios guarda solo un hash.",
  typed: "Escriba {word} para continuar",
  erased: "Datos eliminados",
  erasedText: "Se eliminaron o vaciaron {n} filas. En el registro de cambios esta persona es {hash}.",
  working: "Eliminando. En una base de datos grande tarda un minuto, porque el archivo se reescribe.",
  again: "Buscar a otra persona",
};
