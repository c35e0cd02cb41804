package agent

import (
	"context"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/store"
)

// Companies reads a company's limits. *accounts.Store implements it.
type Companies interface {
	Company(ctx context.Context, id string) (*carillon.Company, error)
}

// EngineTurns limits the responses of external engines, for which the company pays.
type EngineTurns struct {
	Companies Companies
	Limits    *limit.Limits
}

// dayParts divides a company's daily limit. A conversation may use one part, so it takes fifty conversations to use up
// the limit.
const dayParts = 50

// Allow counts one response. Errors: rate_limit_exceeded, service_unavailable, and those of the store.
func (x EngineTurns) Allow(ctx context.Context, r *Request) error {
	c, err := x.Companies.Company(ctx, r.CompanyID)
	if err != nil {
		return err
	}
	day := c.Limits.EngineTurnsPerDay
	if r.ConversationID != "" && day > 0 {
		if err := x.Limits.AllowDaily(ctx, "engine/"+r.ConversationID, max(1, day/dayParts), 1); err != nil {
			return err
		}
	}
	return x.Limits.AllowDaily(ctx, "engine/"+r.CompanyID, day, 1)
}

// Stored finds agents in the database.
type Stored struct{ Store *store.Store }

// TalkingAgent returns a company's agent and the company's name. Errors: not_found.
func (t Stored) TalkingAgent(ctx context.Context, companyID, id string) (*Agent, string, error) {
	x, owner, err := t.Store.Resources.Find(ctx, Kind(), id)
	if err != nil {
		return nil, "", err
	}
	a, ok := x.(*Agent)
	if !ok || owner != companyID {
		return nil, "", carillon.Absent("Agent")
	}
	company, err := t.Store.Accounts.Company(ctx, companyID)
	if err != nil {
		return nil, "", err
	}
	return a, company.Name, nil
}
