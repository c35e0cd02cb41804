import { dictionary } from "../../i18n";

export const texts = dictionary({
  title: "One person's data", about: "Find, export or erase everything that is stored about a person who asks for it: contacts, conversations, files, messages and calls, over all numbers and channel ids.",
  label: "Number, channel id or contact id", help: "For example 34600111222, US.13491208655302741918 or the id of a contact", bad: "Enter a number with its country code, a channel id or a contact id", find: "Find",
  nothing: "Nothing is stored about this person", nothingText: "No contact, conversation, message or call of your company has this number or id. You can still erase: mentions in logs and lists go too.",
  found: "What is stored", identities: "Known as", contacts: "Contacts", conversations: "Conversations", notifications: "Notifications", calls: "Calls made", noName: "No name",
  export: "Export as a ZIP archive", erase: "Erase this person", eraseTitle: "Erase this person?",
  eraseText: "Everything of this person is deleted for good, with suppressions: a new message to the number would be sent. Messages that wait are canceled. Backups from before keep their copy. The record of changes keeps only a hash.",
  typed: "Type {word} to go on", erased: "Erased", erasedText: "{n} rows were deleted or cleared. The record of changes has this person as {hash}.", working: "Erasing. On a large database this takes a minute: the file is written again.", again: "Look for another person",
}, {
  title: "Datos de una persona", about: "Busque, exporte o borre todo lo que se guarda sobre una persona que lo pide: contactos, conversaciones, archivos, mensajes y llamadas, con todos sus números e identificadores.",
  label: "Número, identificador del canal o del contacto", help: "Por ejemplo 34600111222, US.13491208655302741918 o el identificador de un contacto", bad: "Escriba un número con su prefijo de país, un identificador del canal o de un contacto", find: "Buscar",
  nothing: "No se guarda nada sobre esta persona", nothingText: "Ningún contacto, conversación, mensaje o llamada de su empresa tiene este número o identificador. Aun así puede borrar: también desaparecen las menciones en registros y listas.",
  found: "Lo que se guarda", identities: "Se conoce como", contacts: "Contactos", conversations: "Conversaciones", notifications: "Notificaciones", calls: "Llamadas hechas", noName: "Sin nombre",
  export: "Exportar como archivo ZIP", erase: "Borrar a esta persona", eraseTitle: "¿Borrar a esta persona?",
  eraseText: "Todo lo de esta persona se elimina para siempre, también las supresiones: un mensaje nuevo al número se enviaría. Los mensajes pendientes se cancelan. Las copias de seguridad anteriores lo conservan. El registro de cambios guarda solo un hash.",
  typed: "Escriba {word} para seguir", erased: "Borrado", erasedText: "Se eliminaron o vaciaron {n} filas. En el registro de cambios esta persona es {hash}.", working: "Borrando. En una base de datos grande tarda un minuto: el archivo se escribe de nuevo.", again: "Buscar a otra persona",
}, {
  title: "Dados de uma pessoa", about: "Encontre, exporte ou apague tudo o que está guardado sobre uma pessoa que pede: contatos, conversas, arquivos, mensagens e chamadas, com todos os números e identificadores.",
  label: "Número, identificador do canal ou do contato", help: "Por exemplo 34600111222, US.13491208655302741918 ou o identificador de um contato", bad: "Digite um número com o código do país, um identificador do canal ou de um contato", find: "Buscar",
  nothing: "Nada está guardado sobre esta pessoa", nothingText: "Nenhum contato, conversa, mensagem ou chamada da sua empresa tem este número ou identificador. Mesmo assim você pode apagar: as menções em registros e listas também somem.",
  found: "O que está guardado", identities: "Conhecida como", contacts: "Contatos", conversations: "Conversas", notifications: "Notificações", calls: "Chamadas feitas", noName: "Sem nome",
  export: "Exportar como arquivo ZIP", erase: "Apagar esta pessoa", eraseTitle: "Apagar esta pessoa?",
  eraseText: "Tudo desta pessoa é excluído para sempre, também as supressões: uma nova mensagem ao número seria enviada. Mensagens em espera são canceladas. Backups anteriores mantêm a cópia. O registro de alterações guarda só um hash.",
  typed: "Digite {word} para continuar", erased: "Apagada", erasedText: "{n} linhas foram excluídas ou esvaziadas. No registro de alterações esta pessoa é {hash}.", working: "Apagando. Num banco de dados grande leva um minuto: o arquivo é escrito de novo.", again: "Buscar outra pessoa",
});
