package app

import (
	"context"
	"slices"

	"carillon"
)

// suspended reports whether nothing of a company may start: it is suspended or being moved.
func (a *App) suspended(ctx context.Context, companyID string) (bool, error) {
	c, err := a.store.Accounts.Company(ctx, companyID)
	if err != nil {
		return false, err
	}
	return c.Refusal() != nil, nil
}

// withheld reports whether the files of a company are refused because it is suspended. While it is being moved it returns
// the company's refusal.
func (a *App) withheld(ctx context.Context, companyID string) (bool, error) {
	c, err := a.store.Accounts.Company(ctx, companyID)
	switch {
	case err != nil:
		return false, err
	case c.Move != "":
		return false, c.Refusal()
	}
	return c.Suspended, nil
}

// messagingSender returns a company's messaging sender by its id. Errors: not_found.
func (a *App) messagingSender(ctx context.Context, companyID, id string) (*carillon.Sender, error) {
	all, err := a.store.Senders.SendersNamed(ctx, companyID, id)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(s *carillon.Sender) bool { return s.ID == id && s.Channel == carillon.Messaging })
	if i < 0 {
		return nil, carillon.Absent("Sender")
	}
	return all[i], nil
}
