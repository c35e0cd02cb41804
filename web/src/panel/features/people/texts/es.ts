import type * as en from "./en";

export const texts: Record<keyof typeof en.texts, string> = {
  title: "Datos de una persona",
  about:
    "Busque, exporte o borre todo lo que se guarda sobre una persona que lo pide: contactos, conversaciones, archivos, mensajes y llamadas, con todos sus números e identificadores.",
  label: "Número, identificador del canal o del contacto",
  help: "Por ejemplo 34600111222, US.13491208655302741918 o el identificador de un contacto",
  bad: "Escriba un número con su prefijo de país, un identificador del canal o de un contacto",
  find: "Buscar",
  nothing: "No se guarda nada sobre esta persona",
  nothingText:
    "Ningún contacto, conversación, mensaje o llamada de su empresa tiene este número o identificador. Aun así puede borrar: también desaparecen las menciones en registros y listas.",
  found: "Lo que se guarda",
  identities: "Se conoce como",
  contacts: "Contactos",
  conversations: "Conversaciones",
  notifications: "Notificaciones",
  calls: "Llamadas hechas",
  noName: "Sin nombre",
  export: "Exportar como archivo ZIP",
  erase: "Borrar a esta persona",
  eraseTitle: "¿Borrar a esta persona?",
  eraseText:
    "Todo lo de esta persona se elimina para siempre, también las supresiones: un mensaje nuevo al número se enviaría. Los mensajes pendientes se cancelan. Las copias de seguridad anteriores lo conservan. El registro de cambios guarda solo un hash.",
  typed: "Escriba {word} para seguir",
  erased: "Borrado",
  erasedText: "Se eliminaron o vaciaron {n} filas. En el registro de cambios esta persona es {hash}.",
  working: "Borrando. En una base de datos grande tarda un minuto: el archivo se escribe de nuevo.",
  again: "Buscar a otra persona",
};
