package app

import (
	"context"
	"html"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/account/mail"
	"carillon/internal/base/config"
	"carillon/internal/base/cpu"
	"carillon/internal/base/egress"
	"carillon/internal/event/hook"
)

// hookConnections are kept open to an endpoint of events.
const hookConnections = 8

// newHooks builds what delivers events to endpoints.
func newHooks(a *App) *hook.Deliverer {
	a.hookServers = newHookServers(a.cfg.MediaAllowPrivate)
	return hook.NewDeliverer(a.store, hook.Options{
		Client: a.hookServers, Owns: a.queue.Owns, Alert: owners{a}.alert, Attempted: a.metrics.HookAttempted, Suspended: suspended(a.store), Log: a.log,
		Busy: new(cpu.Watch).Busy,
	})
}

func newHookServers(allowed []netip.Prefix) *egress.Client {
	return egress.New(egress.Options{AllowPrivate: allowed, AnyPort: true, PerHost: hookConnections, Timeout: hook.Timeout, MaxBody: -1, Redirects: -1})
}

// undeliverable are the webhooks of a set-up to which nothing can be delivered. They are stored all the same: a set-up that was applied before
// must not keep the program from starting.
func undeliverable(out *egress.Client, p *config.Provision) (found config.Problems) {
	for i := range p.Companies {
		for _, x := range p.Companies[i].Resources {
			if w, ok := x.Resource.(*hook.Webhook); ok && hook.Undeliverable(out, w) {
				found = append(found, config.Problem{At: x.At, Text: "nothing can be delivered to the webhook at " + hostOf(w.URL) +
					": give it an https address of the public internet, or have media-allow-private name its network", Field: "url"})
			}
		}
	}
	return found
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
	members, err := a.store.Accounts.Members(ctx, x.CompanyID, "", 1000)
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
