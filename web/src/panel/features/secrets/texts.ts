import { dictionary } from "../../i18n";

export const texts = dictionary({
  title: "Secrets", about: "Keys and passwords that flows send to your servers. A value is stored encrypted and never shown again, not even in runs or logs.",
  create: "Add a secret", first: "Add the first secret", empty: "No secrets yet", emptyText: "Put the key of your shop or CRM here, and write {{secret.name}} in the headers, the query or the body of a request.",
  secret: "Secret", hosts: "Sent to", set: "Set", used: "Last used", users: "Flows", nobody: "None", by: "by {name}", never: "Never", replace: "Replace", remove: "Delete",
  name: "Name", nameHelp: "A word of letters, digits and _, such as shop_key", hostsHelp: "Press Enter after each host, such as api.example.com. It is sent nowhere else, even by people who edit flows.", value: "Value", valueHelp: "8 to 4,000 bytes. It is not shown again.",
  replaceTitle: "Replace {name}", keepHelp: "Leave it empty to keep the value. If you change the hosts, enter it again.", added: "The secret is stored", replaced: "The secret is replaced",
  removeTitle: "Delete {name}?", removeText: "The value is gone for good. Runs that still need it fail.", inUseTitle: "{name} is in use", inUseText: "These flows use it. Change them first, or replace the value if somebody else knows it:", understood: "Close", removed: "The secret is deleted",
  setup: "Set-up file", command: "Command line", system: "Carillon",
}, {
  title: "Secretos", about: "Claves y contraseñas que las peticiones de los flujos envían a sus servidores. Un valor se guarda cifrado y no se vuelve a mostrar, tampoco en ejecuciones ni registros.",
  create: "Añadir un secreto", first: "Añadir el primer secreto", empty: "Todavía no hay secretos", emptyText: "Guarde aquí la clave de su tienda o CRM y escriba {{secret.name}} en las cabeceras, la consulta o el cuerpo de una petición.",
  secret: "Secreto", hosts: "Se envía a", set: "Guardado", used: "Último uso", users: "Flujos", nobody: "Ninguno", by: "por {name}", never: "Nunca", replace: "Reemplazar", remove: "Eliminar",
  name: "Nombre", nameHelp: "Una palabra de letras, cifras y _, como shop_key", hostsHelp: "Pulse Intro tras cada servidor, como api.example.com. No se envía a ningún otro: quien edita flujos no puede mandarlo a otro servidor.", value: "Valor", valueHelp: "De 8 a 4.000 bytes. No se vuelve a mostrar.",
  replaceTitle: "Reemplazar {name}", keepHelp: "Vacío: el valor se conserva. Para otros servidores hay que introducirlo de nuevo.", added: "El secreto está guardado", replaced: "El secreto está reemplazado",
  removeTitle: "¿Eliminar {name}?", removeText: "El valor desaparece para siempre. Las ejecuciones que aún lo necesitan fallan.", inUseTitle: "{name} está en uso", inUseText: "Estos flujos lo envían. Cámbielos antes, o reemplace el valor si alguien lo conoce:", understood: "Cerrar", removed: "El secreto está eliminado",
  setup: "Archivo de configuración", command: "Línea de comandos", system: "Carillon",
}, {
  title: "Segredos", about: "Chaves e senhas que os pedidos dos fluxos enviam aos seus servidores. Um valor é guardado criptografado e não é mostrado de novo, nem em execuções e registros.",
  create: "Adicionar um segredo", first: "Adicionar o primeiro segredo", empty: "Ainda não há segredos", emptyText: "Guarde aqui a chave da sua loja ou CRM e escreva {{secret.name}} nos cabeçalhos, na consulta ou no corpo de um pedido.",
  secret: "Segredo", hosts: "Enviado a", set: "Salvo", used: "Último uso", users: "Fluxos", nobody: "Nenhum", by: "por {name}", never: "Nunca", replace: "Substituir", remove: "Excluir",
  name: "Nome", nameHelp: "Uma palavra de letras, dígitos e _, como shop_key", hostsHelp: "Pressione Enter depois de cada servidor, como api.example.com. Não é enviado a nenhum outro: quem edita fluxos não pode mandá-lo a outro servidor.", value: "Valor", valueHelp: "De 8 a 4.000 bytes. Não é mostrado de novo.",
  replaceTitle: "Substituir {name}", keepHelp: "Vazio: o valor fica. Para outros servidores é preciso digitá-lo de novo.", added: "O segredo foi salvo", replaced: "O segredo foi substituído",
  removeTitle: "Excluir {name}?", removeText: "O valor desaparece para sempre. As execuções que ainda precisam dele falham.", inUseTitle: "{name} está em uso", inUseText: "Estes fluxos o enviam. Altere-os antes, ou substitua o valor se alguém o conhece:", understood: "Fechar", removed: "O segredo foi excluído",
  setup: "Arquivo de configuração", command: "Linha de comando", system: "Carillon",
});
