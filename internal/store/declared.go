package store

import (
	"context"
	"encoding/json"
	"fmt"

	"carillon"
)

// Agent is a company's active voice agent, from the cache. Errors: agent_not_found, whose suggestion names one there is.
func (s *Store) Agent(ctx context.Context, companyID, id string) (*carillon.Agent, error) {
	a, err := s.caches.agents.Get(ctx, ownedKey(companyID, id), func(ctx context.Context) (*carillon.Agent, string, error) {
		a, err := s.agent(ctx, companyID, id)
		return a, companyID, err
	})
	if err != nil || a.Active {
		return a, err
	}
	suggestion := "Create an agent in the panel or in the set-up file"
	var name, other string
	if err := s.Row(ctx, []any{&other, &name}, `SELECT id, name FROM declared WHERE company_id = $1 AND kind = 'agent' AND active
		ORDER BY name LIMIT 1`, companyID); err == nil {
		suggestion = fmt.Sprintf("Use an active agent of the company, such as %s (%s)", other, name)
	}
	return nil, &carillon.Error{Code: carillon.AgentNotFound, Message: "Voice agent not found", Details: carillon.Details{
		{Key: "agent_id", Value: id}, {Key: "suggestion", Value: suggestion},
	}}
}

// agent reads an agent; one that is not there is an inactive one without a name.
func (s *Store) agent(ctx context.Context, companyID, id string) (*carillon.Agent, error) {
	a := &carillon.Agent{ID: id, CompanyID: companyID}
	var doc string
	rows, err := s.Query(ctx, "SELECT name, active, doc FROM declared WHERE company_id = $1 AND kind = 'agent' AND id = $2", companyID, id)
	if err != nil {
		return nil, fmt.Errorf("read agent: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&a.Name, &a.Active, &doc); err != nil {
			return nil, fmt.Errorf("read agent: %w", err)
		}
	}
	return a, rows.Err()
}

// FlowKnown reports whether a flow of the company is started by the event, from the cache.
func (s *Store) FlowKnown(ctx context.Context, companyID, event string) (bool, error) {
	return s.caches.flows.Get(ctx, ownedKey(companyID, event), func(ctx context.Context) (bool, string, error) {
		rows, err := s.Query(ctx, "SELECT doc FROM declared WHERE company_id = $1 AND kind = 'flow' AND active", companyID)
		if err != nil {
			return false, "", fmt.Errorf("read flows: %w", err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var doc string
			var flow struct {
				Trigger struct {
					Event string `json:"event"`
				} `json:"trigger"`
			}
			if err := rows.Scan(&doc); err != nil {
				return false, "", fmt.Errorf("read flows: %w", err)
			}
			if err := json.Unmarshal([]byte(doc), &flow); err != nil {
				return false, "", fmt.Errorf("read flow: %w", err)
			}
			if flow.Trigger.Event == event {
				return true, companyID, nil
			}
		}
		return false, companyID, rows.Err()
	})
}
