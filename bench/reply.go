package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"carillon/bench/load"
	"carillon/internal/voice/voicetest"
)

const (
	replyPeople = 20 // who talk at once, without load
	replyFor    = 40 * time.Second
	engineTakes = 500 * time.Millisecond // before the first word of an engine on a server
	transcribes = 200 * time.Millisecond

	slowWidget = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e24"
	slowAgent  = "7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e14"
)

// measureReplies measures the time from the end of a person's question to the first sound of the reply, in talks and in
// calls, by the built-in engine and by one on a server. Transcribing takes as long as by a server nearby.
func (b *bench) measureReplies(ctx context.Context) {
	server := httptest.NewServer(http.HandlerFunc(answerSlowly))
	defer server.Close()
	b.ears = server.URL
	defer func() { b.ears = "" }()
	const text = "What are your opening hours?"
	said := filepath.Join(b.dir, "reply.ulaw")
	check(os.WriteFile(said, compressed(must(voicetest.Speak(ctx, text, "en", 8000)), 8*time.Second), 0o600))
	question := spoken(must(voicetest.Speak(ctx, text, "en", talkRate)))
	for _, by := range []struct{ name, widget, agent string }{
		{"built-in engine", talkWidget, listenAgent},
		{fmt.Sprintf("engine of %d ms", engineTakes.Milliseconds()), slowWidget, slowAgent},
	} {
		add := func(in, unit string) *row {
			return b.table.add(row{figure: "Question to reply, " + in + ", " + by.name, unit: unit})
		}
		talk50, talk95 := add("talk", "ms, p50"), add("talk", "ms, p95")
		call50, call95 := add("call", "ms, p50"), add("call", "ms, p95")
		for range min(b.rounds, 3) {
			n := b.serveEmpty(ctx, engines()[0], noProvider)
			t := &talkers{ctx: ctx, addr: n.addr, widget: by.widget, question: question}
			t.run(replyPeople)
			b.logf("%d replies in talks", t.replies.Count())
			talk50.add(t.replies.Milliseconds(0.5), 0)
			talk95.add(t.replies.Milliseconds(0.95), 0)
			b.discard(n)

			x := must(b.helper("exchange"))
			b.exchange = must(x.readLine())
			must(x.ask("speak " + said))
			n = b.serveEmpty(ctx, engines()[0], noProvider)
			b.placeCalls(ctx, n, by.agent, replyPeople)
			check(load.Pause(ctx, replyFor))
			var count, p50, p95 int
			must(fmt.Sscan(must(x.ask("replies")), &count, &p50, &p95))
			b.logf("%d replies in calls", count)
			if count < replyPeople {
				check(fmt.Errorf("%d replies in %d calls", count, replyPeople))
			}
			call50.add(float64(p50)/1000, 0)
			call95.add(float64(p95)/1000, 0)
			b.discard(n)
			x.stop()
		}
	}
}

// answerSlowly is a transcriber and an engine.
func answerSlowly(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		time.Sleep(engineTakes)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"We are open from nine in the morning to eight in the evening."}}]}`+
			"\n\ndata: [DONE]\n\n")
		return
	}
	time.Sleep(transcribes)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"text":"What are your opening hours?"}`)
}
