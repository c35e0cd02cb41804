package account

import (
	"context"
	"html"
	"net/http"
	"strings"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/account/mail"
	"carillon/internal/base/config"
	"carillon/internal/base/jsonbody"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store/configure"
)

// mailTexts are the e-mail texts in one language, with the placeholders {name}, {company} and {link}.
type mailTexts struct {
	invited, invitedText, accept, expires     string
	forgotten, forgottenText, set, forgetting string
}

//nolint:gochecknoglobals // read only
var mailLanguages = map[string]mailTexts{
	"en": {
		invited: "{name} invited you to {company}", invitedText: "{name} invited you to work with {company} in Carillon.",
		accept:    "Accept invitation",
		expires:   "This link works once and expires in seven days. If you weren't expecting it, you can ignore this e-mail.",
		forgotten: "Reset your password", forgottenText: "We got a request to reset the password of your Carillon account.",
		set: "Set a new password",
		forgetting: "This link works once and expires in one hour. If you didn't request it, you can ignore this e-mail. " +
			"Your password won't change.",
	},
	"es": {
		invited: "{name} le ha invitado a {company}", invitedText: "{name} le ha invitado a trabajar con {company} en Carillon.",
		accept:        "Aceptar la invitación",
		expires:       "Este enlace es de un solo uso y caduca en siete días. Si no lo esperaba, puede ignorar este correo.",
		forgotten:     "Restablezca su contraseña",
		forgottenText: "Hemos recibido una solicitud para restablecer la contraseña de su cuenta de Carillon.",
		set:           "Definir una contraseña nueva",
		forgetting: "Este enlace es de un solo uso y caduca en una hora. Si no lo ha pedido usted, puede ignorar este correo. " +
			"Su contraseña no cambiará.",
	},
	"pt": {
		invited: "{name} convidou você para {company}", invitedText: "{name} convidou você para trabalhar com {company} no Carillon.",
		accept:    "Aceitar o convite",
		expires:   "Este link funciona uma vez e expira em sete dias. Se você não esperava por ele, ignore este e-mail.",
		forgotten: "Redefina sua senha", forgottenText: "Recebemos uma solicitação para redefinir a senha da sua conta do Carillon.",
		set: "Definir uma nova senha",
		forgetting: "Este link funciona uma vez e expira em uma hora. Se não foi você que pediu, ignore este e-mail. " +
			"Sua senha não será alterada.",
	},
}

// mailLanguage returns the language of an e-mail: the requested one, or else the first supported language of the
// browser.
func mailLanguage(o *jsonbody.Object, r *http.Request) (string, error) {
	s, given, err := o.String("language", "language")
	if err != nil {
		return "", err
	}
	if given {
		if _, known := mailLanguages[s]; !known {
			return "", carillon.Invalid("language", "Must be en, es or pt")
		}
		return s, nil
	}
	for wanted := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		code, _, _ := strings.Cut(strings.TrimSpace(wanted), ";")
		code, _, _ = strings.Cut(strings.ToLower(code), "-")
		if _, known := mailLanguages[code]; known {
			return code, nil
		}
	}
	return "en", nil
}

func invitationMail(language, name, company, link string) mail.Message {
	t := mailLanguages[language]
	fill := strings.NewReplacer("{name}", name, "{company}", company)
	return letter(language, fill.Replace(t.invited), fill.Replace(t.invitedText), t.accept, link, t.expires)
}

func forgottenMail(language, link string) mail.Message {
	t := mailLanguages[language]
	return letter(language, t.forgotten, t.forgottenText, t.set, link, t.forgetting)
}

// letter returns an e-mail with one link.
func letter(language, subject, text, button, link, note string) mail.Message {
	e := html.EscapeString
	return mail.Message{
		Subject: subject,
		Text:    text + "\n\n" + button + ":\n" + link + "\n\n" + note + "\n",
		HTML: `<!doctype html><html lang="` + language + `">` +
			`<body style="margin:0;padding:32px 16px;background:#f4f4f2;font:16px/1.5 system-ui,sans-serif;color:#1c1c1a">` +
			`<div style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:12px">` +
			`<p style="margin:0 0 24px">` + e(text) + `</p>` +
			`<p style="margin:0 0 24px"><a href="` + e(link) + `" style="display:inline-block;padding:12px 20px;` +
			`background:#1f5fbf;color:#fff;border-radius:8px;text-decoration:none;font-weight:600">` + e(button) + `</a></p>` +
			`<p style="margin:0;color:#62625c;font-size:14px">` + e(note) + `</p></div></body></html>`,
	}
}

// mails is a kind of e-mail to people who did not request it, or did not prove that they did. These are limited
// because they are sent through the operator's server, whose reputation all companies share.
type mails struct {
	name          string
	maxPerAddress int // per day
}

//nolint:gochecknoglobals // read only
var (
	invitationMails = mails{"invitation", 5}
	passwordMails   = mails{"password", 20}
)

const (
	companyMails = 200 // per day and company, all kinds together
	accountMails = 100 // per day and member
)

// Letters sends e-mails within daily limits.
type Letters struct {
	Limits *limit.Limits
	Mail   Mailer // nil disables e-mail
}

// deliver sends an e-mail on behalf of a member if the installation can send e-mail and the daily limits allow it.
// problem is the reason why it was not sent: the mail server's text or the exceeded limit.
func (d Letters) deliver(ctx context.Context, by member.Member, kind mails, x mail.Message) (sent bool, problem string, err error) {
	if d.Mail == nil {
		return false, "", nil
	}
	for _, bound := range []struct {
		name    string
		most    int
		problem string
	}{
		{"mails/account/" + by.AccountID, accountMails, "You've reached today's limit of e-mails"},
		{"mails/company/" + by.CompanyID, companyMails, "The company has reached today's limit of e-mails"},
		{kind.counter(x.To), kind.maxPerAddress, "This address has reached today's limit of these e-mails"},
	} {
		err := d.Limits.AllowToday(ctx, bound.name, bound.most)
		if carillon.IsCode(err, carillon.RateLimitExceeded) {
			return false, bound.problem, nil
		}
		if err != nil {
			return false, "", err
		}
	}
	if err := d.Mail.Send(ctx, x); err != nil {
		return false, err.Error(), nil //nolint:nilerr // a problem for the sender of the invitation
	}
	return true, "", nil
}

// counter returns the name of the counter of e-mails to an address.
func (k mails) counter(address string) string {
	return "mails/" + k.name + "/" + configure.Digest(config.FoldEmail(address))
}

// limitReached counts an e-mail to an address, and reports whether the address has reached today's limit for the kind.
func (d Letters) limitReached(ctx context.Context, kind mails, address string) (bool, error) {
	err := d.Limits.AllowToday(ctx, kind.counter(address), kind.maxPerAddress)
	if carillon.IsCode(err, carillon.RateLimitExceeded) {
		return true, nil
	}
	return false, err
}
