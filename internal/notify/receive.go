package notify

import (
	"context"
	"strings"
	"time"

	"carillon"
	"carillon/internal/provider"
	"carillon/internal/queue"
	"carillon/internal/store"
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
	if err := n.store.Receive(ctx, rs); err != nil {
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

// Release returns the messages that are held for a template to their lane, in chunks.
func (n *Notify) Release(ctx context.Context, t *carillon.Template) error {
	for {
		released, err := n.store.Release(ctx, holdName(t), releaseAtOnce)
		if err != nil {
			return err
		}
		if released > 0 {
			for c := range carillon.Class(carillon.Classes) {
				n.queue.Wake(queue.Wake{Kind: queue.Messages, SenderUID: t.SenderUID, Class: c, Due: time.UnixMilli(0)})
			}
		}
		if released < releaseAtOnce {
			return nil
		}
	}
}

// releaseNeedless releases messages of approved templates: a template may have been approved while a message was being held,
// or a crash may have prevented the release.
func (n *Notify) releaseNeedless(ctx context.Context) error {
	holds, err := n.store.Holds(ctx)
	if err != nil {
		return err
	}
	for _, hold := range holds {
		company, id, _ := strings.Cut(hold, "/")
		t, err := n.store.Template(ctx, company, id)
		if carillon.IsCode(err, carillon.NotFound) {
			// The template is gone: the delivery ends the messages.
			for {
				released, err := n.store.Release(ctx, hold, releaseAtOnce)
				if err != nil {
					return err
				}
				if released < releaseAtOnce {
					break
				}
			}
			continue
		}
		if err != nil {
			return err
		}
		if t.Status != carillon.TemplatePaused && t.Status != carillon.TemplatePending {
			if err := n.Release(ctx, &t.Template); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *Notify) wakeAt(x *store.Notification) {
	n.queue.Wake(queue.Wake{Kind: kindOf(x.Channel), SenderUID: x.SenderUID, Class: x.Class, Due: x.DueAt})
}
