import { dictionary } from "../i18n";

export const texts = dictionary({
  messages: "Messages", overview: "Overview", usage: "Usage", suppressions: "Suppressions", send: "Send", templates: "Templates", notifications: "Notifications", campaigns: "Campaigns", lookFor: "Find {text} in what was sent", lookedFor: "Nothing sent has the id {text}",
  inbox: "Inbox", calls: "Calls", conversations: "Conversations", setup: "Set-up", access: "Access", agents: "Agents", knowledge: "Knowledge", flows: "Flows", widgets: "Widgets", senders: "Senders", settings: "Settings", lines: "Lines", sandbox: "Sandbox phone", keys: "Access keys", people: "One person's data", secrets: "Secrets", webhooks: "Webhooks", activity: "Activity", users: "Users", account: "Your account",
  company: "Company", suspended: "Suspended", find: "Search", menu: "Menu", navigation: "Navigation", signOut: "Sign out", theme: "Theme", light: "Light", dark: "Dark", system: "System",
  language: "Language", documentation: "Documentation", shortcuts: "Keyboard shortcuts", skip: "Skip to the content", palette: "Search pages and actions…", nothing: "Nothing found", pages: "Pages", actions: "Actions",
  companySuspended: "This company is suspended. Only your own account can be opened.", stale: "Some of this page could not be refreshed: it shows what was loaded before.", again: "Try again", nowhere: "You are not a member of any company", nowhereText: "Ask an owner to add you, then load this page again.",
  openPalette: "Search pages and actions", openShortcuts: "Show these shortcuts", toggleTheme: "Switch between light and dark", goTo: "Go to {page}", switchTo: "Switch to {name}",
}, {
  messages: "Mensajes", overview: "Resumen", usage: "Uso", suppressions: "Supresiones", send: "Enviar", templates: "Plantillas", notifications: "Notificaciones", campaigns: "Campañas", lookFor: "Buscar {text} en lo enviado", lookedFor: "Nada de lo enviado tiene el id {text}",
  inbox: "Bandeja", calls: "Llamadas", conversations: "Conversaciones", setup: "Configuración", access: "Acceso", agents: "Agentes", knowledge: "Conocimiento", flows: "Flujos", widgets: "Widgets", senders: "Remitentes", settings: "Ajustes", lines: "Líneas", sandbox: "Teléfono de pruebas", keys: "Claves de acceso", people: "Datos de una persona", secrets: "Secretos", webhooks: "Webhooks", activity: "Actividad", users: "Usuarios", account: "Su cuenta",
  company: "Empresa", suspended: "Suspendida", find: "Buscar", menu: "Menú", navigation: "Navegación", signOut: "Cerrar sesión", theme: "Tema", light: "Claro", dark: "Oscuro", system: "Sistema",
  language: "Idioma", documentation: "Documentación", shortcuts: "Atajos de teclado", skip: "Saltar al contenido", palette: "Buscar páginas y acciones…", nothing: "No hay resultados", pages: "Páginas", actions: "Acciones",
  companySuspended: "Esta empresa está suspendida. Solo puede abrir su propia cuenta.", stale: "Una parte de esta página no se ha podido actualizar: muestra lo que se cargó antes.", again: "Volver a intentarlo", nowhere: "No pertenece a ninguna empresa", nowhereText: "Pida a un propietario que le añada y cargue la página otra vez.",
  openPalette: "Buscar páginas y acciones", openShortcuts: "Mostrar estos atajos", toggleTheme: "Cambiar entre claro y oscuro", goTo: "Ir a {page}", switchTo: "Cambiar a {name}",
}, {
  messages: "Mensagens", overview: "Resumo", usage: "Uso", suppressions: "Supressões", send: "Enviar", templates: "Modelos", notifications: "Notificações", campaigns: "Campanhas", lookFor: "Buscar {text} no que foi enviado", lookedFor: "Nada do que foi enviado tem o id {text}",
  inbox: "Caixa de entrada", calls: "Chamadas", conversations: "Conversas", setup: "Configuração", access: "Acesso", agents: "Agentes", knowledge: "Conhecimento", flows: "Fluxos", widgets: "Widgets", senders: "Remetentes", settings: "Ajustes", lines: "Linhas", sandbox: "Telefone de teste", keys: "Chaves de acesso", people: "Dados de uma pessoa", secrets: "Segredos", webhooks: "Webhooks", activity: "Atividade", users: "Usuários", account: "Sua conta",
  company: "Empresa", suspended: "Suspensa", find: "Buscar", menu: "Menu", navigation: "Navegação", signOut: "Sair", theme: "Tema", light: "Claro", dark: "Escuro", system: "Sistema",
  language: "Idioma", documentation: "Documentação", shortcuts: "Atalhos de teclado", skip: "Ir para o conteúdo", palette: "Buscar páginas e ações…", nothing: "Nada encontrado", pages: "Páginas", actions: "Ações",
  companySuspended: "Esta empresa está suspensa. Você só pode abrir a sua própria conta.", stale: "Parte desta página não pôde ser atualizada: ela mostra o que foi carregado antes.", again: "Tentar de novo", nowhere: "Você não pertence a nenhuma empresa", nowhereText: "Peça a um proprietário que o adicione e carregue a página de novo.",
  openPalette: "Buscar páginas e ações", openShortcuts: "Mostrar estes atalhos", toggleTheme: "Alternar entre claro e escuro", goTo: "Ir para {page}", switchTo: "Mudar para {name}",
});

export type ShellText = keyof typeof texts.en;
