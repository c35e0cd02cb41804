import { dictionary } from "../../i18n";

/** Texts of the preview of a template. */
export const previewTexts = dictionary({
  preview: "Preview", image: "Picture", video: "Video", document: "Document", all: "See all options", sent: "Sent", delivered: "Delivered", read: "Read", failed: "Failed", opens: "Opens {url}", calls: "Calls {number}", copies: "Copies a code", empty: "The message appears here", missing: "{name}, without a value",
}, {
  preview: "Vista previa", image: "Imagen", video: "Vídeo", document: "Documento", all: "Ver todas las opciones", sent: "Enviado", delivered: "Entregado", read: "Leído", failed: "Fallido", opens: "Abre {url}", calls: "Llama al {number}", copies: "Copia un código", empty: "El mensaje aparece aquí", missing: "{name}, sin valor",
}, {
  preview: "Prévia", image: "Imagem", video: "Vídeo", document: "Documento", all: "Ver todas as opções", sent: "Enviada", delivered: "Entregue", read: "Lida", failed: "Falhou", opens: "Abre {url}", calls: "Liga para {number}", copies: "Copia um código", empty: "A mensagem aparece aqui", missing: "{name}, sem valor",
});
