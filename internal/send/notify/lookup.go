package notify

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/number"
	"carillon/internal/base/provider"
	"carillon/internal/store/messages"
)

// Hit is the result of looking up an id or number. An empty kind means that nothing was found.
type Hit struct {
	Kind   string `json:"kind" enum:"notification,message,call,number"` // notification, message, call, number, or empty
	ID     string `json:"id,omitempty"`
	N      int    `json:"n"`
	Number string `json:"number,omitempty"`
	UserID string `json:"user_id,omitempty"` // the channel's id of a person, instead of a number
}

// LookUp finds a text among what a company has sent: the id of a notification, message or call, the provider's id of a
// message, or the number or id of a recipient.
func (x Sent) LookUp(ctx context.Context, companyID, text string) (Hit, error) {
	text = strings.TrimSpace(text)
	if id := strings.ToLower(text); carillon.ValidUUID(id) {
		return x.byID(ctx, companyID, id, -1)
	}
	if ref, ok := refOf(text); ok {
		return x.byID(ctx, companyID, ref.NotificationID, ref.N)
	}
	if address := addressIn(text); address != "" {
		f := messages.Filter{Lines: []identity.Key{identity.Of(address)}, Limit: 1}
		found, next, err := x.Store.Notifications.List(ctx, companyID, f, time.Now())
		if err != nil || len(found) == 0 && next == "" {
			return Hit{}, err
		}
		number, userID := identity.Split(address)
		return Hit{Kind: "number", Number: number, UserID: userID}, nil
	}
	if strings.ContainsAny(text, " \t\r\n\x00") || len(text) < 8 || len(text) > 255 {
		return Hit{}, nil
	}
	return x.byProviderID(ctx, companyID, text)
}

// addressIn returns the number in a text, as people write it, or the channel's id of a person.
func addressIn(text string) string {
	if identity.ValidUser(text) {
		return text
	}
	return number.Find(text)
}

// refOf parses the id of a message, with or without an attempt, also if it is part of a sandbox id.
func refOf(text string) (provider.Ref, bool) {
	text = strings.ToLower(strings.TrimPrefix(text, "sandbox."))
	if strings.Count(text, ".") == 1 {
		text += ".0"
	}
	ref, err := provider.ParseRef(text)
	return ref, err == nil
}

func (x Sent) byID(ctx context.Context, companyID, id string, n int) (Hit, error) {
	found, err := x.Store.Notifications.Find(ctx, companyID, id)
	switch {
	case carillon.IsCode(err, carillon.NotFound):
		if c, err := x.Store.Incoming.Find(ctx, companyID, id); err != nil || c == nil {
			return Hit{}, err
		}
		return Hit{Kind: "call", ID: id}, nil
	case err != nil:
		return Hit{}, err
	case n >= found.Total:
		return Hit{}, nil
	case n >= 0:
		return Hit{Kind: "message", ID: id, N: n}, nil
	}
	return Hit{Kind: "notification", ID: id}, nil
}

// numberPages bounds the pages of notifications to a number that are searched.
const numberPages = 4

// byProviderID finds a message by the provider's id. There is no index on that id, because it would slow down every
// message. An id of WhatsApp contains the number, which leads to the message. Other ids are searched among the newest
// notifications.
func (x Sent) byProviderID(ctx context.Context, companyID, id string) (Hit, error) {
	if number := numberIn(id); number != "" {
		f := messages.Filter{Lines: identity.Numbers(number), Channel: carillon.Messaging, Limit: 50}
		for range numberPages {
			found, next, err := x.Store.Notifications.List(ctx, companyID, f, time.Now())
			if err != nil {
				return Hit{}, err
			}
			if h, err := x.among(ctx, found, id); err != nil || h.Kind != "" {
				return h, err
			}
			if f.Before = next; next == "" {
				break
			}
		}
	}
	key, ok, err := x.Store.Messages.ByProviderID(ctx, companyID, id)
	if err != nil || !ok {
		return Hit{}, err
	}
	n, err := x.Store.Notifications.Load(ctx, key.Seq())
	if err != nil || n.CompanyID != companyID {
		return Hit{}, err
	}
	return Hit{Kind: "message", ID: n.ID, N: key.N()}, nil
}

func (x Sent) among(ctx context.Context, found []*messages.Notification, providerID string) (Hit, error) {
	ids := make(map[carillon.Seq]string, len(found))
	seqs := make([]carillon.Seq, len(found))
	for i, n := range found {
		seqs[i] = n.Seq()
		ids[n.Seq()] = n.ID
	}
	messages, err := x.Store.Messages.ListAll(ctx, seqs)
	for seq, all := range messages {
		for i := range all {
			if all[i].ProviderID == providerID {
				return Hit{Kind: "message", ID: ids[seq], N: all[i].N}, nil
			}
		}
	}
	return Hit{}, err
}

// numberIn returns the number within a WhatsApp id, or "".
func numberIn(id string) string {
	text, ok := strings.CutPrefix(id, "wamid.")
	if !ok {
		return ""
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return ""
	}
	if number := firstDigits(string(raw)); carillon.ValidNumber(number) {
		return number
	}
	return ""
}

// firstDigits returns the first run of at least seven digits.
func firstDigits(text string) string {
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c < '0' || c > '9' }) {
		if len(part) >= 7 {
			return part
		}
	}
	return ""
}
