import { dictionary } from "../../i18n";

export const texts = dictionary({
  title: "Access keys", about: "Applications of your company send a key with every request. Give each application a key of its own, with the scopes it needs.",
  create: "Create a key", label: "Label", labelHelp: "What the key is for, such as the name of the application", scopes: "Scopes", everything: "Everything", some: "Only these", expires: "Expires",
  expiry30: "In 30 days", expiry90: "In 90 days", expiry365: "In a year", expiryNever: "Never", choose: "Choose at least one scope",
  made: "Your new key", madeText: "Copy it now: after this it is not shown here again.", copyKey: "Copy the key", done: "I have copied it", key: "Key", lastUsed: "Last used", created: "Created", state: "State",
  active: "Active", revoked: "Revoked", expired: "Expired", revoke: "Revoke", revokeTitle: "Revoke the key “{label}”?", revokeText: "Applications that use it get an error from now on. This cannot be undone.", didRevoke: "The key is revoked",
  empty: "No keys yet", emptyText: "An application needs a key to send notifications or to show a widget.", showRevoked: "Show revoked keys",
  "*": "Everything", "notify:send": "Send messages", "notify:read": "Read notifications", "voice:send": "Place calls", "templates:read": "Read templates", "templates:write": "Change templates", "widget:use": "Show widgets",
  "suppressions:write": "Change suppressions", "usage:read": "Read usage",
}, {
  title: "Claves de acceso", about: "Las aplicaciones de su empresa envían una clave con cada petición. Dé a cada aplicación la suya, con los permisos que necesite.",
  create: "Crear una clave", label: "Etiqueta", labelHelp: "Para qué es la clave, como el nombre de la aplicación", scopes: "Permisos", everything: "Todo", some: "Solo estos", expires: "Caduca",
  expiry30: "En 30 días", expiry90: "En 90 días", expiry365: "En un año", expiryNever: "Nunca", choose: "Elija al menos un permiso",
  made: "Su nueva clave", madeText: "Cópiela ahora: después no se volverá a mostrar aquí.", copyKey: "Copiar la clave", done: "La he copiado", key: "Clave", lastUsed: "Último uso", created: "Creada", state: "Estado",
  active: "Activa", revoked: "Revocada", expired: "Caducada", revoke: "Revocar", revokeTitle: "¿Revocar la clave «{label}»?", revokeText: "Las aplicaciones que la usan recibirán un error desde ahora. No se puede deshacer.", didRevoke: "La clave está revocada",
  empty: "Todavía no hay claves", emptyText: "Una aplicación necesita una clave para enviar notificaciones o mostrar un widget.", showRevoked: "Mostrar las revocadas",
  "*": "Todo", "notify:send": "Enviar mensajes", "notify:read": "Leer notificaciones", "voice:send": "Hacer llamadas", "templates:read": "Leer plantillas", "templates:write": "Cambiar plantillas", "widget:use": "Mostrar widgets",
  "suppressions:write": "Cambiar exclusiones", "usage:read": "Leer el uso",
}, {
  title: "Chaves de acesso", about: "As aplicações da sua empresa enviam uma chave com cada pedido. Dê a cada aplicação a sua, com as permissões de que precisa.",
  create: "Criar uma chave", label: "Etiqueta", labelHelp: "Para que serve a chave, como o nome da aplicação", scopes: "Permissões", everything: "Tudo", some: "Só estas", expires: "Expira",
  expiry30: "Em 30 dias", expiry90: "Em 90 dias", expiry365: "Em um ano", expiryNever: "Nunca", choose: "Escolha pelo menos uma permissão",
  made: "Sua nova chave", madeText: "Copie-a agora: depois não será mostrada de novo.", copyKey: "Copiar a chave", done: "Já a copiei", key: "Chave", lastUsed: "Último uso", created: "Criada", state: "Estado",
  active: "Ativa", revoked: "Revogada", expired: "Expirada", revoke: "Revogar", revokeTitle: "Revogar a chave “{label}”?", revokeText: "As aplicações que a usam recebem um erro a partir de agora. Não pode ser desfeito.", didRevoke: "A chave está revogada",
  empty: "Ainda não há chaves", emptyText: "Uma aplicação precisa de uma chave para enviar notificações ou mostrar um widget.", showRevoked: "Mostrar as revogadas",
  "*": "Tudo", "notify:send": "Enviar mensagens", "notify:read": "Ler notificações", "voice:send": "Fazer chamadas", "templates:read": "Ler modelos", "templates:write": "Alterar modelos", "widget:use": "Mostrar widgets",
  "suppressions:write": "Alterar exclusões", "usage:read": "Ler o uso",
});
