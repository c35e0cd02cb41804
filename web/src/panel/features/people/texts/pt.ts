import type * as en from "./en";

export const texts: Record<keyof typeof en.texts, string> = {
  title: "Dados de uma pessoa",
  about:
    "Encontre, exporte ou exclua os dados de uma pessoa: contatos, conversas, arquivos, mensagens e ligações, com todos os números.",
  label: "Número, ID do canal ou do contato",
  help: "p. ex. 34600111222, US.13491208655302741918 ou o ID de um contato",
  bad: "Digite um número com o código do país, um ID do canal ou de um contato",
  find: "Buscar",
  nothing: "Nenhum dado sobre esta pessoa",
  nothingText:
    "Nenhum contato, conversa, mensagem ou ligação da sua empresa tem este número ou ID. Mesmo assim, você pode excluí-lo, também de logs e listas.",
  found: "Dados armazenados",
  identities: "Conhecida como",
  contacts: "Contatos",
  conversations: "Conversas",
  notifications: "Mensagens",
  calls: "Ligações feitas",
  noName: "Sem nome",
  export: "Exportar como arquivo ZIP",
  erase: "Excluir os dados",
  eraseTitle: "Excluir os dados desta pessoa?",
  eraseText:
    "Todos os dados desta pessoa são excluídos para sempre, inclusive os descadastros, então novas mensagens ao número seriam enviadas. As mensagens na fila são canceladas. Os backups anteriores mantêm a cópia. O registro de alterações guarda só um hash.",
  typed: "Digite {word} para continuar",
  erased: "Dados excluídos",
  erasedText: "{n} linhas foram excluídas ou esvaziadas. No registro de alterações, esta pessoa é {hash}.",
  working: "Excluindo. Em um banco de dados grande leva um minuto, pois o arquivo é reescrito.",
  again: "Buscar outra pessoa",
};
