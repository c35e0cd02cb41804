package main

import (
	"context"
	"net/http"
	"net/url"
)

type templatesReview struct {
	ID      string `arg:"" help:"Id of the template."`
	Approve bool   `xor:"decision" help:"Approve it."`
	Reject  bool   `xor:"decision" help:"Reject it."`
	Reason  string `placeholder:"TEXT" help:"Why it is rejected."`
	memberFlags
}

// decision is the request to the sandbox's reviewer.
type decision struct {
	Approve bool   `json:"approve"`
	Reason  string `json:"reason,omitempty"`
}

// Run approves or rejects the template.
func (t *templatesReview) Run(ctx context.Context, env *environment) error {
	if t.Approve == t.Reject {
		return usage("say --approve or --reject")
	}
	d := decision{Approve: t.Approve, Reason: t.Reason}
	if err := t.do(ctx, env, http.MethodPost, "templates/"+url.PathEscape(t.ID)+"/review", d, nil); err != nil {
		return err
	}
	word := "approved"
	if t.Reject {
		word = "rejected"
	}
	return t.done(env, d, "template "+t.ID+" is "+word)
}
