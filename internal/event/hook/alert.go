package hook

import (
	"context"
	"html"
	"log/slog"
	"net/url"
	"strings"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/mail"
	"carillon/internal/store"
)

// maxOwners bounds the owners of a company who get an e-mail.
const maxOwners = 20

// Owners sends e-mails about failing endpoints to the owners of companies.
type Owners struct {
	Store   *store.Store
	Mailer  *mail.Mailer  // nil disables e-mails
	BaseURL func() string // base URL of the installation
	Log     *slog.Logger
}

// Alert sends the owners of a company an e-mail about a failing endpoint.
func (o Owners) Alert(ctx context.Context, x Alert) {
	if o.Mailer == nil {
		return
	}
	members, err := o.Store.Accounts.Members(ctx, x.CompanyID, "", 1000)
	if err != nil {
		o.Log.WarnContext(ctx, "read the owners of a company", "error", err)
		return
	}
	message := alertMail(x, o.BaseURL()+"/panel/webhooks?company="+url.QueryEscape(x.CompanyID))
	sent := 0
	for _, m := range members {
		if auth.Role(m.Role) != auth.Owner || sent == maxOwners {
			continue
		}
		sent++
		to := message
		to.To = m.Email
		if !o.Mailer.Post(func(context.Context) (*mail.Message, error) { return &to, nil }) {
			o.Log.WarnContext(ctx, "too many e-mails wait: an owner does not learn of a failing endpoint", "company_id", x.CompanyID)
		}
	}
}

func alertMail(x Alert, link string) mail.Message {
	at := host(x.URL)
	subject := "Events are no longer delivered to " + at
	var next string
	switch {
	case x.Gone:
		next = "It responded 410 Gone, which ends deliveries. Turn the endpoint on again where that was a mistake: " +
			"what happened within the last seven days is then delivered."
	case x.Ended:
		next = "It failed for three days. Mend it and turn it on again: what happened within the last seven days is then delivered."
	default:
		subject = "Events cannot be delivered to " + at
		next = "If that goes on, deliveries stop on " + carillon.FormatTime(x.Disabled) +
			". Events are kept meanwhile and are delivered once it responds again."
	}
	text := "The endpoint at " + at + " has failed since " + carillon.FormatTime(x.Since) + ". Last: " + x.Last + "."
	return mail.Message{
		Subject: subject, Text: strings.Join([]string{text, next, link}, "\n\n") + "\n",
		HTML: "<p>" + html.EscapeString(text) + "</p><p>" + html.EscapeString(next) + `</p><p><a href="` + html.EscapeString(link) +
			`">Open the endpoint</a></p>`,
	}
}

// host returns the host of a URL. The path and query may contain a secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "its address"
	}
	return u.Hostname()
}
