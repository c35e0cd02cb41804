import type * as en from "./en";

export const texts: Record<keyof typeof en.texts, string> = {
  title: "Dados de uma pessoa",
  about:
    "Encontre, exporte ou apague tudo o que está guardado sobre uma pessoa que pede: contatos, conversas, arquivos, mensagens e chamadas, com todos os números e identificadores.",
  label: "Número, identificador do canal ou do contato",
  help: "Por exemplo 34600111222, US.13491208655302741918 ou o identificador de um contato",
  bad: "Digite um número com o código do país, um identificador do canal ou de um contato",
  find: "Buscar",
  nothing: "Nada está guardado sobre esta pessoa",
  nothingText:
    "Nenhum contato, conversa, mensagem ou chamada da sua empresa tem este número ou identificador. Mesmo assim você pode apagar: as menções em registros e listas também somem.",
  found: "O que está guardado",
  identities: "Conhecida como",
  contacts: "Contatos",
  conversations: "Conversas",
  notifications: "Notificações",
  calls: "Chamadas feitas",
  noName: "Sem nome",
  export: "Exportar como arquivo ZIP",
  erase: "Apagar esta pessoa",
  eraseTitle: "Apagar esta pessoa?",
  eraseText:
    "Tudo desta pessoa é excluído para sempre, também as supressões: uma nova mensagem ao número seria enviada. Mensagens em espera são canceladas. Backups anteriores mantêm a cópia. O registro de alterações guarda só um hash.",
  typed: "Digite {word} para continuar",
  erased: "Apagada",
  erasedText: "{n} linhas foram excluídas ou esvaziadas. No registro de alterações esta pessoa é {hash}.",
  working: "Apagando. Num banco de dados grande leva um minuto: o arquivo é escrito de novo.",
  again: "Buscar outra pessoa",
};
