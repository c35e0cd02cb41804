import { dictionary } from "../../i18n";

/** Texts of the parts of messages, and of groups. */
export const texts = dictionary({
  form: "Form answers", order: "Order", product: "Product", quantity: "Quantity", price: "Price", total: "Total", ad: "From an ad", post: "From a post", about: "About the product {product}",
  group: "Group", inGroup: "A WhatsApp group", noReply: "Groups are read-only here: no replies can be sent.",
}, {
  form: "Respuestas del formulario", order: "Pedido", product: "Producto", quantity: "Cantidad", price: "Precio", total: "Total", ad: "Por un anuncio", post: "Por una publicación", about: "Sobre el producto {product}",
  group: "Grupo", inGroup: "Un grupo de WhatsApp", noReply: "Aquí los grupos son de solo lectura: no se puede responder.",
}, {
  form: "Respostas do formulário", order: "Pedido", product: "Produto", quantity: "Quantidade", price: "Preço", total: "Total", ad: "Por um anúncio", post: "Por uma publicação", about: "Sobre o produto {product}",
  group: "Grupo", inGroup: "Um grupo do WhatsApp", noReply: "Aqui os grupos são somente leitura: não é possível responder.",
});
