package app

import (
	"context"

	"carillon"
	"carillon/internal/account/limit"
	"carillon/internal/agent"
)

// companies reads a company's limits; *accounts.Store does.
type companies interface {
	Company(ctx context.Context, id string) (*carillon.Company, error)
}

// engineTurns bounds the responses that servers make for agents, which the company pays for.
type engineTurns struct {
	companies companies
	limits    *limit.Limits
}

// dayParts is how many parts a company's day has: a conversation uses one of them at most, so that it takes fifty to use up the day.
const dayParts = 50

// allow counts one response. Errors: rate_limit_exceeded, service_unavailable, those of the store.
func (x engineTurns) allow(ctx context.Context, r *agent.Request) error {
	c, err := x.companies.Company(ctx, r.CompanyID)
	if err != nil {
		return err
	}
	day := c.Limits.EngineTurnsPerDay
	if r.ConversationID != "" && day > 0 {
		if err := x.limits.AllowDaily(ctx, "engine/"+r.ConversationID, max(1, day/dayParts), 1); err != nil {
			return err
		}
	}
	return x.limits.AllowDaily(ctx, "engine/"+r.CompanyID, day, 1)
}
