/** useTemplates are the templates of all senders of the company. */
export { useTemplates } from "../templates/useTemplates";
