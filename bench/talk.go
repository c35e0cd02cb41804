package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"carillon/bench/load"
	"carillon/internal/base/audio"
	"carillon/internal/voice/voicetest"
)

const (
	talkWidget = "1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e22"
	talkCount  = 100
	talkFor    = 40 * time.Second
	talkFrame  = 512 // samples that a page sends at a time, 31 times per second
	talkRate   = 16000
	// jitter is the length of sound that a page buffers before it plays.
	jitter = 80 * time.Millisecond
	// quiet is the silence after a response before the visitor speaks again.
	quiet = 700 * time.Millisecond
	// into is the time after the start of a response at which the visitor interrupts it.
	into = 2 * time.Second
)

// measureTalks measures spoken conversations: whether the agent's sound arrives in time for gapless playback while a
// hundred visitors talk, each with continuous speech detection. The transcriber responds at once.
func (b *bench) measureTalks(ctx context.Context, _ *provider, e engine) {
	ears := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"text":"What are your opening hours?"}`)
	}))
	defer ears.Close()
	question := must(voicetest.Speak(ctx, "What are your opening hours?", "en", talkRate))
	count := talkCount
	if b.quick {
		count /= 10
	}
	add := func(figure, unit string, f floor) *row {
		return b.table.add(row{figure: fmt.Sprintf("%s, %d conversations, %s", figure, count, e.name), unit: unit, floor: f})
	}
	gaps := add("Gap in the agent's speech", "ms, p99 of pieces", maxFloor(100))
	first := add("Answer to first audio", "ms, p99", maxFloor(300))
	silence := add("Barge-in to silence", "ms, p50", maxFloor(250))
	processor := add("Processor of a spoken conversation", "% of a core", floor{})
	for range min(b.rounds, 3) {
		b.ears = ears.URL
		n := b.serveEmpty(ctx, e, noProvider)
		t := &talkers{ctx: ctx, addr: n.addr, widget: talkWidget, question: question}
		busy := n.cpuTicks()
		begin := time.Now()
		t.run(count)
		processor.add(float64(n.cpuTicks()-busy)/time.Since(begin).Seconds()/float64(count), 0) // a tick is 10 ms
		if t.answers.Load() < int64(count) {
			check(fmt.Errorf("%d answers to %d visitors", t.answers.Load(), count))
		}
		gaps.add(t.gaps.Milliseconds(0.99), 0)
		first.add(t.first.Milliseconds(0.99), 0)
		silence.add(t.silence.Milliseconds(0.5), 0)
		b.discard(n)
	}
}

// talkers are visitors who talk, and their measurements.
type talkers struct {
	ctx      context.Context //nolint:containedctx // of one round
	addr     string
	widget   string
	question []int16
	answers  atomic.Int64

	mu                            sync.Mutex
	gaps, first, silence, replies load.Latencies
}

func (t *talkers) run(count int) {
	ctx, stop := context.WithTimeout(t.ctx, talkFor)
	defer stop()
	var all sync.WaitGroup
	errs := make(chan error, count)
	for i := range count {
		all.Go(func() {
			_ = load.Pause(ctx, time.Duration(i)*5*time.Second/time.Duration(count)) // spreads their first utterances
			errs <- (&talker{talkers: t, id: i, sound: map[int]*playing{}}).talk(ctx)
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		check(err)
	}
}

// talker is one visitor.
type talker struct {
	*talkers
	id int
	ws *websocket.Conn

	mu    sync.Mutex
	begun map[int]time.Time // responses whose text has begun
	sound map[int]*playing
	last  time.Time // arrival of the last sound
	from  time.Time // beginning of the present response's sound
	spoke time.Time // when the visitor began to interrupt it; zero means not interrupted
	asked time.Time // end of the visitor's question; zero after the reply
}

// playing is the playback of a response on a page.
type playing struct{ until time.Time }

func (t *talker) talk(ctx context.Context) error {
	// From many addresses, since the program limits the connections of each.
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+t.id%200))}}
	client := &http.Client{Transport: &http.Transport{DialContext: d.DialContext}}
	address, err := t.sign(ctx, client)
	if err != nil {
		return err
	}
	t.ws, _, err = websocket.Dial(ctx, address, &websocket.DialOptions{Subprotocols: []string{"convai"}, HTTPClient: client})
	if err != nil {
		return fmt.Errorf("open a socket: %w", err)
	}
	defer func() { _ = t.ws.CloseNow() }()
	t.ws.SetReadLimit(1 << 20)
	t.begun = map[int]time.Time{}
	if err := t.ws.Write(ctx, websocket.MessageText, []byte(`{"type":"conversation_initiation_client_data"}`)); err != nil {
		return err
	}
	var done sync.WaitGroup
	defer done.Wait()
	done.Go(func() { t.speak(ctx) })
	for {
		_, text, err := t.ws.Read(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("read from a socket: %w", err)
		}
		t.receive(ctx, text, time.Now())
	}
}

func (t *talker) sign(ctx context.Context, client *http.Client) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://"+t.addr+"/functions/v1/voice-widget/signed-url?access_key="+bulkKey+"&id_widget="+t.widget, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var x struct {
		URL string `json:"signed_url"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&x); err != nil || resp.StatusCode != http.StatusOK {
		return "", errors.Join(fmt.Errorf("sign: %d", resp.StatusCode), err)
	}
	return x.URL, nil
}

// receive measures the effect of a message. It parses only what is measured.
func (t *talker) receive(ctx context.Context, text []byte, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := idOf(text)
	switch {
	case bytes.HasPrefix(text, []byte(`{"type":"audio"`)):
		_, sound, _ := bytes.Cut(text, []byte(`"audio_base_64":"`))
		t.hear(id, bytes.IndexByte(sound, '"')*3/4/2, now)
	case bytes.Contains(text, []byte(`"type":"start"`)):
		t.begun[id] = now
	case bytes.Contains(text, []byte(`"type":"interruption"`)):
		if !t.spoke.IsZero() {
			t.talkers.add(&t.silence, now.Sub(t.spoke))
			t.spoke = time.Time{}
		}
		delete(t.sound, id)
	case bytes.Contains(text, []byte(`"type":"agent_response"`)):
		t.answers.Add(1)
	case bytes.Contains(text, []byte(`"type":"ping"`)):
		_ = t.ws.Write(ctx, websocket.MessageText, []byte(`{"type":"pong","event_id":`+strconv.Itoa(id)+`}`))
	}
}

// idOf returns the event_id of a message.
func idOf(text []byte) int {
	_, rest, _ := bytes.Cut(text, []byte(`"event_id":`))
	n := 0
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// hear plays samples of a response. A page begins playback a little late, and samples that arrive after all earlier
// ones were played leave a gap.
func (t *talker) hear(id, samples int, now time.Time) {
	p := t.sound[id]
	if p == nil {
		p = &playing{until: now.Add(jitter)}
		t.sound[id], t.from = p, now
		if at, ok := t.begun[id]; ok {
			t.talkers.add(&t.first, now.Sub(at))
		}
		if !t.asked.IsZero() {
			t.talkers.add(&t.replies, now.Sub(t.asked))
			t.asked = time.Time{}
		}
	} else {
		t.talkers.add(&t.gaps, max(0, now.Sub(p.until)))
		if p.until.Before(now) {
			p.until = now
		}
	}
	p.until = p.until.Add(audio.Duration(samples, talkRate))
	t.last = now
}

func (t *talkers) add(to *load.Latencies, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	to.Add(d)
}

// speak sends the microphone's sound in real time: silence, the question after each response, and an interruption of
// every second response.
func (t *talker) speak(ctx context.Context) {
	tick := time.NewTicker(talkFrame * time.Second / talkRate)
	defer tick.Stop()
	var left []int16
	frame := make([]int16, talkFrame)
	cut := t.id%2 == 0
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if len(left) == 0 {
				if t.turn(now, cut) {
					left, cut = t.question, !cut
				}
			}
		}
		clear(frame)
		ends := len(left) > 0 && len(left) <= talkFrame
		left = left[copy(frame, left):]
		if ends {
			t.mu.Lock()
			t.asked = time.Now()
			t.mu.Unlock()
		}
		message := append([]byte(`{"user_audio_chunk":"`), base64.StdEncoding.AppendEncode(nil, audio.Bytes(frame))...)
		if t.ws.Write(ctx, websocket.MessageText, append(message, `"}`...)) != nil {
			return
		}
	}
}

// turn reports whether the visitor speaks now.
func (t *talker) turn(now time.Time, cut bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.last.IsZero():
		return false
	case now.Sub(t.last) > quiet:
		t.last = now.Add(5 * time.Second) // until the response arrives
		return true
	case cut && t.spoke.IsZero() && now.Sub(t.from) > into && now.Sub(t.last) < 200*time.Millisecond:
		t.spoke, t.from, t.last = now, now, now.Add(5*time.Second)
		return true
	}
	return false
}
