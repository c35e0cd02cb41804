package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
)

type callCommand struct {
	Agent    string      `required:"" placeholder:"ID" help:"Id of the agent that talks."`
	To       typedNumber `required:"" placeholder:"NUMBER" help:"Whom to call, with the country code."`
	Var      []string    `sep:"none" placeholder:"KEY=VALUE" help:"Field of the contact that the agent may use, as name=Ana; may be repeated."`
	At       string      `placeholder:"WHEN" help:"Local time to call at, as 2030-01-31T09:00:00; else now."`
	TZ       string      `name:"tz" placeholder:"ZONE" help:"Time zone of --at, as Europe/Madrid; else UTC."`
	From     string      `required:"" placeholder:"LINE" help:"Id or number of the line."`
	Type     string      `enum:"transactional,marketing" default:"transactional" placeholder:"TYPE" help:"transactional or marketing; default ${default}."`
	Campaign string      `default:"command line" placeholder:"NAME" help:"Campaign; default \"${default}\"."`
	RunID    string      `name:"run-id" placeholder:"ID" help:"Name of this run; repeating it within 24 hours calls nobody twice. By default each run is new."`
	keyFlags
}

// Run requests the call. It prints the notification's id, by which `notifications watch` follows the call.
func (x *callCommand) Run(ctx context.Context, env *environment) error {
	if x.TZ != "" && x.At == "" {
		return usage("--tz goes with --at")
	}
	contact, err := pairs("--var", "name=Ana", x.Var)
	if err != nil {
		return err
	}
	contact["number"] = string(x.To)
	c, _, err := x.connect(env)
	if err != nil {
		return err
	}
	body := map[string]any{
		"contact": contact, "agent_id": x.Agent, "recipient_id": x.From, "notification_type": x.Type, "campaign_name": x.Campaign,
	}
	for name, value := range map[string]string{"datetime_sending": x.At, "timezone": x.TZ} {
		if value != "" {
			body[name] = value
		}
	}
	var response struct {
		ID        string `json:"notification_id"`
		Message   string `json:"message"`
		Scheduled string `json:"scheduled_time,omitempty"`
	}
	call := route(http.MethodPost, "notify/voice")
	call.Body, call.Out, call.Idempotency = body, &response, "call-"+orElse(x.RunID, rand.Text())
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	if !x.JSON {
		if n := findSender(ctx, c, response.ID); n != nil && n.stoodIn() != "" {
			_, _ = fmt.Fprintf(env.Stderr, "warning: %s\n", n.stoodIn())
		}
	}
	return x.done(env, response, response.ID)
}
