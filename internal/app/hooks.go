package app

import (
	"context"
	"html"
	"net/url"
	"strings"
	"time"

	"carillon"
	"carillon/internal/auth"
	"carillon/internal/cpu"
	"carillon/internal/egress"
	"carillon/internal/hook"
	"carillon/internal/mail"
)

// hookConnections are kept open to an endpoint of events.
const hookConnections = 8

// newHooks builds what delivers events to endpoints.
func newHooks(a *App) *hook.Deliverer {
	a.hookServers = egress.New(egress.Options{
		AllowPrivate: a.cfg.MediaAllowPrivate, AnyPort: true, PerHost: hookConnections, Timeout: hook.Timeout, MaxBody: -1, Redirects: -1,
	})
	return hook.NewDeliverer(a.store, hook.Options{
		Client: a.hookServers, Owns: a.queue.Owns, Alert: owners{a}.alert, Attempted: a.metrics.hookAttempted, Suspended: suspended(a.store), Log: a.log,
		Busy: new(cpu.Watch).Busy,
	})
}

// ownersMost is how many owners of a company get an e-mail.
const ownersMost = 20

// owners of companies get e-mails.
type owners struct{ app *App }

// alert sends the owners of a company an e-mail about an endpoint that fails.
func (o owners) alert(ctx context.Context, x hook.Alert) {
	a := o.app
	if a.mailer == nil {
		return
	}
	members, err := a.store.Members(ctx, x.CompanyID, "", 1000)
	if err != nil {
		a.log.WarnContext(ctx, "read the owners of a company", "error", err)
		return
	}
	message := alertMail(x, a.ready.BaseURL+"/panel/webhooks?company="+url.QueryEscape(x.CompanyID))
	sent := 0
	for _, m := range members {
		if auth.Role(m.Role) != auth.Owner || sent == ownersMost {
			continue
		}
		sent++
		to := message
		to.To = m.Email
		if !a.mailer.Post(func(context.Context) (*mail.Message, error) { return &to, nil }) {
			a.log.WarnContext(ctx, "too many e-mails wait: an owner does not learn of a failing endpoint", "company_id", x.CompanyID)
		}
	}
}

func alertMail(x hook.Alert, link string) mail.Message {
	host := hostOf(x.URL)
	subject, next := "Events cannot be delivered to "+host, "If that goes on, deliveries stop on "+readable(x.Disabled)+". Events are kept meanwhile and are delivered once it responds again."
	switch {
	case x.Gone:
		subject, next = "Events are no longer delivered to "+host, "It responded 410 Gone, which ends deliveries. Turn the endpoint on again where that was a mistake: what happened within the last seven days is then delivered."
	case x.Ended:
		subject, next = "Events are no longer delivered to "+host, "It failed for three days. Mend it and turn it on again: what happened within the last seven days is then delivered."
	}
	text := "The endpoint at " + host + " has failed since " + readable(x.Since) + ". Last: " + x.Last + "."
	return mail.Message{
		Subject: subject, Text: strings.Join([]string{text, next, link}, "\n\n") + "\n",
		HTML: "<p>" + html.EscapeString(text) + "</p><p>" + html.EscapeString(next) + `</p><p><a href="` + html.EscapeString(link) + `">Open the endpoint</a></p>`,
	}
}

func readable(t time.Time) string { return carillon.FormatTime(t) }
