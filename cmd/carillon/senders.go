package main

import (
	"context"
	"net/http"
)

type sendersCommand struct {
	List sendersList `cmd:"" help:"List the company's senders and their circuit breakers."`
}

// senderState is a sender as the panel returns it.
type senderState struct {
	ID       string `json:"id"`
	Number   string `json:"number"`
	Channel  string `json:"channel"`
	Provider string `json:"provider"`
	Default  bool   `json:"default"`
	Breaker  struct {
		State  string  `json:"state"`
		Class  *string `json:"class"`
		Detail *string `json:"detail"`
		Since  *string `json:"since"`
		Until  *string `json:"until"`
	} `json:"breaker"`
}

type sendersList struct {
	administered
	credentials
	jsonFlag
}

// Run lists the senders.
func (s *sendersList) Run(ctx context.Context, env *environment) error {
	c, err := s.connect(ctx, env, s.credentials)
	if err != nil {
		return err
	}
	var response struct {
		Data []senderState `json:"data"`
	}
	call := s.panel(http.MethodGet, "senders")
	call.Out = &response
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	if s.JSON {
		return writeJSON(env.Stdout, response.Data)
	}
	rows := [][]string{{"ID", "NUMBER", "CHANNEL", "PROVIDER", "BREAKER", "CLASS", "SINCE", "UNTIL", "DETAIL"}}
	for _, x := range response.Data {
		b := x.Breaker
		rows = append(rows, []string{
			x.ID, x.Number, x.Channel, x.Provider, b.State, text(b.Class, "-"), text(b.Since, "-"), text(b.Until, "-"), oneLine(text(b.Detail, ""), 60),
		})
	}
	return writeTable(env.Stdout, rows)
}
