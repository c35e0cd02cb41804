package app

import (
	"encoding/json"
	"errors"
	"testing"

	"carillon"
	"carillon/internal/send/sandbox"
	"carillon/internal/send/whatsapp"
	"carillon/internal/send/whatsapp/graphtest"
	"carillon/internal/talk/messaging"
)

func TestChannelsSayWhichFilesThereAreNot(t *testing.T) {
	t.Parallel()
	g, err := graphtest.New(graphtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	g.PutFile("whole", graphtest.File{Type: "text/plain", Data: []byte("Hello")})
	g.PutFile("large", graphtest.File{Type: "text/plain", Data: []byte("Hello"), Size: 1001})
	g.PutFile("broken", graphtest.File{Type: "text/plain", Data: []byte("Hello"), Broken: -1})
	client := whatsapp.New(whatsapp.Options{})
	t.Cleanup(client.CloseIdleConnections)
	s := &carillon.Sender{ID: "main", Provider: "whatsapp", Settings: g.Settings()}
	w := whatsappReplies{client}
	if content, mime, err := w.File(t.Context(), s, "whole", 1000); string(content) != "Hello" || mime != "text/plain" || err != nil {
		t.Errorf("%q, %s, %v", content, mime, err)
	}
	for id, want := range map[string]error{"none": messaging.ErrNoFile, "large": messaging.ErrFileTooLarge} {
		if _, _, err := w.File(t.Context(), s, id, 1000); !errors.Is(err, want) {
			t.Errorf("%s: %v", id, err)
		}
	}
	_, _, err = w.File(t.Context(), s, "broken", 1000)
	if err == nil || errors.Is(err, messaging.ErrNoFile) || errors.Is(err, messaging.ErrFileTooLarge) {
		t.Errorf("a response that breaks off: %v", err)
	}
	if _, _, err := (sandboxReplies{&sandbox.Channel{}}).File(t.Context(), s, "none", 1000); !errors.Is(err, messaging.ErrNoFile) {
		t.Errorf("the sandbox: %v", err)
	}
}

func TestTheAgentOfASenderIsInItsSettings(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{`{"agent":"a"}`: "a", `{}`: "", `{"agent":7}`: "", ``: ""} {
		if got := agentOf(&carillon.Sender{Settings: json.RawMessage(settings)}); got != want {
			t.Errorf("%s: %q", settings, got)
		}
	}
}
