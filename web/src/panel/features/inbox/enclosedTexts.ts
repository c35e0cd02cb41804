import { dictionary } from "../../i18n";

/** Texts of the parts of messages, and of groups. */
export const texts = dictionary({
  form: "Answers of a form", order: "Order", product: "Product", quantity: "Quantity", price: "Price", total: "Total", ad: "From an ad", post: "From a post", about: "About the product {product}",
  group: "Group", inGroup: "A group at WhatsApp", noReply: "Groups are only read here: nobody is answered in them.",
}, {
  form: "Respuestas de un formulario", order: "Pedido", product: "Producto", quantity: "Cantidad", price: "Precio", total: "Total", ad: "Por un anuncio", post: "Por una publicación", about: "Sobre el producto {product}",
  group: "Grupo", inGroup: "Un grupo de WhatsApp", noReply: "Aquí los grupos solo se leen: en ellos no se responde a nadie.",
}, {
  form: "Respostas de um formulário", order: "Pedido", product: "Produto", quantity: "Quantidade", price: "Preço", total: "Total", ad: "Por um anúncio", post: "Por uma publicação", about: "Sobre o produto {product}",
  group: "Grupo", inGroup: "Um grupo do WhatsApp", noReply: "Aqui os grupos são só lidos: neles não se responde a ninguém.",
});
