package voicetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"

	"carillon/internal/agent"
	"carillon/internal/base/audio"
	"carillon/internal/base/need"
	"carillon/internal/voice"
)

func installed(t *testing.T) {
	t.Helper()
	need.Program(t, "espeak-ng", "espeak-ng")
}

var sentences = []string{
	"When do you open?", "When do you close?", "What are your opening hours?", "I want to talk to a person.", "Yes.", "No.",
	"Yes, please.", "Stop.",
	"What does it cost?", "Where are you?", "Can I return my shoes?", "Good morning.", "Thank you, goodbye.", "The first one.",
	"The second one.", "One two three.",
}

// spoken are the sentences as espeak-ng says them.
var spoken = sync.OnceValues(func() (map[string][]int16, error) {
	said := map[string][]int16{}
	for _, s := range sentences {
		pcm, err := Speak(context.Background(), s, "en", Rate)
		if err != nil {
			return nil, err
		}
		said[s] = pcm
	}
	return said, nil
})

func filled(t *testing.T) (*Bank, map[string][]int16) {
	t.Helper()
	installed(t)
	said, err := spoken()
	if err != nil {
		t.Fatal(err)
	}
	b := &Bank{}
	for _, s := range sentences {
		if err := b.Add(s, said[s]); err != nil {
			t.Fatal(err)
		}
	}
	return b, said
}

func TestEachUtteranceIsRecognizedAndNoOther(t *testing.T) {
	b, said := filled(t)
	random := rand.New(rand.NewPCG(1, 1))
	silence := func(n int) []int16 { return make([]int16, n) }
	closest := 0.0
	tried := sentences
	if testing.Short() { // takes a minute under the race detector
		tried = sentences[:2]
	}
	for i, text := range tried {
		pcm := said[text]
		noise := 0.1 * audio.RMS(pcm)
		for name, heard := range map[string][]int16{
			"as it is":           pcm,
			"with silence":       slices.Concat(silence(4001), pcm, silence(9999)),
			"without its end":    pcm[:len(pcm)-Rate/10], // silence
			"loud, then quieter": shaped(pcm, func(i int) float64 { return 1.2 - 0.9*float64(i)/float64(len(pcm)) }),
			"with noise": shaped(slices.Concat(silence(3000), pcm), func(int) float64 { return 1 }, func() float64 {
				return random.NormFloat64() * noise
			}),
			"by telephone":     telephone(t, pcm),
			"by a late sender": concealed(pcm, 9),
		} {
			if i%4 > 0 && name != "as it is" { // each is only damaged in some of the ways
				continue
			}
			if got, score, err := b.Recognize(heard, Rate); got != text || score < Enough || err != nil {
				t.Errorf("%q %s: %q by %.3f, %v", text, name, got, score, err)
			}
		}
		other := &Bank{known: slices.DeleteFunc(slices.Clone(b.known), func(u utterance) bool { return u.text == text })}
		got, score, err := other.Recognize(pcm, Rate)
		if err != nil || score > 0.8 {
			t.Errorf("%q is %q by %.3f, %v", text, got, score, err)
		}
		closest = max(closest, score)
	}
	t.Logf("the closest of different ones: %.3f", closest)
}

func TestWhatIsDamagedIsNotRecognized(t *testing.T) {
	b, said := filled(t)
	pcm := said["What are your opening hours?"]
	random, level := rand.New(rand.NewPCG(2, 2)), audio.RMS(pcm)
	for name, heard := range map[string][]int16{
		"silence":         make([]int16, Rate),
		"nothing":         nil,
		"two thirds":      pcm[:len(pcm)*2/3],
		"the end":         pcm[len(pcm)/3:],
		"backwards":       backwards(pcm),
		"faster":          every(pcm, 20),
		"as loud noise":   shaped(pcm, func(int) float64 { return 1 }, func() float64 { return random.NormFloat64() * level }),
		"with another":    slices.Concat(pcm, said["What does it cost?"]),
		"of another rate": doubled(pcm),
		"with gaps":       shaped(pcm, func(i int) float64 { return float64(i / 800 % 2) }),
		"out of order":    slices.Concat(pcm[len(pcm)/2:], pcm[:len(pcm)/2]),
	} {
		if text, score, err := b.Recognize(heard, Rate); score >= Enough || err != nil {
			t.Errorf("%s: %q by %.3f, %v", name, text, score, err)
		}
	}
}

func TestTheTranscriberReturnsNothingForWhatItDoesNotKnow(t *testing.T) {
	b, said := filled(t)
	for text, want := range map[string]string{"When do you open?": "When do you open?", "": ""} {
		r, err := Transcriber{b}.Listen(t.Context(), voice.Hearing{Rate: Rate, Voice: &agent.Voice{}})
		if err != nil {
			t.Fatal(err)
		}
		pcm := said[text]
		if text == "" {
			pcm = backwards(said["When do you open?"])
		}
		for piece := range slices.Chunk(pcm, 320) {
			if err := r.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := r.Result(t.Context()); got.Text != want || err != nil {
			t.Errorf("%q, %v", got.Text, err)
		}
		r.Close()
	}
}

// shaped returns samples with a varying gain, and added sound.
func shaped(pcm []int16, gain func(i int) float64, add ...func() float64) []int16 {
	out := make([]int16, len(pcm))
	for i, s := range pcm {
		x := float64(s) * gain(i)
		for _, a := range add {
			x += a()
		}
		out[i] = int16(max(min(x, math.MaxInt16), math.MinInt16))
	}
	return out
}

// telephone returns the sound that arrives over a line of 8 kHz that loses 1 packet in 50.
func telephone(t *testing.T, pcm []int16) []int16 {
	t.Helper()
	narrow, err := audio.Resample(pcm, Rate, 8000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range narrow {
		narrow[i] &^= 0x3f
		if i/160%50 == 49 {
			narrow[i] = 0
		}
	}
	wide, err := audio.Resample(narrow, 8000, Rate)
	if err != nil {
		t.Fatal(err)
	}
	return wide
}

func backwards(pcm []int16) []int16 {
	out := slices.Clone(pcm)
	slices.Reverse(out)
	return out
}

// every drops one of n samples.
func every(pcm []int16, n int) (out []int16) {
	for i, s := range pcm {
		if i%n != 0 {
			out = append(out, s)
		}
	}
	return out
}

func doubled(pcm []int16) (out []int16) {
	for _, s := range pcm {
		out = append(out, s, s)
	}
	return out
}

// request is a request to transcribe that tests modify.
type request struct {
	key, kind string
	fields    [][2]string
	file      string
	fileKind  string
	wav       []byte
}

func (q request) send(t *testing.T, url string) (int, string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range q.fields {
		if err := w.WriteField(f[0], f[1]); err != nil {
			t.Fatal(err)
		}
	}
	if q.wav != nil {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="file"; filename="` + q.file + `"`}, "Content-Type": {q.fileKind},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write(q.wav)
	}
	_ = w.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/audio/transcriptions", &b)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+q.key)
	if q.kind == "" {
		q.kind = w.FormDataContentType()
	}
	r.Header.Set("Content-Type", q.kind)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

func TestTheServerRefusesWhatOpenAIWould(t *testing.T) {
	b, said := filled(t)
	server := httptest.NewServer(NewServer(b))
	defer server.Close()
	good := func() request {
		return request{
			key: Key, fields: [][2]string{{"model", Model}, {"language", "en"}}, file: "a.wav", fileKind: "audio/wav",
			wav: audio.WAV(said["Yes."], Rate),
		}
	}
	if status, text := good().send(t, server.URL); status != 200 || text != `{"text":"Yes."}`+"\n" {
		t.Fatalf("%d %s", status, text)
	}
	for name, spoil := range map[string]func(q *request){
		"another key":       func(q *request) { q.key = "sk-other" },
		"JSON":              func(q *request) { q.kind = "application/json" },
		"no model":          func(q *request) { q.fields = q.fields[1:] },
		"an unknown model":  func(q *request) { q.fields[0][1] = "x" },
		"a whole tag":       func(q *request) { q.fields[1][1] = "en-US" },
		"unknown field":     func(q *request) { q.fields = append(q.fields, [2]string{"lang", "en"}) },
		"a field twice":     func(q *request) { q.fields = append(q.fields, [2]string{"model", Model}) },
		"no file":           func(q *request) { q.wav = nil },
		"a file of no kind": func(q *request) { q.fileKind = "application/octet-stream" },
		"no file name":      func(q *request) { q.file = "blob" },
		"no WAV":            func(q *request) { q.wav = audio.Bytes(said["Yes."]) },
		"a wrong length":    func(q *request) { q.wav[40]++ },
		"a wrong rate":      func(q *request) { q.wav = audio.WAV(said["Yes."], 22050) },
		"too short":         func(q *request) { q.wav = audio.WAV(said["Yes."][:100], Rate) },
		"a failing model":   func(q *request) { q.fields[0][1] = ModelError },
	} {
		q := good()
		spoil(&q)
		status, text := q.send(t, server.URL)
		var problem struct {
			Error struct{ Message, Type, Code string }
		}
		if status < 400 || json.Unmarshal([]byte(text), &problem) != nil || problem.Error.Code == "" {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

func TestTheServerMakesUtterancesForMicrophones(t *testing.T) {
	installed(t)
	s := NewServer(nil)
	server := httptest.NewServer(s)
	defer server.Close()
	resp, err := http.Post(server.URL+"/bank?before_ms=500&after_ms=1000", "application/json",
		strings.NewReader(`{"text":"¿A qué hora abren?","language":"es-419"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	pcm, rate, err := audio.ReadWAV(resp.Body, 1<<20)
	if err != nil || rate != Rate || audio.RMS(pcm[:Rate/2]) != 0 || audio.RMS(pcm[len(pcm)-Rate:]) != 0 {
		t.Fatalf("%d samples of %d Hz, %v", len(pcm), rate, err)
	}
	q := request{
		key: Key, fields: [][2]string{{"model", Model}, {"language", "es"}}, file: "a.wav", fileKind: "audio/wav",
		wav: audio.WAV(pcm, rate),
	}
	if status, text := q.send(t, server.URL); status != 200 || !strings.Contains(text, "abren") {
		t.Errorf("%d %s", status, text)
	}
	if h := s.Heard(); len(h) != 1 || h[0].Text != "¿A qué hora abren?" || h[0].Score < 0.99 || h[0].Language != "es" {
		t.Errorf("%+v", h)
	}
}

// concealed returns sound in which a sender was late, at each third by the given number of frames, in whose place the
// previous frame is repeated.
func concealed(pcm []int16, late ...int) (heard []int16) {
	const frame = Rate / 50
	third := len(pcm) / (len(late) + 1) / frame * frame
	for _, n := range late {
		heard = append(heard, pcm[:third]...)
		for range n {
			heard = append(heard, pcm[third-frame:third]...)
		}
		pcm = pcm[third:]
	}
	return append(heard, pcm...)
}
