package voicetest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"carillon/internal/base/audio"
)

const (
	// Model and Key are the values that requests to the server must have.
	Model = "test-voice"
	Key   = "sk-voice-test"

	maxRequest = 8 << 20
)

// Models whose requests fail, each in its own way. Otherwise they are the same.
const (
	ModelError = "error" // 500 immediately
	ModelStall = "stall" // no response
	ModelCut   = "cut"   // speech ends in the middle of a sample, a transcript in the middle of its JSON
	ModelHang  = "hang"  // half of the speech is sent, and then nothing
)

// Heard is a request to transcribe, with its result.
type Heard struct {
	Text     string  `json:"text"` // empty if unknown
	Closest  string  `json:"closest"`
	Score    float64 `json:"score"`
	Seconds  float64 `json:"seconds"`
	Language string  `json:"language"`
	Prompt   string  `json:"prompt"`
}

// Spoken is a request to speak.
type Spoken struct {
	Input string  `json:"input"`
	Voice string  `json:"voice"`
	Speed float64 `json:"speed"`
}

// Server is an http.Handler with OpenAI's interface below /v1. audio/transcriptions recognizes the utterances of the bank;
// audio/speech speaks with espeak-ng in the language that the voice names (es-419; any other name: English). Invalid
// requests are refused in the same way as by OpenAI's server.
//
// POST /bank {text, language} adds an utterance and returns it as a WAV file of 16 kHz; before_ms and after_ms add
// silence to the file, for a fake microphone. GET /heard and GET /spoken list the requests, and DELETE removes them.
type Server struct {
	Bank *Bank
	mux  *http.ServeMux

	mu     sync.Mutex
	heard  []Heard
	spoken []Spoken
	faults []string
}

// NewServer returns a server. If bank is nil, it has a new one.
func NewServer(bank *Bank) *Server {
	if bank == nil {
		bank = &Bank{}
	}
	s := &Server{Bank: bank, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1/audio/transcriptions", s.transcribe)
	s.mux.HandleFunc("POST /v1/audio/speech", s.speak)
	s.mux.HandleFunc("POST /bank", s.add)
	s.mux.HandleFunc("GET /heard", func(w http.ResponseWriter, _ *http.Request) { s.list(w, s.Heard()) })
	s.mux.HandleFunc("GET /spoken", func(w http.ResponseWriter, _ *http.Request) { s.list(w, s.Spoken()) })
	s.mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { s.list(w, s.Faults()) })
	s.mux.HandleFunc("DELETE /heard", s.forget)
	s.mux.HandleFunc("DELETE /spoken", s.forget)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	s.mux.ServeHTTP(w, r)
}

// Heard returns the requests to transcribe.
func (s *Server) Heard() []Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Heard{}, s.heard...)
}

// Spoken returns the requests to speak.
func (s *Server) Spoken() []Spoken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Spoken{}, s.spoken...)
}

// Faults returns the reasons of refused requests.
func (s *Server) Faults() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.faults...)
}

func (s *Server) forget(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard, s.spoken, s.faults = nil, nil, nil
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) list(w http.ResponseWriter, list any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// refuse responds like OpenAI.
func (s *Server) refuse(w http.ResponseWriter, status int, code, message string) {
	s.mu.Lock()
	s.faults = append(s.faults, message)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error",
		"code": code,
	}})
}

// failing handles the failing models. It reports whether the request was for one.
func (s *Server) failing(w http.ResponseWriter, r *http.Request, model string) bool {
	switch model {
	case ModelError:
		s.refuse(w, http.StatusInternalServerError, "server_error", "the model fails")
		return true
	case ModelStall:
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		return true
	}
	return false
}

// authorized responds with 401 if the key is wrong.
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Authorization") == "Bearer "+Key {
		return true
	}
	s.refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
	return false
}

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	f, err := readForm(r)
	switch {
	case err != nil:
		s.refuse(w, http.StatusBadRequest, "invalid_value", err.Error())
		return
	case s.failing(w, r, f.fields["model"]):
		return
	case f.fields["model"] != Model && f.fields["model"] != ModelCut:
		s.refuse(w, http.StatusNotFound, "model_not_found", "there is no model "+f.fields["model"])
		return
	}
	text, score, err := s.Bank.Recognize(f.pcm, f.rate)
	if err != nil {
		s.refuse(w, http.StatusBadRequest, "invalid_value", err.Error())
		return
	}
	h := Heard{
		Closest: text, Score: score, Seconds: float64(len(f.pcm)) / float64(f.rate), Language: f.fields["language"],
		Prompt: f.fields["prompt"],
	}
	if score >= Enough {
		h.Text = text
	}
	s.mu.Lock()
	s.heard = append(s.heard, h)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if f.fields["model"] == ModelCut {
		_, _ = io.WriteString(w, `{"text": "half`)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"text": h.Text})
}

// form is a request to transcribe.
type form struct {
	fields map[string]string
	pcm    []int16
	rate   int
}

// readForm parses a request strictly.
func readForm(r *http.Request) (f form, err error) {
	f.fields = map[string]string{}
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return f, fmt.Errorf("the content type is %q", kind)
	}
	for parts := multipart.NewReader(r.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return f, err
		}
		b, err := io.ReadAll(part)
		if err != nil {
			return f, err
		}
		switch name := part.FormName(); name {
		case "file":
			if part.Header.Get("Content-Type") != "audio/wav" || !strings.HasSuffix(part.FileName(), ".wav") {
				return f, fmt.Errorf("the file %q is %q", part.FileName(), part.Header.Get("Content-Type"))
			}
			if f.pcm, f.rate, err = readStrictly(b); err != nil {
				return f, err
			}
		case "model", "language", "prompt", "response_format":
			if _, twice := f.fields[name]; twice || part.FileName() != "" {
				return f, fmt.Errorf("the field %s", name)
			}
			f.fields[name] = string(b)
		default:
			return f, fmt.Errorf("there is no field %s", name)
		}
	}
	language, given := f.fields["language"]
	switch {
	case f.pcm == nil:
		return f, fmt.Errorf("there is no file")
	case f.fields["model"] == "":
		return f, fmt.Errorf("there is no model")
	case f.fields["response_format"] != "json" && f.fields["response_format"] != "":
		return f, fmt.Errorf("the response format is %q", f.fields["response_format"])
	case given && (len(language) != 2 || strings.ToLower(language) != language):
		return f, fmt.Errorf("the language %q is not of ISO 639-1", language)
	}
	return f, nil
}

// readStrictly reads a WAV file and checks every field of its header.
func readStrictly(b []byte) ([]int16, int, error) {
	pcm, rate, err := audio.ReadWAV(bytes.NewReader(b), maxRequest)
	if err != nil {
		return nil, 0, err
	}
	le := binary.LittleEndian
	switch {
	case len(b) != 44+2*len(pcm), int(le.Uint32(b[4:])) != len(b)-8, int(le.Uint32(b[40:])) != 2*len(pcm):
		return nil, 0, fmt.Errorf("the lengths of the WAV file are wrong")
	case le.Uint16(b[22:]) != 1, int(le.Uint32(b[28:])) != 2*rate, le.Uint16(b[32:]) != 2:
		return nil, 0, fmt.Errorf("the format of the WAV file is wrong")
	case rate != 16000, len(pcm) < rate/10:
		return nil, 0, fmt.Errorf("the WAV file has %d samples of %d Hz", len(pcm), rate)
	}
	return pcm, rate, nil
}

func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	if !s.authorized(w, r) {
		return
	}
	var asked struct {
		Model  string  `json:"model"`
		Format string  `json:"response_format"`
		Speed  float64 `json:"speed"`
		Spoken
	}
	asked.Speed = 1
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	err := body.Decode(&asked)
	asked.Spoken.Speed = asked.Speed
	switch {
	case r.Header.Get("Content-Type") != "application/json":
		s.refuse(w, http.StatusBadRequest, "invalid_value", "the content type is "+r.Header.Get("Content-Type"))
		return
	case err != nil:
		s.refuse(w, http.StatusBadRequest, "invalid_value", err.Error())
		return
	case s.failing(w, r, asked.Model):
		return
	case asked.Model != Model && asked.Model != ModelCut && asked.Model != ModelHang:
		s.refuse(w, http.StatusNotFound, "model_not_found", "there is no model "+asked.Model)
		return
	case asked.Input == "", len([]rune(asked.Input)) > 4096, asked.Voice == "", asked.Format != "pcm", asked.Speed < 0.25, asked.Speed > 4:
		s.refuse(w, http.StatusBadRequest, "invalid_value", fmt.Sprintf("the request is %d characters, %+v", len(asked.Input), asked))
		return
	}
	s.mu.Lock()
	s.spoken = append(s.spoken, asked.Spoken)
	s.mu.Unlock()
	pcm, err := Speak(r.Context(), asked.Input, asked.Voice, speechRate)
	if err != nil {
		pcm, err = Speak(r.Context(), asked.Input, "en", speechRate)
	}
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, "server_error", err.Error())
		return
	}
	stream(w, r, audio.Bytes(pcm), asked.Model)
}

// speechRate is the sample rate of OpenAI's pcm format.
const speechRate = 24000

// stream sends sound in pieces, like a server that synthesizes it.
func stream(w http.ResponseWriter, r *http.Request, sound []byte, model string) {
	w.Header().Set("Content-Type", "audio/pcm")
	if model == ModelCut || model == ModelHang {
		sound = sound[:len(sound)/2|1]
	}
	for len(sound) > 0 {
		n := min(len(sound), 4801) // odd, so that samples are split
		if _, err := w.Write(sound[:n]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		sound = sound[n:]
	}
	if model == ModelHang {
		<-r.Context().Done()
	}
}

// add adds an utterance and returns it as a file.
func (s *Server) add(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Text     string `json:"text"`
		Language string `json:"language"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Text == "" {
		s.refuse(w, http.StatusBadRequest, "invalid_value", "an utterance has text and language")
		return
	}
	pcm, err := s.Bank.Say(r.Context(), asked.Text, asked.Language)
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, "server_error", err.Error())
		return
	}
	silence := func(name string) []int16 {
		ms, _ := strconv.Atoi(r.FormValue(name))
		return make([]int16, audio.Count(time.Duration(min(max(ms, 0), 60_000))*time.Millisecond, Rate))
	}
	pcm = append(append(silence("before_ms"), pcm...), silence("after_ms")...)
	w.Header().Set("Content-Type", "audio/wav")
	_, _ = w.Write(audio.WAV(pcm, Rate))
}
