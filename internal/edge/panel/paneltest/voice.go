package paneltest

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"carillon"
	"carillon/internal/edge/widget"
	"carillon/internal/store/chats"
	"carillon/internal/talk/conversation"
	"carillon/internal/voice"
)

// fakeTalks is a fake for a node's spoken conversations, and for a speaker. It echoes the teammate's speech.
type fakeTalks struct {
	Mu     sync.Mutex
	There  map[string]bool // conversations with a connected visitor, by company and id
	Joined []voice.Teammate
	Spoken []voice.Utterance
	Trials []widget.Teammate
	Opened string        // id of the conversation of a trial
	Broken chan struct{} // closed when the visitors' connections break
}

func (x *fakeTalks) Talking(companyID, id string) bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return x.There[companyID+"/"+id]
}

func (x *fakeTalks) TalkTo(_ context.Context, by widget.Teammate, agentID, language string) (*widget.Signed, error) {
	x.Trials = append(x.Trials, by)
	return &widget.Signed{URL: "wss://panel.test/" + agentID + "/" + language, ConversationID: x.Opened}, nil
}

func (x *fakeTalks) Join(ctx context.Context, t voice.Teammate) error {
	x.Mu.Lock()
	x.Joined = append(x.Joined, t)
	there := x.There[t.CompanyID+"/"+t.ConversationID]
	x.Mu.Unlock()
	if !there {
		return carillon.Absent("Talk")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-x.Broken:
			cancel()
		case <-ctx.Done():
		}
	}()
	t.Show(voice.Event{Kind: voice.Transcribed, Text: "Good morning"})
	for {
		pcm, err := t.Line.Read(ctx)
		switch {
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if err := t.Line.Write(pcm); err != nil {
			return err
		}
	}
}

func (x *fakeTalks) Speak(_ context.Context, u voice.Utterance, emit func(pcm []int16) error) error {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.Spoken = append(x.Spoken, u); u.Text == "fails" {
		return errors.New("no voice")
	}
	for range 3 {
		if err := emit(make([]int16, 1000)); err != nil {
			return err
		}
	}
	return nil
}

// HeldAloud is the channel of spoken conversations.
const HeldAloud = "web_voice"

// Visit opens a visitor's conversation. In a spoken one, the visitor is connected.
func (w *World) Visit(companyID, channel string) string {
	w.T.Helper()
	c, _, err := w.Chats.Open(w.T.Context(), conversation.Start{
		Channel: channel, AgentID: carillon.NewID(time.Now()),
		Contact: chats.Contact{CompanyID: companyID, WidgetID: "w", VisitorID: carillon.NewID(time.Now())},
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.Talks.Mu.Lock()
	defer w.Talks.Mu.Unlock()
	if w.Talks.There == nil {
		w.Talks.There = map[string]bool{}
	}
	w.Talks.There[companyID+"/"+c.ID] = channel == HeldAloud
	return c.ID
}

func (w *World) Conversation(companyID, id string) *chats.Conversation {
	w.T.Helper()
	c, err := w.Store.Chats.Find(w.T.Context(), companyID, id)
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}
