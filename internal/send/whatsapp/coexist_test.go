package whatsapp

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

// A message that the business wrote in the app has the person as its author's counterpart, by number or id.
func TestEchoesNameThePersonWhoGotThem(t *testing.T) {
	g, _ := graph(t, graphtest.Options{})
	at := time.Unix(1739321024, 0).UTC()
	text := graphtest.Text("16505551234", "wamid.1", "It is ready", at)
	hidden := graphtest.Inbound{
		"from_user_id": "US.77", "id": "wamid.2", "timestamp": "1739321025", "type": "location",
		"location": map[string]any{"latitude": 40.5, "longitude": -3.5},
	}
	edit := graphtest.Inbound{
		"from": "16505551234", "id": "wamid.3", "timestamp": "1739321026", "type": "edit",
		"edit": map[string]any{"original_message_id": "wamid.1", "message": map[string]any{
			"type": "text", "text": map[string]string{"body": "It is ready now"},
		}},
	}
	nobody := graphtest.Inbound{"id": "wamid.4", "timestamp": "1739321027", "type": "text", "text": map[string]string{"body": "x"}}
	cb, err := ParseCallback(g.EchoBody(g.Echo(text), g.Echo(hidden), g.Echo(edit), g.Echo(nobody)), 1)
	if err != nil {
		t.Fatal(err)
	}
	got := cb.Inbound["1000001"]
	if len(got) != 3 || len(cb.Unnamed) != 1 || cb.Unnamed[0].ID != "wamid.4" {
		t.Fatalf("%d echoes, %d unnamed", len(got), len(cb.Unnamed))
	}
	want := provider.Inbound{
		ID: "wamid.1", From: "16505551234", At: at, Kind: provider.InboundText, Type: "text", Text: "It is ready", Echo: true,
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("a text (-want +got):\n%s", diff)
	}
	if x := got[1]; !x.Echo || x.UserID != "US.77" || x.From != "" || x.Place == nil {
		t.Errorf("a location to a person without a number: %+v", x)
	}
	if x := got[2]; !x.Echo || x.Event != provider.InboundEdited || x.ReplyTo != "wamid.1" || x.Text != "It is ready now" {
		t.Errorf("an edit: %+v", x)
	}
}

// parts returns the parts of the history in a callback.
func parts(t *testing.T, g *graphtest.Server, body []byte) []provider.HistoryPart {
	t.Helper()
	cb, err := ParseCallback(body, 1)
	if err != nil {
		t.Fatal(err)
	}
	if others := cb.HistoryFor(json.RawMessage(`{"phone_number_id":"7"}`)); others != nil {
		t.Errorf("another number gets %d parts", len(others))
	}
	return cb.HistoryFor(g.Settings())
}

// read returns the content of the only part of the history in a callback.
func read(t *testing.T, g *graphtest.Server, body []byte) provider.History {
	t.Helper()
	all := parts(t, g, body)
	if len(all) != 1 {
		t.Fatalf("%d parts", len(all))
	}
	h, err := ReadHistory("15555550100", all[0])
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTheHistoryHasBothSidesWithTheirStates(t *testing.T) {
	g, _ := graph(t, graphtest.Options{})
	at := time.Unix(1739230955, 0).UTC()
	const them, us = "5215512345601", "15555550100"
	h := read(t, g, g.HistoryBody(1, 2, 55, graphtest.Thread{ID: "525512345601", Messages: []graphtest.Inbound{
		graphtest.Past(graphtest.Text(us, "wamid.1", "Hello", at), "READ"),
		graphtest.Past(graphtest.Text(them, "wamid.2", "Thanks", at.Add(time.Second)), "READ"), // another form of the number
		graphtest.Past(graphtest.Inbound{"from": us, "id": "wamid.3", "timestamp": "1739230970", "type": "media_placeholder"}, "PLAYED"),
		graphtest.Past(graphtest.Inbound{"from": us, "id": "wamid.4", "type": "text", "text": map[string]string{"body": "x"}}, "SENT"),
	}}, graphtest.Thread{ID: "US.77", Messages: []graphtest.Inbound{
		graphtest.Past(graphtest.Inbound{
			"from_user_id": "US.77", "id": "wamid.5", "timestamp": "1739230971", "type": "text", "text": map[string]string{"body": "Hi"},
		}, "READ"),
		graphtest.Past(graphtest.Text(us, "wamid.6", "Failed", at), "ERROR"),
	}}))
	if h.Phase != 1 || h.Progress != 55 || h.Refused || h.Ignored != 1 || len(h.Messages) != 5 {
		t.Fatalf("%+v", h)
	}
	type row struct {
		person, text string
		ours, absent bool
		state        carillon.State
	}
	var got []row
	for _, m := range h.Messages {
		got = append(got, row{m.Person(), m.Text, m.Echo, m.Absent, m.State})
	}
	want := []row{
		{"525512345601", "Hello", true, false, carillon.StateRead},
		{"525512345601", "Thanks", false, false, ""},
		{"525512345601", "media_placeholder", true, true, carillon.StateRead},
		{"US.77", "Hi", false, false, ""},
		{"US.77", "Failed", true, false, carillon.StateFailed},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A file of the business's own message names nobody: the message is known from a part before.
func TestFilesOfTheHistoryAreRead(t *testing.T) {
	g, _ := graph(t, graphtest.Options{})
	image := func(from, id string) graphtest.Inbound {
		return graphtest.Inbound{"from": from, "id": id, "timestamp": "1738796547", "type": "image", "image": map[string]string{
			"caption": "Look", "mime_type": "image/png", "sha256": "x", "id": "png",
		}}
	}
	h := read(t, g, g.HistoryFilesBody(image("15555550100", "wamid.1"), image("16505551234", "wamid.2")))
	if len(h.Messages) != 2 || h.Progress != -1 {
		t.Fatalf("%+v", h)
	}
	for i, person := range []string{"", "16505551234"} {
		m := h.Messages[i]
		if m.Person() != person || m.File == nil || m.File.ID != "png" || m.Text != "Look" || m.Echo != (person == "") {
			t.Errorf("%+v", m)
		}
	}
}

func TestARefusedHistoryAndContactsAreRead(t *testing.T) {
	g, _ := graph(t, graphtest.Options{})
	if h := read(t, g, g.HistoryRefusedBody()); !h.Refused || len(h.Messages) != 0 {
		t.Errorf("refused: %+v", h)
	}
	h := read(t, g, g.ContactsBody(
		graphtest.AppContact{Number: "16505551234", FullName: "Pablo Morales", FirstName: "Pablo"},
		graphtest.AppContact{Number: "+16505551235", FirstName: "Ana"},
		graphtest.AppContact{Number: "16505551236", Removed: true},
		graphtest.AppContact{Number: "nonsense", FullName: "Nobody"},
	))
	want := []provider.PersonName{
		{Number: "16505551234", Name: "Pablo Morales"}, {Number: "16505551235", Name: "Ana"}, {Number: "16505551236", Removed: true},
	}
	if diff := cmp.Diff(want, h.Names); diff != "" || h.Ignored != 1 {
		t.Errorf("ignored %d (-want +got):\n%s", h.Ignored, diff)
	}
	if all := parts(t, g, []byte(`{"object":"whatsapp_business_account","entry":[{"id":"2000001","changes":[
		{"field":"history","value":{"metadata":{"phone_number_id":"1000001"},"history":7}}]}]}`)); len(all) > 1 {
		t.Errorf("malformed: %d parts", len(all))
	}
}

func TestANumberIsRegisteredWithItsPIN(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	c := client(t, Options{})
	g.ChangeAccount(func(a *graphtest.Account) { a.Platform = "NOT_APPLICABLE" })
	refused := func(what string, err error, why string) {
		t.Helper()
		var x *carillon.Error
		if !errors.As(err, &x) || x.Code != carillon.Conflict || x.Details.Find(DetailRefusal) != why {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, pin := range []string{"", "12345", "1234567", "12345a"} {
		if err := c.Register(t.Context(), s, pin); !carillon.IsCode(err, carillon.ValidationFailed) {
			t.Errorf("the PIN %q: %v", pin, err)
		}
	}
	refused("the PIN of an unregistered number", c.SetPIN(t.Context(), s, "222222"), "number_unregistered")
	if err := c.Register(t.Context(), s, "111111"); err != nil {
		t.Fatal(err)
	}
	if a := g.Account(); a.Platform != "CLOUD_API" || a.PIN != "111111" {
		t.Errorf("%+v", a)
	}
	if err := c.SetPIN(t.Context(), s, "222222"); err != nil || g.Account().PIN != "222222" {
		t.Error(err)
	}
	refused("a wrong PIN", c.Register(t.Context(), s, "111111"), "pin_wrong")
	g.ChangeAccount(func(a *graphtest.Account) { a.Attempts = 10 })
	refused("too many attempts", c.Register(t.Context(), s, "222222"), "registrations_too_many")
	g.ChangeAccount(func(a *graphtest.Account) { a.Attempts, a.Verification = 0, "EXPIRED" })
	refused("an unverified number", c.Register(t.Context(), s, "222222"), "number_unverified")
}

func TestTheHistoryIsAskedForOnceAndInTime(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	c := client(t, Options{})
	g.ChangeAccount(func(a *graphtest.Account) { a.OnApp = true })
	for _, contacts := range []bool{true, false} {
		if err := c.AskHistory(t.Context(), s, contacts); err != nil {
			t.Fatal(err)
		}
		var x *carillon.Error
		err := c.AskHistory(t.Context(), s, contacts)
		if !errors.As(err, &x) || x.Details.Find(DetailRefusal) != "history_asked_before" {
			t.Errorf("again: %v", err)
		}
	}
	if diff := cmp.Diff([]string{"smb_app_state_sync", "history"}, g.Account().Asked); diff != "" {
		t.Error(diff)
	}
	g.ChangeAccount(func(a *graphtest.Account) { a.Asked, a.OnboardedAt = nil, time.Now().Add(-25*time.Hour) })
	var x *carillon.Error
	if err := c.AskHistory(t.Context(), s, false); !errors.As(err, &x) || x.Details.Find(DetailRefusal) != "history_too_late" {
		t.Errorf("late: %v", err)
	}
}

func TestTheCheckKnowsANumberOfTheApp(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	g.ChangeAccount(func(a *graphtest.Account) { a.OnApp, a.Platform = true, "SMB_APP" })
	found := client(t, Options{}).Check(t.Context(), s)
	codes := map[string]string{}
	for _, f := range found.Findings {
		codes[f.Item] = f.Code
		if f.Item == "token" && f.Values["app"] != "3000001" {
			t.Errorf("the application of the token: %v", f.Values)
		}
	}
	if codes["registration"] != "coexistence" {
		t.Errorf("%v", codes)
	}
	if f := Explain("131064 limited at Meta (trace x)"); f == nil || f.Code != "templates_misclassified" {
		t.Errorf("131064: %+v", f)
	}
	if f := Explain("131048 spam rate limit"); f != nil {
		t.Errorf("131048: %+v", f)
	}
}
