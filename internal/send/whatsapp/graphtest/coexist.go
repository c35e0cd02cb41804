package graphtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"time"
)

// Coexistence is the data about the use of the number in the WhatsApp Business app, and about its registration.
type Coexistence struct {
	OnApp       bool      // the number is also used in the app
	OnboardedAt time.Time // start of the day in which the history can be asked for; zero value: now
	NotShared   bool      // the business does not share its history
	PIN         string    // of two-step verification; may be empty
	Attempts    int       // to register within 72 hours
	Asked       []string  // kinds of history that were asked for
}

const (
	maxRegistrations = 10
	askWithin        = 24 * time.Hour
)

var pinForm = regexp.MustCompile(`^[0-9]{6}$`)

// strictly decodes a body that has no other members.
func strictly(body []byte, into any) *Error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return invalid("Invalid parameter: " + err.Error())
	}
	return nil
}

// register registers the number for the API.
func (a *account) register(w http.ResponseWriter, _ *http.Request, body []byte) *Error {
	var x struct {
		Product string `json:"messaging_product"`
		PIN     string `json:"pin"`
	}
	if e := strictly(body, &x); e != nil {
		return e
	}
	var e *Error
	a.ChangeAccount(func(now *Account) {
		switch {
		case x.Product != "whatsapp" || !pinForm.MatchString(x.PIN):
			e = invalid("Invalid parameter: pin")
			return
		case now.Lacks != "":
			e = &Error{HTTP: 403, Code: 200, Message: "Permissions error"}
			return
		case now.OnApp: // the app registers it
			e = invalid("The number is in use with the WhatsApp Business app")
			return
		}
		if now.Attempts++; now.Attempts > maxRegistrations {
			e = &Error{HTTP: 400, Code: 133016, Message: "Account register deregister rate limit exceeded"}
			return
		}
		switch {
		case now.Verification != "VERIFIED":
			e = &Error{HTTP: 400, Code: 133006, Message: "Phone number re-verification needed"}
		case now.PIN != "" && now.PIN != x.PIN:
			e = &Error{HTTP: 400, Code: 133005, Message: "Two step verification PIN Mismatch"}
		default:
			now.PIN, now.Platform = x.PIN, "CLOUD_API"
		}
	})
	if e == nil {
		respond(w, 200, map[string]any{"success": true})
	}
	return e
}

// changePhone sets the PIN of two-step verification, or the callback address of the number.
func (a *account) changePhone(w http.ResponseWriter, r *http.Request, body []byte) *Error {
	var x struct {
		PIN     *string   `json:"pin"`
		Webhook *override `json:"webhook_configuration"`
	}
	if e := strictly(body, &x); e != nil {
		return e
	}
	if (x.PIN == nil) == (x.Webhook == nil) {
		return invalid("Invalid parameter: pin or webhook_configuration")
	}
	if x.Webhook != nil {
		return a.redirect(w, r, *x.Webhook)
	}
	var e *Error
	a.ChangeAccount(func(now *Account) {
		switch {
		case !pinForm.MatchString(*x.PIN):
			e = invalid("Invalid parameter: pin")
		case now.Platform != "CLOUD_API":
			e = &Error{HTTP: 400, Code: 133010, Message: "Phone number not registered"}
		default:
			now.PIN = *x.PIN
		}
	})
	if e == nil {
		respond(w, 200, map[string]any{"success": true})
	}
	return e
}

// appData accepts a request for the history of the app, each kind once.
func (a *account) appData(w http.ResponseWriter, _ *http.Request, body []byte) *Error {
	var x struct {
		Product string `json:"messaging_product"`
		Kind    string `json:"sync_type"`
	}
	if e := strictly(body, &x); e != nil {
		return e
	}
	var e *Error
	a.ChangeAccount(func(now *Account) {
		switch {
		case x.Product != "whatsapp" || x.Kind != "history" && x.Kind != "smb_app_state_sync":
			e = invalid("Invalid parameter: sync_type")
		case !now.OnApp:
			e = invalid("The number is not in use with the WhatsApp Business app")
		case !now.OnboardedAt.IsZero() && time.Since(now.OnboardedAt) > askWithin:
			e = &Error{HTTP: 400, Code: 2593108, Message: "Synchronization request made outside of allowed time window"}
		default:
			for _, kind := range now.Asked {
				if kind == x.Kind {
					e = &Error{HTTP: 400, Code: 2593107, Message: "Synchronization request limit exceeded"}
					return
				}
			}
			now.Asked = append(now.Asked, x.Kind)
		}
	})
	if e == nil {
		respond(w, 200, map[string]any{"messaging_product": "whatsapp", "request_id": "request-1"})
	}
	return e
}

// coexistent returns the body of a callback of a number in coexistence.
func (s *Server) coexistent(field string, members map[string]any) []byte {
	members["messaging_product"] = "whatsapp"
	members["metadata"] = map[string]string{"display_phone_number": s.display(), "phone_number_id": s.o.PhoneNumberID}
	return s.envelope(field, members)
}

// display returns the number in the form of callbacks.
func (s *Server) display() string {
	var digits []byte
	for _, c := range []byte(s.Account().DisplayNumber) {
		if c >= '0' && c <= '9' {
			digits = append(digits, c)
		}
	}
	return string(digits)
}

// Echo returns a message that the business wrote in the app, from a message of a person in the form of Text: its author
// becomes its recipient.
func (s *Server) Echo(m Inbound) Inbound {
	x := Inbound{"from": s.display()}
	for member, value := range m {
		switch member {
		case "from":
			member = "to"
		case "from_user_id":
			member = "to_user_id"
		}
		x[member] = value
	}
	return x
}

// EchoBody returns the body of a callback with messages that the business wrote in the app.
func (s *Server) EchoBody(messages ...Inbound) []byte {
	return s.coexistent("smb_message_echoes", map[string]any{"message_echoes": messages})
}

// Thread is the history of a person.
type Thread struct {
	ID       string    `json:"id"` // number or id of the person
	Messages []Inbound `json:"messages"`
}

// Past adds a status to a message of the history. The channel names no recipient in it.
func Past(m Inbound, status string) Inbound {
	x := Inbound{"history_context": map[string]string{"status": status}}
	for member, value := range m {
		if member != "to" && member != "to_user_id" {
			x[member] = value
		}
	}
	return x
}

// HistoryBody returns the body of a callback with a chunk of the history.
func (s *Server) HistoryBody(phase, chunk, progress int, threads ...Thread) []byte {
	return s.coexistent("history", map[string]any{"history": []any{map[string]any{
		"metadata": map[string]int{"phase": phase, "chunk_order": chunk, "progress": progress}, "threads": threads,
	}}})
}

// HistoryFilesBody returns the body of a callback with messages whose files were placeholders in a chunk.
func (s *Server) HistoryFilesBody(messages ...Inbound) []byte {
	return s.coexistent("history", map[string]any{"messages": messages})
}

// HistoryRefusedBody returns the body of a callback of a business that does not share its history.
func (s *Server) HistoryRefusedBody() []byte {
	return s.coexistent("history", map[string]any{"history": []any{map[string]any{"errors": []any{map[string]any{
		"code": 2593109, "title": "History sync is turned off by the business from the WhatsApp Business App",
		"message":    "History sync is turned off by the business from the WhatsApp Business App",
		"error_data": map[string]string{"details": "History sharing is turned off by the business"},
	}}}}})
}

// AppContact is a change of the app's contacts.
type AppContact struct {
	Number, FullName, FirstName string
	Removed                     bool
}

// ContactsBody returns the body of a callback with changes of the app's contacts.
func (s *Server) ContactsBody(all ...AppContact) []byte {
	var items []any
	for _, c := range all {
		contact, action := map[string]string{"phone_number": c.Number}, "remove"
		if !c.Removed {
			contact["full_name"], contact["first_name"], action = c.FullName, c.FirstName, "add"
		}
		items = append(items, map[string]any{
			"type": "contact", "contact": contact, "action": action, "metadata": map[string]string{"timestamp": "1739321024"},
		})
	}
	return s.coexistent("smb_app_state_sync", map[string]any{"state_sync": items})
}
