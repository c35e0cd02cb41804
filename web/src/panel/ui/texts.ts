import { dictionary } from "../i18n";

/** Texts that all areas share. */
export const shared = dictionary({
  save: "Save", saved: "Saved", cancel: "Cancel", close: "Close", add: "Add", remove: "Remove", edit: "Edit", copy: "Copy", copied: "Copied", retry: "Try again", loading: "Loading…",
  never: "Never", none: "None", more: "Show more", actions: "Actions", back: "Back", yes: "Yes", no: "No", required: "Required", optional: "optional", search: "Search", discard: "Discard changes",
  leave: "Leave without saving?", leaveText: "What you changed here is not saved.", stay: "Stay",
  failed: "That did not work", requestId: "Request", unreachable: "Carillon cannot be reached. Check your connection.", unauthorized: "Your session is over: sign in again",
  forbidden: "You may not do this", not_found: "Not found", conflict: "That is not possible as things are now", validation_failed: "Please check the input",
  rate_limit_exceeded: "Too many requests: try again in a moment", limit_exceeded: "A limit is reached", payload_too_large: "That is too large", service_unavailable: "Carillon cannot do this now: try again",
  internal_error: "Something went wrong inside Carillon", denied: "You cannot open this page", deniedText: "Your role in this company does not include it. An owner or admin can change your role.",
  lost: "There is no such page", lostText: "The address may be old, or have a typing error.", home: "Go to the start", crashed: "This page failed to load", crashedText: "Load it again. If it keeps failing, Carillon may just have been updated.",
  reload: "Load again", unsaved: "There are changes that are not saved",
  owner: "Owner", admin: "Admin", developer: "Developer", marketer: "Marketer", teammate: "Teammate", viewer: "Viewer",
}, {
  save: "Guardar", saved: "Guardado", cancel: "Cancelar", close: "Cerrar", add: "Añadir", remove: "Quitar", edit: "Editar", copy: "Copiar", copied: "Copiado", retry: "Reintentar", loading: "Cargando…",
  never: "Nunca", none: "Ninguno", more: "Mostrar más", actions: "Acciones", back: "Volver", yes: "Sí", no: "No", required: "Obligatorio", optional: "opcional", search: "Buscar", discard: "Descartar cambios",
  leave: "¿Salir sin guardar?", leaveText: "Los cambios que ha hecho aquí no están guardados.", stay: "Quedarse",
  failed: "No se pudo hacer", requestId: "Petición", unreachable: "No se puede acceder a Carillon. Compruebe su conexión.", unauthorized: "Su sesión ha terminado: inicie sesión otra vez",
  forbidden: "No puede hacer esto", not_found: "No se ha encontrado", conflict: "No es posible en el estado actual", validation_failed: "Revise los datos",
  rate_limit_exceeded: "Demasiadas peticiones: inténtelo en un momento", limit_exceeded: "Se ha alcanzado un límite", payload_too_large: "Es demasiado grande", service_unavailable: "Carillon no puede hacerlo ahora: reinténtelo",
  internal_error: "Algo ha fallado dentro de Carillon", denied: "No puede abrir esta página", deniedText: "Su rol en esta empresa no la incluye. Un propietario o administrador puede cambiar su rol.",
  lost: "Esta página no existe", lostText: "La dirección puede ser antigua o tener un error.", home: "Ir al inicio", crashed: "No se ha podido cargar la página", crashedText: "Cárguela otra vez. Si sigue fallando, puede que Carillon se acabe de actualizar.",
  reload: "Cargar otra vez", unsaved: "Hay cambios sin guardar",
  owner: "Propietario", admin: "Administrador", developer: "Desarrollador", marketer: "Marketing", teammate: "Atención", viewer: "Lector",
}, {
  save: "Salvar", saved: "Salvo", cancel: "Cancelar", close: "Fechar", add: "Adicionar", remove: "Remover", edit: "Editar", copy: "Copiar", copied: "Copiado", retry: "Tentar de novo", loading: "Carregando…",
  never: "Nunca", none: "Nenhum", more: "Mostrar mais", actions: "Ações", back: "Voltar", yes: "Sim", no: "Não", required: "Obrigatório", optional: "opcional", search: "Buscar", discard: "Descartar alterações",
  leave: "Sair sem salvar?", leaveText: "As alterações feitas aqui não foram salvas.", stay: "Ficar",
  failed: "Não deu certo", requestId: "Pedido", unreachable: "Não foi possível acessar o Carillon. Verifique a sua conexão.", unauthorized: "A sua sessão terminou: entre de novo",
  forbidden: "Você não pode fazer isso", not_found: "Não encontrado", conflict: "Não é possível no estado atual", validation_failed: "Verifique os dados",
  rate_limit_exceeded: "Muitos pedidos: tente de novo daqui a pouco", limit_exceeded: "Foi atingido um limite", payload_too_large: "É grande demais", service_unavailable: "O Carillon não pode fazer isso agora: tente de novo",
  internal_error: "Algo falhou dentro do Carillon", denied: "Você não pode abrir esta página", deniedText: "Seu papel nesta empresa não a inclui. Um proprietário ou administrador pode mudar o seu papel.",
  lost: "Esta página não existe", lostText: "O endereço pode ser antigo ou ter um erro.", home: "Ir para o início", crashed: "Não foi possível carregar a página", crashedText: "Carregue-a de novo. Se continuar falhando, talvez o Carillon tenha acabado de ser atualizado.",
  reload: "Carregar de novo", unsaved: "Há alterações não salvas",
  owner: "Proprietário", admin: "Administrador", developer: "Desenvolvedor", marketer: "Marketing", teammate: "Atendimento", viewer: "Leitor",
});
