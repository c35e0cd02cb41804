package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

type callsCommand struct {
	Show   callsShow   `cmd:"" help:"Show a call: how it went, what it found out and what was said."`
	Listen callsListen `cmd:"" help:"Keep the recording of a call as a WAV file, and print where it is."`
}

// callDetail is the response of GET calls/{id}.
type callDetail struct {
	ID           string         `json:"call_id"`
	Attempts     int            `json:"attempts"`
	RingingAt    string         `json:"ringing_at,omitempty"`
	AnsweredAt   string         `json:"answered_at,omitempty"`
	EndedAt      string         `json:"ended_at,omitempty"`
	Seconds      *float64       `json:"duration_s,omitempty"`
	Cause        string         `json:"cause,omitempty"`
	EndedBy      string         `json:"ended_by,omitempty"`
	AnsweredBy   string         `json:"answered_by,omitempty"`
	Result       map[string]any `json:"result,omitempty"`
	HasRecording bool           `json:"has_recording"`
	NoRecording  string         `json:"no_recording,omitempty"`
	Outcomes     []any          `json:"outcomes,omitempty"`
	Notification string         `json:"notification_id"`
	Recipient    string         `json:"recipient_id"`
	Number       string         `json:"number"`
	Agent        string         `json:"agent_id"`
	State        string         `json:"state"`
	Reason       string         `json:"reason,omitempty"`
	Direction    string         `json:"direction,omitempty"`
	Transfers    []callTransfer `json:"transfers,omitempty"`
	Turns        []callTurn     `json:"turns"`
}

// callTransfer is one attempt to transfer a call to a number.
type callTransfer struct {
	Number     string `json:"number"`
	State      string `json:"state"`
	Outcome    string `json:"outcome,omitempty"`
	Cause      string `json:"cause,omitempty"`
	DialedAt   string `json:"dialed_at"`
	AnsweredAt string `json:"answered_at,omitempty"`
	TakenAt    string `json:"taken_at,omitempty"`
	EndedAt    string `json:"ended_at,omitempty"`
}

// callTurn is one utterance of a call.
type callTurn struct {
	Seq    int64  `json:"seq"`
	Author string `json:"author"`
	Text   string `json:"text"`
	At     string `json:"at"`
	Digits string `json:"digits,omitempty"`
}

type callsShow struct {
	ID string `arg:"" help:"Id of the call, which is that of its notification."`
	keyFlags
}

// Run shows the call.
func (x *callsShow) Run(ctx context.Context, env *environment) error {
	var d callDetail
	if err := x.do(ctx, env, http.MethodGet, "calls/"+url.PathEscape(x.ID), nil, &d); err != nil {
		return err
	}
	rows := [][]string{
		{"number", d.Number},
		{"line", d.Recipient},
		{"agent", d.Agent},
		{"state", strings.TrimSpace(d.State + " " + d.Reason)},
		{"attempts", strconv.Itoa(d.Attempts)},
	}
	for _, row := range [][]string{
		{"cause", d.Cause},
		{"answered by", d.AnsweredBy},
		{"ended by", d.EndedBy},
		{"answered", localTime(d.AnsweredAt)},
		{"ended", localTime(d.EndedAt)},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	if d.Seconds != nil {
		rows = append(rows, []string{"seconds", strconv.FormatFloat(*d.Seconds, 'f', -1, 64)})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Result)) {
		rows = append(rows, []string{"result: " + name, fmt.Sprint(d.Result[name])})
	}
	if d.HasRecording {
		rows = append(rows, []string{"recording", "carillon calls listen " + d.ID})
	} else if d.NoRecording != "" {
		rows = append(rows, []string{"recording", d.NoRecording})
	}
	for _, t := range d.Transfers {
		to := "to " + t.Number + ": " + strings.ReplaceAll(orElse(t.Outcome, t.State), "_", " ") + " " + t.Cause
		rows = append(rows, []string{"transferred", strings.TrimSpace(to)})
	}
	for _, t := range d.Turns {
		text := t.Text
		if t.Author == "system" {
			text = orElse(happened[t.Text], strings.ReplaceAll(t.Text, "_", " "))
		}
		if t.Digits != "" {
			text += " (key " + t.Digits + ")"
		}
		rows = append(rows, []string{t.Author, text})
	}
	return x.show(env, d, rows)
}

// happened maps events of a call to descriptions.
var happened = map[string]string{ //nolint:gochecknoglobals // read only
	"handoff_requested": "a person was asked for", "missed": "nobody was available", "called_off": "the talk went on without a person",
	"joined": "a teammate joined", "released": "a teammate gave the call back", "returned": "a teammate gave the call back to the agent",
	"flow_began": "a flow began", "left": "the call ended",
}

type callsListen struct {
	ID     string `arg:"" help:"Id of the call, which is that of its notification."`
	Output string `short:"o" placeholder:"FILE" help:"Where to; default the id and .wav in this folder. It must not exist."`
	keyFlags
}

// Run saves the recording in a new file, and removes the file if the download fails.
func (x *callsListen) Run(ctx context.Context, env *environment) error {
	c, _, err := x.connect(env)
	if err != nil {
		return err
	}
	path := orElse(x.Output, filepath.Base(x.ID)+".wav")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user chooses the path
	if err != nil {
		return err
	}
	call := route(http.MethodGet, "calls/"+url.PathEscape(x.ID)+"/recording")
	call.Once, call.Into = true, f
	_, err = c.Do(ctx, call)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return x.done(env, map[string]string{"call_id": x.ID, "file": path}, path)
}

type callCommand struct {
	Agent    string      `required:"" placeholder:"ID" help:"Id of the agent that talks."`
	To       typedNumber `required:"" placeholder:"NUMBER" help:"Whom to call, with the country code."`
	Var      []string    `sep:"none" placeholder:"KEY=VALUE" help:"Contact field for the agent, as name=Ana; may be repeated."`
	At       string      `placeholder:"WHEN" help:"Local time to call at, as 2030-01-31T09:00:00; else now."`
	TZ       string      `name:"tz" placeholder:"ZONE" help:"Time zone of --at, as Europe/Madrid; else UTC."`
	From     string      `required:"" placeholder:"LINE" help:"Id or number of the line."`
	Type     string      `enum:"transactional,marketing" default:"transactional" placeholder:"TYPE" help:"${call_type_help}"`
	Campaign string      `default:"command line" placeholder:"NAME" help:"Campaign; default \"${default}\"."`
	RunID    string      `name:"run-id" placeholder:"ID" help:"${call_run_help}"`
	keyFlags
}

// Run requests the call. It prints the id of the notification, which `notifications watch` accepts.
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
		if n := findSender(ctx, c, response.ID); n != nil && n.defaultSenderNote() != "" {
			_, _ = fmt.Fprintf(env.Stderr, "warning: %s\n", n.defaultSenderNote())
		}
	}
	return x.done(env, response, response.ID)
}
