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
		invited: "{name} invites you to {company}", invitedText: "{name} invites you to work with {company} in Carillon.",
		accept:    "Accept the invitation",
		expires:   "The link is good for seven days, and once. If you expected no invitation, you can ignore this message.",
		forgotten: "Set a new password", forgottenText: "Somebody asked for a new password for your Carillon account.",
		set: "Set a new password",
		forgetting: "The link is good for one hour, and once. If you did not ask for it, you can ignore this message: your password " +
			"stays as it is.",
	},
	"es": {
		invited: "{name} le invita a {company}", invitedText: "{name} le invita a trabajar con {company} en Carillon.",
		accept:    "Aceptar la invitación",
		expires:   "El enlace vale siete días y una sola vez. Si no esperaba ninguna invitación, puede ignorar este mensaje.",
		forgotten: "Ponga una contraseña nueva", forgottenText: "Alguien ha pedido una contraseña nueva para su cuenta de Carillon.",
		set: "Poner una contraseña nueva",
		forgetting: "El enlace vale una hora y una sola vez. Si no lo ha pedido usted, puede " +
			"ignorar este mensaje: su contraseña no cambia.",
	},
	"pt": {
		invited: "{name} convidou você para {company}", invitedText: "{name} convidou você para trabalhar com {company} no Carillon.",
		accept:    "Aceitar o convite",
		expires:   "O link vale por sete dias e uma única vez. Se você não esperava um convite, ignore esta mensagem.",
		forgotten: "Defina uma nova senha", forgottenText: "Alguém pediu uma nova senha para a sua conta do Carillon.",
		set: "Definir uma nova senha",
		forgetting: "O link vale por uma hora e uma única vez. Se não foi você que pediu, ignore " +
			"esta mensagem: sua senha continua a mesma.",
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
		{"mails/account/" + by.AccountID, accountMails, "You have sent as many e-mails today as one person may"},
		{"mails/company/" + by.CompanyID, companyMails, "The company has sent as many e-mails today as it may"},
		{kind.counter(x.To), kind.maxPerAddress, "This address got as many e-mails of this kind today as anybody may"},
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
