package templates

import (
	"context"
	"net/http"

	"carillon"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/member"
	"carillon/internal/send/catalog"
)

// Decide approves or rejects a template that waits for the sandbox's review.
type Decide func(ctx context.Context, s *carillon.Sender, t *carillon.Template, approve bool, reason string) error

// reviewTemplate approves or rejects a pending template of a sandbox sender; other channels review by themselves.
func (x Templates) reviewTemplate(r *http.Request, by member.Member) (any, error) {
	approve, reason, err := readDecision(r)
	if err != nil {
		return nil, err
	}
	id, err := catalog.ParseID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	t, err := x.Store.Templates.Template(r.Context(), by.CompanyID, id)
	if err != nil {
		return nil, err
	}
	s, err := x.Store.Senders.Sender(r.Context(), t.SenderUID)
	if err != nil {
		return nil, err
	}
	if s.Provider != "sandbox" {
		return nil, carillon.InConflict("Templates of this sender are reviewed by its channel; only the sandbox's reviewer takes decisions here")
	}
	if t.Status != carillon.TemplatePending {
		return nil, carillon.InConflict("The template is " + string(t.Status) + ", not pending")
	}
	return nil, x.Decide(r.Context(), s, &t.Template, approve, reason)
}

func readDecision(r *http.Request) (approve bool, reason string, err error) {
	o, err := httpio.Object(r)
	if err != nil {
		return false, "", err
	}
	approve, given, err := o.Bool("approve", "approve")
	if err == nil && !given {
		err = carillon.Missing("approve")
	}
	if err != nil {
		return false, "", err
	}
	reason, _, err = o.String("reason", "reason")
	if err == nil && len(reason) > maxReason {
		err = carillon.Invalid("reason", "At most 500 bytes")
	}
	return approve, reason, err
}

const maxReason = 500
