package openai

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/audio/audiotest"
	"carillon/internal/base/egress"
	"carillon/internal/base/need"
	"carillon/internal/voice"
	"carillon/internal/voice/voicetest"
)

// rig is a speaker and a transcriber that use a strict server.
type rig struct {
	*Speaker
	*Transcriber
	server *voicetest.Server
	url    string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	need.Program(t, "espeak-ng", "espeak-ng")
	r := &rig{server: voicetest.NewServer(nil)}
	listening := httptest.NewServer(r.server)
	t.Cleanup(listening.Close)
	r.url = listening.URL + "/v1"
	r.Speaker, r.Transcriber = with(t, time.Minute)
	return r
}

func with(t *testing.T, limit time.Duration) (*Speaker, *Transcriber) {
	client := egress.New(egress.Options{
		AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, MaxBody: 16 << 20, Redirects: -1, Timeout: time.Minute,
	})
	t.Cleanup(client.Close)
	o := Options{Client: client, Silence: limit, Whole: limit}
	return NewSpeaker(o), NewTranscriber(o)
}

func (r *rig) settings(model string) *agent.Voice {
	s := &agent.Service{BaseURL: r.url + "/", Model: model, APIKey: voicetest.Key}
	return (&agent.Voice{Speaker: "openai", Transcriber: "openai", Name: "es-419", SpeakerService: s, TranscriberService: s}).Settings()
}

func (r *rig) speak(t *testing.T, u voice.Utterance) (pcm []int16, err error) {
	t.Helper()
	err = r.Speak(t.Context(), u, func(piece []int16) error {
		pcm = append(pcm, piece...)
		return nil
	})
	return pcm, err
}

func TestSpeechIsThatOfTheServer(t *testing.T) {
	r := newRig(t)
	u := voice.Utterance{Voice: r.settings(voicetest.Model), Language: "es-MX", Text: "Abrimos a las nueve.", Rate: 16000}
	want, err := voicetest.Speak(t.Context(), u.Text, "es-419", 16000)
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []int{16000, 8000} {
		u.Rate = rate
		pcm, err := r.speak(t, u)
		if err != nil {
			t.Fatal(err)
		}
		wide, err := audio.Resample(pcm, rate, 16000)
		if err != nil {
			t.Fatal(err)
		}
		if ncc, _ := audiotest.Correlate(want, wide); ncc < 0.9 || rate == 16000 && ncc < 0.99 {
			t.Errorf("%d Hz correlates by %.3f", rate, ncc)
		}
	}
	asked := voicetest.Spoken{Input: u.Text, Voice: "es-419", Speed: 1}
	if got := r.server.Spoken(); !slices.Equal(got, []voicetest.Spoken{asked, asked}) {
		t.Errorf("asked for %+v", got)
	}
	u.Text = " "
	if pcm, err := r.speak(t, u); len(pcm) != 0 || err != nil {
		t.Errorf("nothing to say: %d samples, %v", len(pcm), err)
	}
}

func TestWAVIsSpokenToo(t *testing.T) {
	tone := slices.Repeat([]int16{1000, 2000, 1000, -1000, -2000, -1000}, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "audio/wav")
		_, _ = w.Write(audio.WAV(tone, 16000))
	}))
	defer server.Close()
	r := &rig{url: server.URL}
	r.Speaker, _ = with(t, time.Second)
	pcm, err := r.speak(t, voice.Utterance{Voice: r.settings("x"), Text: "hello", Rate: 16000})
	if err != nil || !slices.Equal(pcm, tone) {
		t.Errorf("%d samples, %v", len(pcm), err)
	}
}

func TestSpeechThatFailsIsReported(t *testing.T) {
	r := newRig(t)
	plain := func(kind, body string) *agent.Voice {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(server.Close)
		v := r.settings(voicetest.Model)
		v.SpeakerService.BaseURL = server.URL
		return v
	}
	wrongKey := r.settings(voicetest.Model)
	wrongKey.SpeakerService.APIKey = "sk-other"
	private := r.settings(voicetest.Model)
	private.SpeakerService.BaseURL = "http://127.0.0.2:1/v1"
	for name, c := range map[string]struct {
		voice *agent.Voice
		want  string
	}{
		"500":             {r.settings(voicetest.ModelError), "500 invalid_request_error server_error"},
		"silence":         {r.settings(voicetest.ModelStall), errSilent.Error()},
		"silence later":   {r.settings(voicetest.ModelHang), errSilent.Error()},
		"half a sample":   {r.settings(voicetest.ModelCut), errCutShort.Error()},
		"another model":   {r.settings("x"), "404 invalid_request_error model_not_found"},
		"another key":     {wrongKey, "401 invalid_request_error invalid_api_key"},
		"JSON":            {plain("application/json", `{}`), errNoSound.Error()},
		"HTML":            {plain("text/html", "<p>"), errNoSound.Error()},
		"nothing":         {plain("audio/pcm", ""), errNoSound.Error()},
		"a broken WAV":    {plain("audio/wav", "RIFFxxxxWAVE"), errNoSound.Error()},
		"no server":       {(&agent.Voice{}).Settings(), errNoServer.Error()},
		"private address": {private, "address denied"},
	} {
		x := *r
		if c.want == errSilent.Error() {
			x.Speaker, _ = with(t, 300*time.Millisecond)
		}
		_, err := x.speak(t, voice.Utterance{Voice: c.voice, Text: "secret words", Rate: 16000})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") ||
			strings.Contains(err.Error(), voicetest.Key) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := r.speak(t, voice.Utterance{
		Voice: r.settings(voicetest.Model), Text: strings.Repeat("x", MaxText+1),
		Rate: 16000,
	}); !errors.Is(err, errTooLong) {
		t.Errorf("a long text: %v", err)
	}
	unheard := errors.New("unheard")
	if err := r.Speak(t.Context(), voice.Utterance{Voice: r.settings(voicetest.Model), Text: "hello", Rate: 8000},
		func([]int16) error { return unheard }); !errors.Is(err, unheard) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := r.Speak(ctx, voice.Utterance{Voice: r.settings(voicetest.ModelStall), Text: "hello", Rate: 8000},
		func([]int16) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who left: %v", err)
	}
}

func (r *rig) transcribe(t *testing.T, h voice.Hearing, pcm []int16) (voice.Transcript, error) {
	t.Helper()
	u, err := r.Listen(t.Context(), h)
	if err != nil {
		return voice.Transcript{}, err
	}
	defer u.Close()
	for piece := range slices.Chunk(pcm, h.Rate/50) {
		if err := u.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	return u.Result(t.Context())
}

func TestSpeechIsTranscribed(t *testing.T) {
	r := newRig(t)
	wide, err := r.server.Bank.Say(t.Context(), "¿A qué hora abren?", "es-419")
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []int{8000, 16000} {
		pcm, err := audio.Resample(wide, voicetest.Rate, rate)
		if err != nil {
			t.Fatal(err)
		}
		h := voice.Hearing{Voice: r.settings(voicetest.Model), Language: "es-419", Rate: rate, Expect: []string{"Horario", "Precio"}}
		got, err := r.transcribe(t, h, pcm)
		if err != nil || got != (voice.Transcript{Text: "¿A qué hora abren?"}) {
			t.Errorf("%d Hz: %+v, %v", rate, got, err)
		}
		h.Language = "fil"
		if got, err := r.transcribe(t, h, make([]int16, rate)); err != nil || got.Text != "" {
			t.Errorf("silence: %+v, %v", got, err)
		}
		if got, err := r.transcribe(t, h, make([]int16, 100)); err != nil || got.Text != "" {
			t.Errorf("nothing: %+v, %v", got, err)
		}
	}
	heard := r.server.Heard()
	if len(heard) != 4 || heard[0].Language != "es" || heard[0].Prompt != "Horario, Precio" || heard[1].Language != "" ||
		len(r.server.Faults()) > 0 {
		t.Errorf("%+v, %v", heard, r.server.Faults())
	}
}

func TestOfALongUtteranceTheEndIsTranscribed(t *testing.T) {
	r := newRig(t)
	pcm := make([]int16, 70*16000)
	if _, err := r.transcribe(t, voice.Hearing{Voice: r.settings(voicetest.Model), Language: "en", Rate: 16000}, pcm); err != nil {
		t.Fatal(err)
	}
	if heard := r.server.Heard(); len(heard) != 1 || heard[0].Seconds != 60 {
		t.Errorf("%+v", heard)
	}
}

func TestTranscriptsThatFailAreReported(t *testing.T) {
	r := newRig(t)
	responding := func(kind, body string) *agent.Voice {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(server.Close)
		v := r.settings(voicetest.Model)
		v.TranscriberService.BaseURL = server.URL
		return v
	}
	wrongKey := r.settings(voicetest.Model)
	wrongKey.TranscriberService.APIKey = "sk-other"
	for name, c := range map[string]struct {
		voice *agent.Voice
		want  string
	}{
		"500":           {r.settings(voicetest.ModelError), "500 invalid_request_error server_error"},
		"silence":       {r.settings(voicetest.ModelStall), errSilent.Error()},
		"half":          {r.settings(voicetest.ModelCut), errNoJSON.Error()},
		"another model": {r.settings("x"), "404 invalid_request_error model_not_found"},
		"another key":   {wrongKey, "401 invalid_request_error invalid_api_key"},
		"no text":       {responding("application/json", `{}`), errNoJSON.Error()},
		"plain text":    {responding("text/plain", "hello"), errNoJSON.Error()},
		"too much":      {responding("application/json", `{"text":"`+strings.Repeat("x", maxAnswer)+`"}`), errNoJSON.Error()},
		"no server":     {(&agent.Voice{}).Settings(), errNoServer.Error()},
	} {
		x := *r
		if c.want == errSilent.Error() {
			_, x.Transcriber = with(t, 300*time.Millisecond)
		}
		_, err := x.transcribe(t, voice.Hearing{Voice: c.voice, Language: "en", Rate: 16000}, make([]int16, 16000))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), voicetest.Key) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for text, want := range map[string]string{"[BLANK_AUDIO]": "", " (soft music) Yes. ♪": "Yes.", "¿Qué [ruido] hora?": "¿Qué hora?"} {
		got, err := r.transcribe(t, voice.Hearing{
			Voice: responding("application/json", `{"text":"`+text+`"}`), Rate: 16000,
		}, make([]int16, 16000))
		if err != nil || got.Text != want {
			t.Errorf("%q is %q, %v", text, got.Text, err)
		}
	}
	got, err := r.transcribe(t, voice.Hearing{
		Voice: responding("application/json; charset=utf-8", `{"text":" Hi \n\u0000 `+strings.Repeat("é", 3000)+`"}`), Rate: 16000,
	}, make([]int16, 16000))
	if n := len([]rune(got.Text)); err != nil || n != 2000 || !strings.HasPrefix(got.Text, "Hi ") {
		t.Errorf("a long transcript has %d characters, %v", n, err)
	}
}

func TestWhatIsGivenUpEndsTheRequest(t *testing.T) {
	r := newRig(t)
	u, err := r.Listen(t.Context(), voice.Hearing{Voice: r.settings(voicetest.ModelStall), Language: "en", Rate: 16000})
	if err != nil {
		t.Fatal(err)
	}
	_ = u.Write(make([]int16, 16000))
	time.AfterFunc(20*time.Millisecond, u.Close)
	if _, err := u.Result(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("%v", err)
	}
	u.Close()
}
