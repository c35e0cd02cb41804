package vosk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/egress"
	"carillon/internal/base/need"
	"carillon/internal/voice"
	"carillon/internal/voice/voicetest"
)

// server stands in for a Vosk server. It only accepts messages of the protocol.
type server struct {
	t    *testing.T
	bank *voicetest.Bank
	url  string

	stallAt  int  // answers nothing from this message on; 0 means never
	closeAt  int  // closes the connection at this message; 0 means never
	noJSON   bool // answers with something other than JSON
	bare     bool // closes after the end without answering it, as some servers do
	sentence bool // ends a sentence in between

	mu    sync.Mutex
	heard []int16
	ended bool
}

func newServer(t *testing.T) *server {
	t.Helper()
	need.Program(t, "espeak-ng", "espeak-ng")
	s := &server{t: t, bank: &voicetest.Bank{}}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	s.url = "ws" + strings.TrimPrefix(listening.URL, "http")
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if got := r.Header.Get("Authorization"); r.URL.Path != "/" && r.URL.Path != "" || got != "" && got != "Bearer sk-vosk" {
		http.NotFound(w, r)
		return
	}
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = socket.CloseNow() }()
	kind, config, err := socket.Read(r.Context())
	if err != nil {
		return
	}
	if kind != websocket.MessageText || string(config) != `{"config":{"sample_rate":16000}}` {
		s.t.Errorf("the first message is %s", config)
		return
	}
	for n := 1; ; n++ {
		kind, message, err := socket.Read(r.Context())
		if err != nil {
			return
		}
		switch {
		case n == s.stallAt:
			<-r.Context().Done()
			return
		case n == s.closeAt:
			_ = socket.Close(websocket.StatusInternalError, "")
			return
		case s.noJSON:
			_ = socket.Write(r.Context(), websocket.MessageText, []byte("nonsense"))
			continue
		}
		answer, last := s.take(kind, message, n)
		if last && s.bare {
			_ = socket.Close(websocket.StatusNormalClosure, "")
			return
		}
		if err := socket.Write(r.Context(), websocket.MessageText, answer); err != nil {
			return
		}
		if last {
			_ = socket.Close(websocket.StatusNormalClosure, "")
			return
		}
	}
}

// take returns the answer to a message.
func (s *server) take(kind websocket.MessageType, message []byte, n int) (answer []byte, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	write := func(key, text string) []byte {
		b, _ := json.Marshal(map[string]string{key: text})
		return b
	}
	if kind == websocket.MessageText {
		if string(message) != `{"eof":1}` || s.ended {
			s.t.Errorf("a message %s", message)
		}
		s.ended = true
		if s.sentence {
			return write("text", ""), true
		}
		text, score, err := s.bank.Recognize(s.heard, 16000)
		if err != nil || score < voicetest.Enough {
			text = ""
		}
		return write("text", text), true
	}
	if len(message)%2 != 0 || len(message) == 0 || len(message) > 3200 || s.ended {
		s.t.Errorf("message %d has %d bytes", n, len(message))
	}
	s.heard = append(s.heard, audio.Samples(message)...)
	if s.sentence && n == 5 {
		return write("text", "first sentence"), false
	}
	return write("partial", fmt.Sprintf("word %d", n/4)), false
}

func (s *server) hearing(rate int) voice.Hearing {
	return voice.Hearing{
		Language: "en", Rate: rate,
		Voice: (&agent.Voice{Transcriber: "vosk", TranscriberService: &agent.Service{BaseURL: s.url, APIKey: "sk-vosk"}}).Settings(),
	}
}

func newTranscriber(t *testing.T, whole time.Duration) *Transcriber {
	client := egress.New(egress.Options{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Timeout: time.Minute})
	t.Cleanup(client.Close)
	return New(Options{Client: client.Sockets(), Dial: time.Minute, Whole: whole})
}

func transcribe(t *testing.T, h voice.Hearing, pcm []int16) (voice.Transcript, error) {
	t.Helper()
	return transcribeWithin(t, time.Minute, h, pcm)
}

func transcribeWithin(t *testing.T, whole time.Duration, h voice.Hearing, pcm []int16) (voice.Transcript, error) {
	t.Helper()
	u, err := newTranscriber(t, whole).Listen(t.Context(), h)
	if err != nil {
		return voice.Transcript{}, err
	}
	defer u.Close()
	for piece := range slices.Chunk(pcm, h.Rate/50) {
		if err := u.Write(piece); err != nil {
			return voice.Transcript{}, err
		}
	}
	return u.Result(t.Context())
}

func TestSpeechIsTranscribedWhileItComes(t *testing.T) {
	for _, rate := range []int{8000, 16000} {
		s := newServer(t)
		wide, err := s.bank.Say(t.Context(), "When do you open?", "en")
		if err != nil {
			t.Fatal(err)
		}
		pcm, err := audio.Resample(wide, voicetest.Rate, rate)
		if err != nil {
			t.Fatal(err)
		}
		h := s.hearing(rate)
		partials := make(chan string, 100)
		h.Partial = func(text string) { partials <- text }
		got, err := transcribe(t, h, pcm)
		if err != nil || got != (voice.Transcript{Text: "When do you open?"}) {
			t.Errorf("%d Hz: %+v, %v", rate, got, err)
		}
		if n := len(s.heard) - len(wide); n < -2 || n > 2 {
			t.Errorf("%d Hz: %d samples too many", rate, n)
		}
		close(partials)
		var all []string
		for p := range partials {
			all = append(all, p)
		}
		if len(all) < 3 || all[0] != "word 0" || all[1] != "word 1" {
			t.Errorf("so far: %q", all)
		}
	}
}

func TestWordsAreKnownBeforeTheEnd(t *testing.T) {
	s := newServer(t)
	wide, err := s.bank.Say(t.Context(), "When do you open?", "en")
	if err != nil {
		t.Fatal(err)
	}
	u, err := newTranscriber(t, time.Minute).Listen(t.Context(), s.hearing(voicetest.Rate))
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	half, written := len(wide)/2, 0
	for _, pcm := range [][]int16{wide[:half], wide[half:]} {
		if err := u.Write(pcm); err != nil {
			t.Fatal(err)
		}
		early, err := u.(voice.Early).Early(t.Context())
		if err != nil || !early.Partial || !strings.HasPrefix(early.Text, "word ") {
			t.Errorf("early: %+v, %v", early, err)
		}
		written += len(pcm)
		s.mu.Lock()
		if missing := written - len(s.heard); missing >= 1600 {
			t.Errorf("%d samples are missing", missing)
		}
		s.mu.Unlock()
	}
	if got, err := u.Result(t.Context()); err != nil || got.Text != "When do you open?" {
		t.Errorf("at the end: %+v, %v", got, err)
	}
}

func TestSentencesAreJoined(t *testing.T) {
	s := newServer(t)
	s.sentence = true
	h := s.hearing(16000)
	var last string
	h.Partial = func(text string) { last = text }
	got, err := transcribe(t, h, make([]int16, 16000))
	if err != nil || got.Text != "first sentence" || last != "first sentence word 2" {
		t.Errorf("%+v, %v, so far %q", got, err, last)
	}
	s = newServer(t)
	s.sentence, s.bare = true, true
	if got, err := transcribe(t, s.hearing(16000), make([]int16, 16000)); err != nil || got.Text != "first sentence" {
		t.Errorf("closed at the end: %+v, %v", got, err)
	}
}

func TestSilenceIsNothing(t *testing.T) {
	s := newServer(t)
	for _, pcm := range [][]int16{nil, make([]int16, 1), make([]int16, 8000)} {
		if got, err := transcribe(t, s.hearing(16000), pcm); err != nil || got.Text != "" {
			t.Errorf("%d samples: %+v, %v", len(pcm), got, err)
		}
		s.ended, s.heard = false, nil
	}
}

func TestWhatFailsIsReported(t *testing.T) {
	second := make([]int16, 16000)
	for name, c := range map[string]struct {
		spoil func(s *server, h *voice.Hearing)
		want  string
	}{
		"silence":      {func(s *server, _ *voice.Hearing) { s.stallAt = 3 }, errSilent.Error()},
		"a close":      {func(s *server, _ *voice.Hearing) { s.closeAt = 3 }, errEnded.Error()},
		"an early end": {func(s *server, _ *voice.Hearing) { s.bare = true }, errEnded.Error()},
		"nonsense":     {func(s *server, _ *voice.Hearing) { s.noJSON = true }, errNoJSON.Error()},
		"no socket":    {func(_ *server, h *voice.Hearing) { h.Voice.TranscriberService.BaseURL += "/other" }, "responded with 404"},
		"another key":  {func(_ *server, h *voice.Hearing) { h.Voice.TranscriberService.APIKey = "sk-x" }, "responded with 404"},
		"no server":    {func(_ *server, h *voice.Hearing) { h.Voice.TranscriberService = nil }, errNoServer.Error()},
		"nobody there": {func(_ *server, h *voice.Hearing) {
			h.Voice.TranscriberService.BaseURL = "ws://127.0.0.1:1"
		}, "connection refused"},
		"private":       {func(_ *server, h *voice.Hearing) { h.Voice.TranscriberService.BaseURL = "ws://127.0.0.2:80" }, "not HTTPS"},
		"an other rate": {func(_ *server, h *voice.Hearing) { h.Rate = 1 }, "no resampling"},
	} {
		s := newServer(t)
		h := s.hearing(16000)
		c.spoil(s, &h)
		if h.Rate == 1 {
			_, err := newTranscriber(t, time.Minute).Listen(t.Context(), h)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		whole := time.Minute
		if c.want == errSilent.Error() {
			whole = 300 * time.Millisecond
		}
		_, err := transcribeWithin(t, whole, h, second)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "ws:") ||
			strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestOfALongUtteranceTheBeginningIsTaken(t *testing.T) {
	s := newServer(t)
	if _, err := transcribe(t, s.hearing(16000), make([]int16, 70*16000)); err != nil && !errors.Is(err, errSilent) {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.heard) > 60*16000 {
		t.Errorf("%d samples", len(s.heard))
	}
}

func TestWhatIsGivenUpEndsTheConnection(t *testing.T) {
	s := newServer(t)
	s.stallAt = 1
	u, err := newTranscriber(t, time.Minute).Listen(t.Context(), s.hearing(16000))
	if err != nil {
		t.Fatal(err)
	}
	_ = u.Write(make([]int16, 16000))
	time.AfterFunc(20*time.Millisecond, u.Close)
	if _, err := u.Result(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	u.Close()
	ctx, cancel := context.WithCancel(t.Context())
	u, err = newTranscriber(t, time.Minute).Listen(ctx, s.hearing(16000))
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	cancel()
	if _, err := u.Result(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Any message of a server is parsed or refused, and the resulting transcript is one plain line.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"partial":"a"}`), []byte(`{"text":"a b"}`))
	f.Add([]byte(`{"text":"\u0000\n"}`), []byte(`{"result":[],"text":""}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		u := &utterance{sent: 1, over: true, changed: make(chan struct{})}
		for i, message := range [][]byte{first, second} {
			var a answer
			if json.Unmarshal(message, &a) != nil {
				return
			}
			partial, last := u.add(a)
			if last != (i == 1) || strings.ContainsAny(partial, "\x00\n\r") || len([]rune(partial)) > 2000 {
				t.Errorf("%q, %v", partial, last)
			}
		}
		if text := voice.Plain(strings.Join(u.texts, " ")); bytes.ContainsAny([]byte(text), "\x00\n\r") {
			t.Errorf("%q", text)
		}
	})
}
