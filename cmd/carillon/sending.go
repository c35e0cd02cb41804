package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"carillon/client"
)

// sending is one run of `carillon send`.
type sending struct {
	client  *client.Client
	env     *environment
	asJSON  bool
	request map[string]any
	run     string
	bar     progress

	outcome outcome
	total   int
	done    int // recipients accepted or refused
}

// outcome is the result in JSON.
type outcome struct {
	Accepted      int         `json:"accepted"`
	Failed        int         `json:"failed"`
	NotTried      int         `json:"not_tried"`
	Sender        *senderName `json:"sender,omitempty"`         // omitted if the key may not read notifications
	DefaultSender bool        `json:"default_sender,omitempty"` // the default sender was used because --from matches no sender
	Notifications []accepted  `json:"notifications"`
	Failures      []refusal   `json:"failures"`
}

// accepted is one accepted batch.
type accepted struct {
	ID         string `json:"notification_id"`
	Recipients int    `json:"recipients"`
	Scheduled  string `json:"scheduled_time,omitempty"`
	Replayed   bool   `json:"replayed"` // sent by an earlier run
}

// refusal is a refused recipient or batch.
type refusal struct {
	Where      string        `json:"where"`
	Recipients int           `json:"recipients"`
	Problem    string        `json:"problem"`
	Error      *client.Error `json:"error,omitempty"`
}

// sift removes the recipients for which the API would refuse their whole batch.
func (r *sending) sift(all []contact, placeholders []string) []contact {
	var good []contact
	for i := range all {
		if fault := all[i].fault(placeholders); fault != "" {
			r.fail(refusal{Where: all[i].where(), Recipients: 1, Problem: fault})
			continue
		}
		good = append(good, all[i])
	}
	return good
}

// fail prints a failure immediately, on its own line.
func (r *sending) fail(f refusal) {
	r.outcome.Failed += f.Recipients
	r.outcome.Failures = append(r.outcome.Failures, f)
	if !r.asJSON {
		r.bar.clear()
		_, _ = fmt.Fprintf(r.env.Stderr, "%s: %s\n", f.Where, f.Problem)
	}
	r.done += f.Recipients
	r.bar.at(r.done, r.outcome.Failed)
}

// batch sends up to a hundred recipients. If the API refuses one of them, batch reports it and sends the others; this
// works because refused requests are not stored under their Idempotency-Key. An error ends the run.
func (r *sending) batch(ctx context.Context, n int, contacts []contact) error {
	dropped := ""
	for len(contacts) > 0 {
		err := r.post(ctx, r.key(n, dropped), contacts)
		if err == nil {
			return nil
		}
		var e *client.Error
		if !errors.As(err, &e) {
			return err
		}
		if at, ok := contactOf(e, len(contacts)); ok {
			r.fail(refusal{Where: contacts[at].where(), Recipients: 1, Problem: e.Error(), Error: e})
			dropped += " " + contacts[at].where()
			contacts = append(contacts[:at:at], contacts[at+1:]...)
			continue
		}
		r.fail(refusal{Where: span(contacts), Recipients: len(contacts), Problem: e.Error(), Error: e})
		if affectsAll(e) {
			return errFailed
		}
		return nil
	}
	return nil
}

// contactOf returns the index of the recipient that caused a refusal.
func contactOf(e *client.Error, among int) (int, bool) {
	rest, ok := strings.CutPrefix(e.Detail("field"), "contacts.")
	if !ok {
		return 0, false
	}
	index, _, _ := strings.Cut(rest, ".")
	at, err := strconv.Atoi(index)
	return at, err == nil && at >= 0 && at < among
}

// affectsAll reports whether later batches would be refused too, because the error is not about this batch's data.
func affectsAll(e *client.Error) bool {
	return e.Code != "variable_mismatch" && e.Code != "validation_failed" || strings.HasPrefix(e.Detail("field"), "name_template")
}

func span(contacts []contact) string {
	first, last := contacts[0], contacts[len(contacts)-1]
	if first.line == 0 || len(contacts) == 1 {
		return first.where()
	}
	return fmt.Sprintf("lines %d to %d", first.line, last.line)
}

func (r *sending) post(ctx context.Context, idempotency string, contacts []contact) error {
	body := maps.Clone(r.request)
	fields := make([]map[string]string, len(contacts))
	for i := range contacts {
		fields[i] = contacts[i].fields
	}
	body["contacts"] = fields
	var response struct {
		ID        string `json:"notification_id"`
		Scheduled string `json:"scheduled_time"`
	}
	call := route(http.MethodPost, "notify")
	call.Body, call.Out, call.Idempotency = body, &response, idempotency
	reply, err := r.client.Do(ctx, call)
	if err != nil {
		return err
	}
	r.outcome.Accepted += len(contacts)
	r.outcome.Notifications = append(r.outcome.Notifications, accepted{response.ID, len(contacts), response.Scheduled, reply.Replayed})
	r.done += len(contacts)
	if !r.asJSON {
		r.bar.clear()
		_, _ = fmt.Fprintln(r.env.Stdout, response.ID)
	}
	if len(r.outcome.Notifications) == 1 {
		r.nameSender(ctx, response.ID)
	}
	r.bar.at(r.done, r.outcome.Failed)
	return nil
}

// nameSender prints the sender of the run once its first batch is accepted, and warns if --from does not match it.
func (r *sending) nameSender(ctx context.Context, id string) {
	n := findSender(ctx, r.client, id)
	if n == nil {
		return
	}
	text := n.defaultSenderNote()
	r.outcome.Sender, r.outcome.DefaultSender = n.Sender, text != ""
	switch {
	case r.asJSON:
	case text != "":
		_, _ = fmt.Fprintf(r.env.Stderr, "warning: %s (%s)\n", text, n.Sender.Number)
	default:
		_, _ = fmt.Fprintf(r.env.Stderr, "sender: %s\n", n.Sender)
	}
}

// key returns the batch's Idempotency-Key, so that a repeated run sends each batch once (docs/reference/sending.md,
// Repeats). It covers the dropped recipients, because a key belongs to one body.
func (r *sending) key(n int, dropped string) string {
	sum := sha256.Sum256([]byte("carillon send\x00" + r.run + "\x00" + strconv.Itoa(n) + "\x00" + dropped))
	return "send-" + hex.EncodeToString(sum[:16])
}

// stopped ends a run that cannot continue. Accepted batches stay accepted.
func (r *sending) stopped(err error) error {
	if errors.Is(err, errFailed) {
		return r.summary()
	}
	if serr := r.summary(); serr != nil && !errors.Is(serr, errFailed) {
		return serr
	}
	return fmt.Errorf("stopped after %d of %d recipients; the same command continues where it stopped: %w", r.done, r.total, err)
}

func (r *sending) summaryText(o *outcome) error {
	replayed := 0
	for _, n := range o.Notifications {
		if n.Replayed {
			replayed += n.Recipients
		}
	}
	_, err := fmt.Fprintf(r.env.Stderr, "%d accepted (%d of them by an earlier run), %d failed, %d not tried\n",
		o.Accepted, replayed, o.Failed, o.NotTried)
	if replayed > 0 && replayed == o.Accepted {
		_, _ = fmt.Fprintln(r.env.Stderr, "nothing new was sent: the same send ran within the last 24 hours; "+
			"to send it again, give it a name with --run-id")
	}
	return err
}

func (r *sending) summary() error {
	o := r.outcome
	o.NotTried = r.total - r.done
	var err error
	if r.asJSON {
		if o.Notifications == nil {
			o.Notifications = []accepted{}
		}
		if o.Failures == nil {
			o.Failures = []refusal{}
		}
		err = writeJSON(r.env.Stdout, o)
	} else {
		err = r.summaryText(&o)
	}
	if err == nil && o.Failed+o.NotTried > 0 {
		return errFailed
	}
	return err
}

// progress shows the progress of a long run: a bar on a terminal, otherwise one line per tenth.
type progress struct {
	out      io.Writer
	terminal bool
	total    int
	shown    int    // tenths shown so far
	what     string // unit; if empty, recipients and their failures
}

const barWidth = 30

// at displays the number of finished items.
func (p *progress) at(done, failed int) {
	if p.total == 0 {
		return
	}
	tail := fmt.Sprintf(", %d failed", failed)
	if p.what != "" {
		tail = " " + p.what
	}
	if p.terminal {
		full := done * barWidth / p.total
		_, _ = fmt.Fprintf(p.out, "\r[%s%s] %d/%d%s", strings.Repeat("#", full), strings.Repeat(" ", barWidth-full), done, p.total, tail)
		if done == p.total {
			_, _ = fmt.Fprintln(p.out)
		}
		return
	}
	if tenths := done * 10 / p.total; tenths > p.shown {
		p.shown = tenths
		_, _ = fmt.Fprintf(p.out, "%d/%d%s\n", done, p.total, tail)
	}
}

// clear removes the bar before other output.
func (p *progress) clear() {
	if p.terminal && p.total > 0 {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
