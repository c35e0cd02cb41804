package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/client"
)

type notificationsWatch struct {
	ID      string        `arg:"" help:"Id of the notification."`
	Until   string        `enum:"sent,delivered,read" default:"read" help:"${until_help}"`
	Timeout time.Duration `default:"0s" help:"Give up after this time; 0s: never."`
	keyFlags
}

// step is one state change of one recipient.
type step struct {
	Time      string `json:"time"`
	ID        string `json:"notification_id"`
	MessageID string `json:"message_id"`
	Number    string `json:"number"`
	State     string `json:"state"`
	Reason    string `json:"reason,omitempty"`
}

// Polling intervals: short while states change, longer otherwise.
const (
	minPoll = 200 * time.Millisecond
	maxPoll = 2 * time.Second
)

// Run follows the notification. It fails if a message failed, so that scripts can react.
func (w *notificationsWatch) Run(ctx context.Context, env *environment) error {
	c, _, err := w.connect(env)
	if err != nil {
		return err
	}
	if w.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.Timeout)
		defer cancel()
	}
	seen := map[string]bool{}
	for look, first := minPoll, true; ; look, first = min(2*look, maxPoll), false {
		n, err := fetch(ctx, c, w.ID)
		if err != nil {
			return w.gaveUp(ctx, env, err)
		}
		if first && !w.JSON {
			w.announce(env, n)
		}
		news, err := w.printNew(env, n, seen)
		if err != nil {
			return err
		}
		if news {
			look = minPoll / 2
		}
		if w.ended(n) {
			return w.end(env, n)
		}
		if err := client.Pause(ctx, look); err != nil {
			return w.gaveUp(ctx, env, err)
		}
	}
}

// announce prints the condition that ends the watch, and the scheduled time if it is in the future.
func (w *notificationsWatch) announce(env *environment, n *notification) {
	_, _ = fmt.Fprintf(env.Stderr, "watching until every recipient has ended or is %s; Ctrl-C stops watching, not the sending\n", w.Until)
	if at, err := time.Parse(time.RFC3339, n.Scheduled); err == nil && time.Until(at) > 0 {
		_, _ = fmt.Fprintf(env.Stderr, "scheduled for %s, in %v\n", localTime(n.Scheduled), time.Until(at).Round(time.Second))
	}
}

// localTime formats a timestamp in the machine's time zone, with the zone's name.
func localTime(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.Local().Format("2006-01-02 15:04:05 MST") //nolint:gosmopolitan // shown to the local user
}

func (w *notificationsWatch) gaveUp(ctx context.Context, env *environment, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("not every recipient has ended within %v", w.Timeout)
	case errors.Is(ctx.Err(), context.Canceled):
		_, _ = fmt.Fprintln(env.Stderr, "stopped watching; the notification goes on")
		return errFailed
	}
	return err
}

// printNew prints new states in time order, including states that began and ended between two requests.
func (w *notificationsWatch) printNew(env *environment, n *notification, seen map[string]bool) (news bool, err error) {
	var fresh []step
	for _, r := range n.Recipients {
		for _, s := range stepsOf(n.ID, r) {
			if mark := r.MessageID + " " + s.State + " " + s.Time; !seen[mark] {
				seen[mark] = true
				fresh = append(fresh, s)
			}
		}
	}
	slices.SortStableFunc(fresh, func(a, b step) int { return strings.Compare(a.Time, b.Time) })
	for _, s := range fresh {
		if w.JSON {
			err = writeLine(env.Stdout, s)
		} else {
			_, err = fmt.Fprintln(env.Stdout, strings.TrimSpace(localTime(s.Time)+"  "+s.Number+"  "+s.State+"  "+s.Reason))
		}
		if err != nil {
			return true, err
		}
	}
	return len(fresh) > 0, nil
}

// stepsOf returns the states of a recipient: those with a timestamp, and the current one.
func stepsOf(id string, r recipient) []step {
	var all []step
	present := false
	for _, d := range (&client.Error{Details: r.Times}).Each() {
		state, ok := strings.CutSuffix(d.Name, "_at")
		if !ok {
			continue
		}
		s := step{Time: d.Text, ID: id, MessageID: r.MessageID, Number: r.Number, State: state}
		if state == r.State {
			present, s.Reason = true, r.Reason
		}
		all = append(all, s)
	}
	if !present {
		all = append(all, step{Time: "", ID: id, MessageID: r.MessageID, Number: r.Number, State: r.State, Reason: r.Reason})
	}
	return all
}

// ended reports whether every recipient has reached a final state.
func (w *notificationsWatch) ended(n *notification) bool {
	final := []string{
		"failed", "canceled", "skipped", "read", "completed", "busy", "no_answer", "rejected", "voicemail",
	}
	switch w.Until {
	case "sent":
		final = append(final, "sent", "delivered")
	case "delivered":
		final = append(final, "delivered")
	}
	for _, r := range n.Recipients {
		if !slices.Contains(final, r.State) {
			return false
		}
	}
	return true
}

func (w *notificationsWatch) end(env *environment, n *notification) error {
	if !w.JSON {
		if _, err := fmt.Fprintf(env.Stdout, "%s: %s\n", n.State, counts(n.Counts)); err != nil {
			return err
		}
	}
	for _, r := range n.Recipients {
		if r.State == "failed" {
			return errFailed
		}
	}
	return nil
}
