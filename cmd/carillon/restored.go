package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"carillon/internal/base/config"
	"carillon/internal/store"
)

type restoredCommand struct {
	Status restoredStatus `cmd:"" help:"Show the messages that are held after a restore."`
	Send   restoredSend   `cmd:"" help:"Send held messages, even if they were sent since the backup was made."`
	Fail   restoredFail   `cmd:"" help:"End held messages as failed, outcome_unknown; a late receipt corrects that."`
	Mark   restoredMark   `cmd:"" help:"Hold due messages after a restore by PostgreSQL's tools, before the first start."`
	Accept restoredAccept `cmd:"" help:"Accept a database that moved with nothing lost (pg_upgrade), before the first start."`
}

// heldState is the state of an installation after a restore.
type heldState struct {
	At   *string `json:"restored_at"`
	Held []struct {
		Company  string `json:"company"`
		Name     string `json:"name"`
		Messages int    `json:"messages"`
	} `json:"held"`
}

func (h heldState) of(company string) (n int) {
	for _, x := range h.Held {
		if company == "" || x.Company == company {
			n += x.Messages
		}
	}
	return n
}

func (h heldState) String() string {
	if h.At == nil {
		return "nothing is held: the database was not restored, or all has been decided"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "restored at %s, %d messages held", *h.At, h.of(""))
	for _, x := range h.Held {
		fmt.Fprintf(&b, "\n%8d  %s  %s", x.Messages, x.Company, x.Name)
	}
	return b.String()
}

type restoredStatus struct{ memberFlags }

// Run shows the held messages by company.
func (c *restoredStatus) Run(ctx context.Context, env *environment) error {
	var h heldState
	if err := c.do(ctx, env, http.MethodGet, "restored", nil, &h); err != nil {
		return err
	}
	return c.done(env, h, h.String())
}

type restoredDecision struct {
	Company string `placeholder:"COMPANY-ID" help:"Only messages of this company; else of all."`
	memberFlags
}

type restoredSend struct{ restoredDecision }

// Run sends the held messages.
func (c *restoredSend) Run(ctx context.Context, env *environment) error {
	return c.decide(ctx, env, "send", "sent to their lanes")
}

type restoredFail struct{ restoredDecision }

// Run fails the held messages.
func (c *restoredFail) Run(ctx context.Context, env *environment) error {
	return c.decide(ctx, env, "fail", "failed")
}

// decide repeats the request until nothing is held, since each request is processed for a few seconds only.
func (c *restoredDecision) decide(ctx context.Context, env *environment, decision, what string) error {
	to, err := c.open(ctx, env)
	if err != nil {
		return err
	}
	var h heldState
	show := c.panel(http.MethodGet, "restored")
	show.Out = &h
	if _, err := to.Do(ctx, show); err != nil {
		return err
	}
	bar := progress{out: raw(env.Stderr), terminal: env.Terminal, what: "messages", total: h.of(c.Company)}
	total := 0
	body := map[string]string{"decision": decision}
	if c.Company != "" {
		body["company"] = c.Company
	}
	for more := h.At != nil; more; {
		var response struct {
			Decided int `json:"decided"`
			Held    int `json:"held"`
		}
		call := c.panel(http.MethodPost, "restored")
		call.Body, call.Out = body, &response
		if _, err := to.Do(ctx, call); err != nil {
			bar.clear()
			return err
		}
		total += response.Decided
		more = response.Held > 0
		bar.at(min(total, bar.total), 0)
	}
	return c.done(env, map[string]int{"decided": total}, fmt.Sprintf("%d messages %s", total, what))
}

// unusedDatabase are the flags of commands that open a database which no program uses.
type unusedDatabase struct {
	Settings kong.Plugins `embed:""`
	jsonFlag
}

// quietFor is the time that the heartbeats of the database's nodes are observed; a live node beats every second.
const quietFor = 3 * time.Second

// with runs do with the database's store.
func (c *unusedDatabase) with(ctx context.Context, env *environment, do func(s *store.Store) error) (err error) {
	cfg, err := config.Load(givenSettings(c.Settings), env.Lookup)
	if err != nil {
		return usageError{err}
	}
	key, err := restoreKey(&cfg)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{Dir: cfg.Data, DatabaseURL: cfg.DatabaseURL.Reveal(), MasterKey: key})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := quiet(ctx, s); err != nil {
		return err
	}
	return do(s)
}

type restoredMark struct{ unusedDatabase }

// Run marks the database as restored. No program may be using it.
func (c *restoredMark) Run(ctx context.Context, env *environment) error {
	return c.with(ctx, env, func(s *store.Store) error {
		r, err := s.Mark(ctx, time.Now().UTC(), func(int, int) {})
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%d messages were due by now and are held; %d that were being sent ended as failed, outcome_unknown",
			r.Total(), r.Failed)
		return c.done(env, restoredFolder{At: r.At, Held: r.Total(), Failed: r.Failed}, line)
	})
}

type restoredAccept struct{ unusedDatabase }

// Run records the database's server as the origin of its data, so that the next start holds nothing.
func (c *restoredAccept) Run(ctx context.Context, env *environment) error {
	return c.with(ctx, env, func(s *store.Store) error {
		if s.DB.SQLite() {
			return usageError{errors.New("--database-url: is required, because SQLite has no other server")}
		}
		if err := s.Trust(ctx); err != nil {
			return err
		}
		return c.done(env, map[string]bool{"accepted": true}, "the database is accepted with nothing lost; the next start holds nothing")
	})
}

// quiet returns an error if a node of the database is alive. On SQLite the folder's lock rules that out.
func quiet(ctx context.Context, s *store.Store) error {
	if s.DB.Engine() == "sqlite" {
		return nil
	}
	before, _, err := s.Nodes.Cluster(ctx)
	if err != nil || len(before) == 0 {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(quietFor):
	}
	after, _, err := s.Nodes.Cluster(ctx)
	if err != nil {
		return err
	}
	beats := map[string]int64{}
	for _, n := range before {
		beats[n.ID] = n.Beat
	}
	for _, n := range after {
		if beat, known := beats[n.ID]; !known || beat != n.Beat {
			return errors.New("a node runs on this database: stop all of them first")
		}
	}
	return nil
}
