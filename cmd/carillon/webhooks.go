package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

type webhooksCommand struct {
	List webhooksList `cmd:"" help:"List the company's webhooks and how delivery to them stands."`
	Test webhooksTest `cmd:"" help:"Send a webhook an example of an event, and show what it responds."`
}

// webhook is an endpoint and its delivery status.
type webhook struct {
	ID     string   `json:"id"`
	URL    string   `json:"url"`
	Events []string `json:"events"`
	Status struct {
		State       string  `json:"state"`
		Reason      string  `json:"reason,omitempty"`
		Failures    int     `json:"failures"`
		SucceededAt *string `json:"succeeded_at"`
		NextAttempt *string `json:"next_attempt_at"`
		Waiting     int     `json:"waiting"`
		Failed      int     `json:"failed"`
		Behind      int64   `json:"behind"`
	} `json:"status"`
}

type webhooksList struct{ keyFlags }

// Run lists the webhooks.
func (l *webhooksList) Run(ctx context.Context, env *environment) error {
	c, _, err := l.connect(env)
	if err != nil {
		return err
	}
	all, err := pages[webhook](ctx, c, route(http.MethodGet, "webhooks"), 0)
	if err != nil {
		return err
	}
	rows := [][]string{{"ID", "STATE", "FAILURES", "WAITING", "FAILED", "LAST SUCCESS", "URL"}}
	for i := range all {
		x := &all[i]
		if err := get(ctx, c, "webhooks/"+url.PathEscape(x.ID)+"/status", nil, &x.Status); err != nil {
			return err
		}
		s := &x.Status
		rows = append(rows, []string{
			x.ID, s.State, fmt.Sprint(s.Failures), fmt.Sprint(s.Waiting), fmt.Sprint(s.Failed), text(s.SucceededAt, "-"), x.URL,
		})
	}
	return l.show(env, all, rows)
}

type webhooksTest struct {
	ID   string `arg:"" help:"Id of the webhook."`
	Type string `default:"message.delivered" placeholder:"TYPE" help:"Type of the event; default ${default}."`
	keyFlags
}

// Run sends the example event. It fails if the endpoint does not accept it, so that scripts can react.
func (x *webhooksTest) Run(ctx context.Context, env *environment) error {
	var a struct {
		EventID  string `json:"event_id"`
		OK       bool   `json:"succeeded"`
		Status   int    `json:"status,omitempty"`
		Error    string `json:"error,omitempty"`
		Duration int64  `json:"duration_ms"`
		Request  string `json:"request"`
		Response string `json:"response"`
	}
	body := map[string]string{"type": x.Type}
	if err := x.do(ctx, env, http.MethodPost, "webhooks/"+url.PathEscape(x.ID)+"/test", body, &a); err != nil {
		return err
	}
	outcome := a.Error
	if a.OK {
		outcome = fmt.Sprintf("it responded %d", a.Status)
	}
	if err := x.done(env, a, fmt.Sprintf("%s: %s after %d ms", a.EventID, outcome, a.Duration)); err != nil {
		return err
	}
	if a.Response != "" && !x.JSON {
		if _, err := fmt.Fprintln(env.Stdout, a.Response); err != nil {
			return err
		}
	}
	if !a.OK {
		return errFailed
	}
	return nil
}
