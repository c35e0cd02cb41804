// The texts of the inbox.
export const en = {
  inbox: "Inbox", mine: "Mine", unassigned: "Unassigned", automated: "Automated", all: "All", open: "Open", closed: "Resolved", search: "Search conversations", tag: "Tag", clear: "Clear",
  noneMine: "Nothing is assigned to you", noneMineHint: "Take a conversation from “Unassigned”.", noneUnassigned: "Nobody is waiting", noneUnassignedHint: "Visitors who ask for a person appear here.",
  noneAutomated: "The agent is not talking to anyone", noneAutomatedHint: "Conversations that an agent answers appear here; you can take them over.",
  noneAll: "No conversations yet", noneAllHint: "Put a chat widget on your site, and they appear here.", noneFound: "No conversation matches", noneClosed: "Nothing has been resolved yet", more: "Load more", older: "Load earlier messages",
  loading: "Loading…", failed: "The conversations could not be loaded.", threadFailed: "This conversation could not be loaded.", retry: "Try again", choose: "Choose a conversation", chooseHint: "j and k go through the list, ? shows all keys.",
  reconnecting: "Reconnecting. What you see may be out of date.", back: "Back to the list", visitor: "Visitor", agent: "Agent", you: "You", note: "Note", someone: "A teammate",
  bot: "Agent answers", queued: "Waiting", active: "With a person", wrap_up: "Visitor left", resolved: "Resolved", missed: "Missed", abandoned: "Left the queue", waits: "waiting {time}",
  take: "Take", takeOver: "Take over", assign: "Assign", assignTo: "Assign to", me: "Assign to me", queue: "Back to the queue", toAgent: "Back to the agent", resolve: "Resolve", reopen: "Reopen", actions: "More actions",
  details: "Contact details", hideDetails: "Hide contact details", assigned: "{name}", nobody: "Nobody",
  reply: "Reply", internal: "Internal note", replyTo: "Reply to {name}…", noteHint: "Only teammates see this note…", send: "Send", addNote: "Add note", takesOver: "Your reply takes the conversation over from the agent.", others: "{name} has this conversation.",
  writing: "{name} is writing…", viewing: "{name} is looking at this too", viewingMany: "{n} teammates are looking at this too", sending: "Sending…", notSent: "Not sent", seen: "Seen", sources: "Sources",
  answered: "Answered meanwhile", answeredText: "Somebody answered while you were writing. Read it before you send yours.", sendAnyway: "Send anyway", keep: "Keep editing",
  taken: "Somebody else has it", takenText: "{name} has this conversation. You can take it over and send your reply.", takeAndSend: "Take over and send", cancel: "Cancel", wasTaken: "{name} was faster and has it now.",
  tooLong: "{n} characters too many", draft: "Draft", canned: "Canned replies", cannedHint: "Type / to use one", cannedNone: "No canned replies yet", cannedAdd: "Add a reply", shortcut: "Shortcut", shortcutHint: "Lower-case letters, digits, - and _",
  text: "Text", save: "Save", remove: "Delete", removeAsk: "Delete the reply /{name}?", edit: "Edit", close: "Close", insert: "Insert",
  name: "Name", email: "E-mail", number: "Phone number", language: "Language", page: "Page", verified: "Verified by your site", unverified: "Not verified", firstSeen: "First seen", lastSeen: "Last seen", tags: "Tags", addTag: "Add a tag",
  otherConversations: "Other conversations", notifications: "Notifications", noNotifications: "None sent to this number", noNumber: "Add a phone number to see the notifications sent to it.", saved: "Saved", rating: "Rating",
  available: "Available", away: "Away", settings: "Inbox settings", sound: "Sound for new messages", desktop: "Browser notifications", desktopDenied: "Your browser does not allow notifications from this site.", team: "Team", teamNone: "Nobody else is here",
  newFrom: "New message from {name}", waitingFor: "{name} asks for a person", today: "Today", yesterday: "Yesterday", file: "File", attach: "Attach files", noAnswer: "You may read conversations but not answer them.",
  event_handoff_requested: "The visitor asked for a person", event_missed: "Nobody was available", event_joined: "{name} joined", event_released: "{name} gave it back to the queue", event_returned: "{name} gave it back to the agent",
  event_resolved: "Resolved by {name}", event_resolved_agent: "Resolved by the agent", event_reopened: "Reopened", event_left: "The visitor ended the conversation", event_abandoned: "The visitor left the queue", event_introduced: "The visitor left contact details", event_rated: "The visitor rated {n} of 5",
  key_move: "Next and previous conversation", key_take: "Take", key_resolve: "Resolve", key_reply: "Reply", key_note: "Internal note", key_search: "Search", key_details: "Contact details",
};
export type InboxTexts = typeof en;

export const es: InboxTexts = {
  inbox: "Bandeja", mine: "Mías", unassigned: "Sin asignar", automated: "Automáticas", all: "Todas", open: "Abiertas", closed: "Resueltas", search: "Buscar conversaciones", tag: "Etiqueta", clear: "Quitar",
  noneMine: "No tiene nada asignado", noneMineHint: "Tome una conversación de «Sin asignar».", noneUnassigned: "No espera nadie", noneUnassignedHint: "Aquí aparecen los visitantes que piden una persona.",
  noneAutomated: "El agente no habla con nadie", noneAutomatedHint: "Aquí aparecen las conversaciones que responde un agente; puede tomarlas.",
  noneAll: "Todavía no hay conversaciones", noneAllHint: "Ponga un chat en su sitio y aparecerán aquí.", noneFound: "Ninguna conversación coincide", noneClosed: "Todavía no se ha resuelto nada", more: "Cargar más", older: "Cargar mensajes anteriores",
  loading: "Cargando…", failed: "No se han podido cargar las conversaciones.", threadFailed: "No se ha podido cargar esta conversación.", retry: "Reintentar", choose: "Elija una conversación", chooseHint: "j y k recorren la lista, ? muestra las teclas.",
  reconnecting: "Reconectando. Lo que ve puede no estar al día.", back: "Volver a la lista", visitor: "Visitante", agent: "Agente", you: "Usted", note: "Nota", someone: "Un compañero",
  bot: "Responde el agente", queued: "En espera", active: "Con una persona", wrap_up: "El visitante se fue", resolved: "Resuelta", missed: "Perdida", abandoned: "Dejó la cola", waits: "espera desde hace {time}",
  take: "Tomar", takeOver: "Tomar el relevo", assign: "Asignar", assignTo: "Asignar a", me: "Asignármela", queue: "Devolver a la cola", toAgent: "Devolver al agente", resolve: "Resolver", reopen: "Reabrir", actions: "Más acciones",
  details: "Datos del contacto", hideDetails: "Ocultar los datos", assigned: "{name}", nobody: "Nadie",
  reply: "Respuesta", internal: "Nota interna", replyTo: "Responder a {name}…", noteHint: "Esta nota solo la ve su equipo…", send: "Enviar", addNote: "Añadir nota", takesOver: "Al responder, toma la conversación al agente.", others: "{name} tiene esta conversación.",
  writing: "{name} está escribiendo…", viewing: "{name} también la está viendo", viewingMany: "{n} compañeros también la están viendo", sending: "Enviando…", notSent: "No enviado", seen: "Visto", sources: "Fuentes",
  answered: "Ya se ha respondido", answeredText: "Alguien ha respondido mientras escribía. Léalo antes de enviar lo suyo.", sendAnyway: "Enviar igualmente", keep: "Seguir editando",
  taken: "La tiene otra persona", takenText: "{name} tiene esta conversación. Puede tomarla y enviar su respuesta.", takeAndSend: "Tomar y enviar", cancel: "Cancelar", wasTaken: "{name} ha sido más rápido y ya la tiene.",
  tooLong: "Sobran {n} caracteres", draft: "Borrador", canned: "Respuestas guardadas", cannedHint: "Escriba / para usar una", cannedNone: "Todavía no hay respuestas guardadas", cannedAdd: "Añadir una respuesta", shortcut: "Atajo", shortcutHint: "Letras minúsculas, cifras, - y _",
  text: "Texto", save: "Guardar", remove: "Eliminar", removeAsk: "¿Eliminar la respuesta /{name}?", edit: "Editar", close: "Cerrar", insert: "Insertar",
  name: "Nombre", email: "Correo electrónico", number: "Teléfono", language: "Idioma", page: "Página", verified: "Verificado por su sitio", unverified: "Sin verificar", firstSeen: "Primera visita", lastSeen: "Última visita", tags: "Etiquetas", addTag: "Añadir una etiqueta",
  otherConversations: "Otras conversaciones", notifications: "Notificaciones", noNotifications: "No se ha enviado ninguna a este número", noNumber: "Añada un teléfono para ver las notificaciones que recibió.", saved: "Guardado", rating: "Valoración",
  available: "Disponible", away: "Ausente", settings: "Ajustes de la bandeja", sound: "Sonido al llegar mensajes", desktop: "Notificaciones del navegador", desktopDenied: "Su navegador no permite notificaciones de este sitio.", team: "Equipo", teamNone: "No hay nadie más",
  newFrom: "Mensaje nuevo de {name}", waitingFor: "{name} pide una persona", today: "Hoy", yesterday: "Ayer", file: "Archivo", attach: "Adjuntar archivos", noAnswer: "Puede leer las conversaciones, pero no responderlas.",
  event_handoff_requested: "El visitante pidió una persona", event_missed: "No había nadie disponible", event_joined: "{name} se ha unido", event_released: "{name} la devolvió a la cola", event_returned: "{name} la devolvió al agente",
  event_resolved: "Resuelta por {name}", event_resolved_agent: "Resuelta por el agente", event_reopened: "Reabierta", event_left: "El visitante terminó la conversación", event_abandoned: "El visitante dejó la cola", event_introduced: "El visitante dejó sus datos", event_rated: "El visitante valoró {n} de 5",
  key_move: "Conversación siguiente y anterior", key_take: "Tomar", key_resolve: "Resolver", key_reply: "Responder", key_note: "Nota interna", key_search: "Buscar", key_details: "Datos del contacto",
};

export const pt: InboxTexts = {
  inbox: "Caixa de entrada", mine: "Minhas", unassigned: "Por atribuir", automated: "Automáticas", all: "Todas", open: "Abertas", closed: "Resolvidas", search: "Procurar conversas", tag: "Etiqueta", clear: "Limpar",
  noneMine: "Não tem nada atribuído", noneMineHint: "Assuma uma conversa de «Por atribuir».", noneUnassigned: "Ninguém está à espera", noneUnassignedHint: "Os visitantes que pedem uma pessoa aparecem aqui.",
  noneAutomated: "O agente não fala com ninguém", noneAutomatedHint: "As conversas a que um agente responde aparecem aqui; pode assumi-las.",
  noneAll: "Ainda não há conversas", noneAllHint: "Coloque um chat no seu site, e aparecem aqui.", noneFound: "Nenhuma conversa corresponde", noneClosed: "Ainda não foi resolvido nada", more: "Carregar mais", older: "Carregar mensagens anteriores",
  loading: "A carregar…", failed: "Não foi possível carregar as conversas.", threadFailed: "Não foi possível carregar esta conversa.", retry: "Tentar de novo", choose: "Escolha uma conversa", chooseHint: "j e k percorrem a lista, ? mostra as teclas.",
  reconnecting: "A religar. O que vê pode não estar atualizado.", back: "Voltar à lista", visitor: "Visitante", agent: "Agente", you: "Você", note: "Nota", someone: "Um colega",
  bot: "O agente responde", queued: "À espera", active: "Com uma pessoa", wrap_up: "O visitante saiu", resolved: "Resolvida", missed: "Perdida", abandoned: "Saiu da fila", waits: "espera há {time}",
  take: "Assumir", takeOver: "Assumir", assign: "Atribuir", assignTo: "Atribuir a", me: "Atribuir a mim", queue: "Devolver à fila", toAgent: "Devolver ao agente", resolve: "Resolver", reopen: "Reabrir", actions: "Mais ações",
  details: "Dados do contacto", hideDetails: "Ocultar os dados", assigned: "{name}", nobody: "Ninguém",
  reply: "Resposta", internal: "Nota interna", replyTo: "Responder a {name}…", noteHint: "Só a sua equipa vê esta nota…", send: "Enviar", addNote: "Juntar nota", takesOver: "A sua resposta assume a conversa do agente.", others: "{name} tem esta conversa.",
  writing: "{name} está a escrever…", viewing: "{name} também está a ver", viewingMany: "{n} colegas também estão a ver", sending: "A enviar…", notSent: "Não enviado", seen: "Visto", sources: "Fontes",
  answered: "Já foi respondido", answeredText: "Alguém respondeu enquanto escrevia. Leia antes de enviar a sua.", sendAnyway: "Enviar na mesma", keep: "Continuar a editar",
  taken: "Outra pessoa tem-na", takenText: "{name} tem esta conversa. Pode assumi-la e enviar a sua resposta.", takeAndSend: "Assumir e enviar", cancel: "Cancelar", wasTaken: "{name} foi mais rápido e já a tem.",
  tooLong: "{n} caracteres a mais", draft: "Rascunho", canned: "Respostas guardadas", cannedHint: "Escreva / para usar uma", cannedNone: "Ainda não há respostas guardadas", cannedAdd: "Juntar uma resposta", shortcut: "Atalho", shortcutHint: "Letras minúsculas, algarismos, - e _",
  text: "Texto", save: "Guardar", remove: "Eliminar", removeAsk: "Eliminar a resposta /{name}?", edit: "Editar", close: "Fechar", insert: "Inserir",
  name: "Nome", email: "E-mail", number: "Telefone", language: "Idioma", page: "Página", verified: "Verificado pelo seu site", unverified: "Não verificado", firstSeen: "Primeira visita", lastSeen: "Última visita", tags: "Etiquetas", addTag: "Juntar uma etiqueta",
  otherConversations: "Outras conversas", notifications: "Notificações", noNotifications: "Nenhuma enviada para este número", noNumber: "Junte um telefone para ver as notificações que recebeu.", saved: "Guardado", rating: "Avaliação",
  available: "Disponível", away: "Ausente", settings: "Definições da caixa", sound: "Som para mensagens novas", desktop: "Notificações do navegador", desktopDenied: "O seu navegador não permite notificações deste site.", team: "Equipa", teamNone: "Não está mais ninguém",
  newFrom: "Mensagem nova de {name}", waitingFor: "{name} pede uma pessoa", today: "Hoje", yesterday: "Ontem", file: "Ficheiro", attach: "Anexar ficheiros", noAnswer: "Pode ler as conversas, mas não responder.",
  event_handoff_requested: "O visitante pediu uma pessoa", event_missed: "Não estava ninguém disponível", event_joined: "{name} entrou", event_released: "{name} devolveu-a à fila", event_returned: "{name} devolveu-a ao agente",
  event_resolved: "Resolvida por {name}", event_resolved_agent: "Resolvida pelo agente", event_reopened: "Reaberta", event_left: "O visitante terminou a conversa", event_abandoned: "O visitante saiu da fila", event_introduced: "O visitante deixou os seus dados", event_rated: "O visitante avaliou com {n} de 5",
  key_move: "Conversa seguinte e anterior", key_take: "Assumir", key_resolve: "Resolver", key_reply: "Responder", key_note: "Nota interna", key_search: "Procurar", key_details: "Dados do contacto",
};

export const texts: Record<"en" | "es" | "pt", InboxTexts> = { en, es, pt };

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, key: string) => (key in values ? String(values[key]) : whole));
}
