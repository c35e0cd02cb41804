package notify

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/queue"
	"carillon/internal/store/messages"
	"carillon/internal/store/settings"
)

// Receive stores receipts of one sender's messages. After a nil error they are durable.
func (n *Notify) Receive(ctx context.Context, s *carillon.Sender, rs []provider.Receipt) error {
	if len(rs) == 0 {
		return nil
	}
	seqs := make([]carillon.Seq, 0, len(rs))
	for i := range rs {
		rs[i].SenderUID = s.UID
		if seq := carillon.SeqOf(rs[i].Ref.NotificationID); len(seqs) == 0 || seqs[len(seqs)-1] != seq {
			seqs = append(seqs, seq)
		}
	}
	if err := n.store.Messages.Receive(ctx, rs); err != nil {
		return err
	}
	if n.o.Observer != nil {
		n.o.Observer.Received(ctx, rs)
	}
	n.Closed(seqs)
	return nil
}

// holdName returns the name under which messages of a template are held.
func holdName(t *carillon.Template) string { return t.CompanyID + "/" + t.ID }

const releaseAtOnce = 1000

// Release returns the messages held for a template to their lane.
func (n *Notify) Release(ctx context.Context, t *carillon.Template) error {
	return n.release(ctx, holdName(t), func() {
		for c := range carillon.Class(carillon.Classes) {
			n.queue.Wake(queue.Wake{Kind: queue.Messages, SenderUID: t.SenderUID, Class: c, Due: time.UnixMilli(0)})
		}
	})
}

// release releases the messages held under a name in chunks, and calls released after each chunk.
func (n *Notify) release(ctx context.Context, hold string, released func()) error {
	for {
		count, err := n.store.Messages.Release(ctx, hold, releaseAtOnce)
		if err != nil {
			return err
		}
		if count > 0 {
			released()
		}
		if count < releaseAtOnce {
			return nil
		}
	}
}

// releaseNeedless releases held messages of approved templates. The template may have been approved while a message
// was being held, or a crash may have prevented the release.
func (n *Notify) releaseNeedless(ctx context.Context) {
	holds, err := n.store.Messages.Holds(ctx)
	for _, hold := range holds {
		company, id, _ := strings.Cut(hold, "/")
		var t *settings.TemplateRecord
		t, err = n.store.Templates.Template(ctx, company, id)
		switch {
		case carillon.IsCode(err, carillon.NotFound):
			err = n.release(ctx, hold, func() {}) // their delivery will end the messages
		case err == nil && t.Status != carillon.TemplatePaused && t.Status != carillon.TemplatePending:
			err = n.Release(ctx, &t.Template)
		}
		if err != nil {
			break
		}
	}
	if err != nil && ctx.Err() == nil {
		n.o.Log.WarnContext(ctx, "release held messages", "error", err)
	}
}

func (n *Notify) wakeAt(x *messages.Notification) {
	n.queue.Wake(queue.Wake{Kind: kindOf(x.Channel), SenderUID: x.SenderUID, Class: x.Class, Due: x.DueAt})
}

const (
	decideAtOnce = 500             // messages per transaction
	decideFor    = 5 * time.Second // per request; the caller repeats the request for the rest
)

// DecideRestored sends or fails a company's messages that are held after a restore. It works for some seconds and
// returns the number of decided messages and whether those were all. Messages to be sent return to their lane
// immediately.
func (n *Notify) DecideRestored(ctx context.Context, companyID string, send bool) (decided int, all bool, err error) {
	for end := time.Now().Add(decideFor); time.Now().Before(end); {
		d, err := n.store.Decide(ctx, companyID, send, time.Now(), decideAtOnce)
		if err != nil {
			return decided, false, err
		}
		decided += d.Messages
		if send {
			for _, l := range d.Lanes {
				n.queue.Wake(queue.Wake{Kind: queue.Messages, SenderUID: l.SenderUID, Class: l.Class, Due: time.UnixMilli(0)})
			}
			for _, l := range d.CallLanes {
				n.queue.Wake(queue.Wake{Kind: queue.Calls, SenderUID: l.SenderUID, Class: l.Class, Due: time.UnixMilli(0)})
			}
		} else {
			n.Closed(d.Notifications)
		}
		if d.Messages < decideAtOnce {
			return decided, true, nil
		}
	}
	return decided, false, nil
}
