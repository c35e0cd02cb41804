package notice

import "carillon/internal/base/language"

// teamText are the texts of notices to teammates.
type teamText struct{ one, named, many, visitor, since, off string }

//nolint:gochecknoglobals // read only
var teamTexts = map[string]teamText{
	"en": {
		one: "A visitor is waiting", named: "{name} is waiting", many: "{n} visitors are waiting", visitor: "Visitor",
		since: "Unanswered for {n} minutes.",
		off:   "To stop these e-mails or set quiet hours, open your account in the panel.",
	},
	"es": {
		one: "Un visitante espera respuesta", named: "{name} espera respuesta", many: "{n} visitantes esperan respuesta",
		visitor: "Visitante",
		since:   "Sin respuesta desde hace {n} minutos.",
		off:     "Para dejar de recibir estos correos o fijar horas de silencio, abra su cuenta en el panel.",
	},
	"pt": {
		one: "Um visitante está esperando", named: "{name} está esperando", many: "{n} visitantes estão esperando", visitor: "Visitante",
		since: "Sem resposta há {n} minutos.",
		off:   "Para não receber mais estes e-mails ou definir um horário de silêncio, abra sua conta no painel.",
	},
}

// visitorText are the texts of e-mails to visitors.
type visitorText struct{ subject, asked, replied, file, back, open, unread string }

//nolint:gochecknoglobals // read only
var visitorTexts = map[string]visitorText{
	"en": {
		subject: "{company} replied to you", asked: "You asked:", replied: "{name} replied:", file: "File: {name} (open it in the chat)",
		back: "Continue in the chat", open: "To reply, open the chat on our website again.",
		unread: "Replies to this e-mail aren't read.",
	},
	"es": {
		subject: "{company} le ha respondido", asked: "Usted preguntó:", replied: "{name} respondió:",
		file: "Archivo: {name} (ábralo en el chat)", back: "Continuar en el chat",
		open: "Para responder, abra de nuevo el chat en nuestra web.", unread: "Las respuestas a este correo no se leen.",
	},
	"pt": {
		subject: "{company} respondeu a você", asked: "Você perguntou:", replied: "{name} respondeu:",
		file: "Arquivo: {name} (abra no chat)", back: "Continuar no chat",
		open: "Para responder, abra novamente o chat no nosso site.", unread: "As respostas a este e-mail não são lidas.",
	},
}

// letter returns the page of an e-mail.
func letter(lang, body string) string {
	return `<!doctype html><html lang="` + language.Base(lang) + `">` +
		`<body style="margin:0;padding:32px 16px;background:#f4f4f2;font:16px/1.5 system-ui,sans-serif;color:#1c1c1a">` +
		`<div style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:12px">` + body + `</div></body></html>`
}
