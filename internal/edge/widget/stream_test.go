package widget

import (
	"encoding/json"
	"strings"
	"testing"

	"carillon/internal/store/chats"
	"carillon/internal/store/events"
	"carillon/internal/talk/conversation"
)

func TestAPieceThatComesAfterItsReplyIsNotShown(t *testing.T) {
	x := newSite(t, "")
	f := &follower{chat: chat{host: x.host(), files: x.Files}, session: &session{Company: companyID}}
	event := func(kind string, seq int64, what any) (string, bool) {
		text, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		got, shown, err := f.event(t.Context(), &events.Event{Kind: kind, Seq: seq, Payload: text})
		if err != nil {
			t.Fatal(err)
		}
		return string(got.Data), shown
	}
	piece := func(after int64) conversation.Ephemeral {
		return conversation.Ephemeral{Author: chats.Agent, Text: "We open", After: after}
	}
	if text, shown := event("delta", 0, piece(3)); !shown || strings.Contains(text, "after") || !strings.Contains(text, "We open") {
		t.Errorf("a piece before its reply: %v %s", shown, text)
	}
	event("turn", 4, chats.TurnView{Seq: 4, Author: chats.Visitor, Kind: chats.KindText, Text: "Hello?"})
	if _, shown := event("delta", 0, piece(3)); !shown {
		t.Error("after a turn of the visitor, the next piece is not shown")
	}
	event("turn", 5, chats.TurnView{Seq: 5, Author: chats.Agent, Kind: chats.KindText, Text: "We open at nine."})
	if text, shown := event("delta", 0, piece(3)); shown {
		t.Errorf("after the reply, its piece is shown: %s", text)
	}
	if _, shown := event("delta", 0, piece(5)); !shown {
		t.Error("the first piece of the next reply is not shown")
	}
}
