// Package freeform reads an application's messages to people who wrote within the last day, checks them against the
// channel's limits, and writes them as text for the thread. It neither stores nor sends.
package freeform

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"carillon"
	"carillon/internal/base/identity"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/provider"
)

// TypeRead is the type of a request that marks a message as read and may show the typing indicator. It sends nothing.
const TypeRead = "read"

// Request is the body of `POST messages`.
type Request struct {
	RecipientID    string `json:"recipient_id"` // the sender; by default the one that the person wrote to
	To             *To    `json:"to"`
	ConversationID string `json:"conversation_id"`
	provider.Message
	MessageID string `json:"message_id"` // for TypeRead
	Typing    bool   `json:"typing"`     // for TypeRead
}

// To is the person: one member is set.
type To struct {
	Number string `json:"number"`
	UserID string `json:"user_id"` // the channel's id of the person
}

// Read reads and checks a body. Errors: validation_failed, with the field and its limit.
func Read(body []byte) (*Request, error) {
	o, err := jsonbody.Parse(body)
	if err != nil {
		return nil, err
	}
	r := &Request{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, invalid(err)
	}
	if r.Type == "" {
		return nil, carillon.Missing("type")
	}
	members, known := membersOf[r.Type]
	if !known {
		return nil, carillon.InvalidValue("type", "One of "+strings.Join(types(), ", "), r.Type)
	}
	for _, key := range o.Keys() {
		if !o.Find(key).Present() || slices.Contains(addressing, key) || members[key] != unused {
			continue
		}
		return nil, carillon.Invalid(key, "A message of type "+r.Type+" has no such field")
	}
	for key, m := range members {
		if m == required && !o.Find(key).Present() {
			return nil, carillon.Missing(key)
		}
	}
	if r.Type == TypeRead {
		return r, r.checkRead()
	}
	if err := r.checkPerson(); err != nil {
		return nil, err
	}
	return r, check(&r.Message)
}

// invalid returns the 400 for a body that does not have the form of a request.
func invalid(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := strings.TrimPrefix(wrong.Field, "Message.")
		return carillon.Invalid(field, "This is a "+wrong.Value+", which the field does not take")
	}
	if name, found := strings.CutPrefix(err.Error(), "json: unknown field "); found {
		return carillon.Invalid(strings.Trim(name, `"`), "There is no such field")
	}
	return carillon.Invalid("body", "The body is not a message")
}

// checkPerson checks who the message is for.
func (r *Request) checkPerson() error {
	switch {
	case r.ConversationID != "" && r.To != nil:
		return carillon.Invalid("to", "A message has either to or conversation_id")
	case r.ConversationID != "":
		if !carillon.ValidUUID(r.ConversationID) {
			return carillon.BadFormat("conversation_id", r.ConversationID, "a UUID", "0197f0a2-0000-7000-8000-000000000003")
		}
	case r.To == nil:
		return carillon.Missing("to")
	case r.To.Number != "" && r.To.UserID != "":
		return carillon.Invalid("to.user_id", "A person is named by number or by user_id")
	case r.To.UserID != "":
		if !identity.ValidUser(r.To.UserID) {
			return carillon.BadFormat("to.user_id", r.To.UserID, "The country, a full stop, letters and digits", "ES.13491208655302741918")
		}
	case r.To.Number == "":
		return carillon.Missing("to.number")
	case !carillon.ValidNumber(r.To.Number):
		return carillon.BadNumber("to.number", r.To.Number)
	}
	return nil
}

func (r *Request) checkRead() error {
	if r.To != nil || r.ConversationID != "" || r.RecipientID != "" {
		return carillon.Invalid("message_id", "A message of type read names the person by message_id alone")
	}
	return nil
}

// member describes a field of a type.
type member int

const (
	unused member = iota
	optional
	required
)

// addressing are the fields that every type may have.
var addressing = []string{"recipient_id", "to", "conversation_id", "type"} //nolint:gochecknoglobals // read-only

// membersOf lists the fields of each type.
var membersOf = map[string]map[string]member{ //nolint:gochecknoglobals // read-only
	provider.MessageText:     {"text": required, "preview_url": optional, "reply_to": optional},
	provider.MessageImage:    {"media": required, "reply_to": optional},
	provider.MessageVideo:    {"media": required, "reply_to": optional},
	provider.MessageAudio:    {"media": required, "reply_to": optional},
	provider.MessageDocument: {"media": required, "reply_to": optional},
	provider.MessageSticker:  {"media": required, "reply_to": optional},
	provider.MessageButtons: {
		"text": required, "buttons": required, "header": optional, "footer": optional, "reply_to": optional,
	},
	provider.MessageList: {"text": required, "list": required, "header": optional, "footer": optional, "reply_to": optional},
	provider.MessageLink: {"text": required, "link": required, "header": optional, "footer": optional, "reply_to": optional},

	provider.MessageLocation:        {"location": required, "reply_to": optional},
	provider.MessageLocationRequest: {"text": required, "reply_to": optional},
	provider.MessageContacts:        {"contacts": required, "reply_to": optional},
	provider.MessageContactRequest:  {"text": required, "reply_to": optional},
	provider.MessageCallPermission:  {"text": required, "reply_to": optional},

	provider.MessageProduct: {"product": required, "text": optional, "footer": optional, "reply_to": optional},
	provider.MessageProducts: {
		"products": required, "header": required, "text": required, "footer": optional, "reply_to": optional,
	},
	provider.MessageFlow: {"flow": required, "text": required, "header": optional, "footer": optional, "reply_to": optional},

	provider.MessageReaction: {"reaction": required},
	TypeRead:                 {"message_id": required, "typing": optional},
}

func types() (all []string) {
	for t := range membersOf {
		all = append(all, t)
	}
	slices.Sort(all)
	return all
}
