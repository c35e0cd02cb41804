package provider

import (
	"encoding/json"
	"strings"
	"time"

	"carillon"
	"carillon/internal/base/identity"
)

// CallSettings are the settings of a number for calls at a channel.
type CallSettings struct {
	On       bool
	Hostname string // of our server, to which the channel places its calls
	Port     int
	Password string // of the number, made by the channel; only read, never written
}

// CallPermission is a person's permission to be called by a company, with the channel's present limits.
type CallPermission struct {
	Given bool
	Until time.Time // zero: permanent, or not given
	// MayCall and MayAsk report whether the channel allows a call, and a request for permission, now. CallAt and AskAt are
	// the times of the next ones that it allows; zero if unknown.
	MayCall, MayAsk bool
	CallAt, AskAt   time.Time
}

// CallReport is a channel's report about a call. Reports come repeatedly and in any order.
type CallReport struct {
	WACID    string // the channel's id of the call
	Incoming bool   // a person called the business
	Number   string // of the person; may be empty
	UserID   string // the channel's id of the person; may be empty
	// Ended reports the end of the call; Answered that it was connected before.
	Ended, Answered bool
	At, Start, End  time.Time // of the report, and of the talk; zero if unknown
}

// OverWhatsApp returns the id of the messaging sender of a line for calls over WhatsApp; "" for other senders.
func OverWhatsApp(s *carillon.Sender) string {
	if s.Channel != carillon.Voice {
		return ""
	}
	var x struct {
		WhatsApp string `json:"whatsapp"`
	}
	_ = json.Unmarshal(s.Settings, &x) // settings without it belong to other lines
	return x.WhatsApp
}

// callless are countries by calling code: their numbers may not call people over WhatsApp.
var callless = map[string]string{"20": "Egypt", "84": "Vietnam", "234": "Nigeria"} //nolint:gochecknoglobals // read only

// elsewhere are the area codes after 1 of other countries than the United States and Canada.
const elsewhere = " 242 246 264 268 284 345 441 473 649 658 664 721 758 767 784 809 829 849 868 869 876 "

// Callless returns the country of a number from which WhatsApp allows no calls to people; "" if it allows them.
func Callless(number string) string {
	code := identity.CallingCode(number)
	if code != "1" {
		return callless[code]
	}
	if len(number) > 4 && strings.Contains(elsewhere, " "+number[1:4]+" ") {
		return ""
	}
	return "the United States and Canada"
}
