package messages

import (
	"context"

	"carillon"
	"carillon/internal/store/db"
	"carillon/internal/store/events"
)

// followed reports whether a company subscribes to the topics of an accepted request.
type followed struct{ notifications, calls bool }

func (s *Notifications) followed(ctx context.Context, companyID string) followed {
	return followed{s.subscribed(ctx, companyID, events.Notifications), s.subscribed(ctx, companyID, events.Calls)}
}

// announce sets the events of a request: those of the notification and of its skipped recipients.
func (a *Accept) announce(of followed, senderID string) {
	n := &a.Notification
	x := events.Notification{CompanyID: n.CompanyID, ID: n.ID, Campaign: n.Campaign, SenderID: senderID, At: n.CreatedAt}
	if of.notifications {
		a.events = append(a.events, x.Accepted(n.Total, n.Scheduled))
	}
	for i, m := range a.Messages {
		switch {
		case m.Skip == "":
		case n.Channel == carillon.Voice:
			a.skipped = a.skipped || of.calls
		case of.notifications:
			a.events = append(a.events, x.Skipped(i, m.Number, m.Skip))
		}
	}
}

// recordAccepted records the events of accepts.
func recordAccepted(ctx context.Context, tx *db.Tx, accepts []*Accept) error {
	for _, a := range accepts {
		events.Record(tx, a.events...)
		if !a.skipped {
			continue
		}
		for i, m := range a.Messages {
			if m.Skip == "" {
				continue
			}
			if err := events.Call(ctx, tx, a.Notification.Seq().Message(i), nil); err != nil {
				return err
			}
		}
	}
	return nil
}
