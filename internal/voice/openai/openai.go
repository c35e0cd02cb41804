// Package openai speaks and transcribes with servers that have OpenAI's interface: OpenAI's own, or a compatible one
// (LocalAI, Speaches, vLLM, Kokoro). It calls POST {base_url}/audio/speech and POST {base_url}/audio/transcriptions.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"carillon/internal/agent"
)

// Client sends requests to addresses that companies enter. *egress.Client implements it.
type Client interface {
	Do(r *http.Request) (*http.Response, error)
}

// Options configure a Speaker or a Transcriber. Client is required.
type Options struct {
	Client  Client
	Silence time.Duration // maximum silence of a server while it speaks, also before the first sound; default 6 s
	Whole   time.Duration // maximum time of a transcription; default 10 s
}

func (o Options) withDefaults() Options {
	if o.Silence == 0 {
		o.Silence = 6 * time.Second
	}
	if o.Whole == 0 {
		o.Whole = 10 * time.Second
	}
	return o
}

const (
	maxFault  = 4 << 10  // bytes of an error's body to read
	maxAnswer = 64 << 10 // bytes of a transcript's body
)

var (
	errNoServer = errors.New("the agent names no server")
	errSilent   = errors.New("the server was silent for too long")
	errAddress  = errors.New("the address of the server is invalid")
)

// post sends a request to a server. If the response is a success, the caller must close its body.
func post(ctx context.Context, client Client, s *agent.Service, path, kind string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.BaseURL, "/")+path, body)
	if err != nil {
		return nil, errAddress
	}
	r.Header.Set("Content-Type", kind)
	if s.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+s.APIKey)
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	return nil, refusal(resp)
}

// refusal describes an error of a server. It omits the server's message, which may repeat the person's words.
func refusal(resp *http.Response) error {
	var problem struct {
		Error struct {
			Type string `json:"type"`
			Code any    `json:"code"`
		} `json:"error"`
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxFault))
	_ = json.Unmarshal(text, &problem) // need not be JSON
	code, _ := problem.Error.Code.(string)
	var words []string
	for _, word := range []string{problem.Error.Type, code} {
		if plain := strings.Map(letters, word); plain != "" && len(plain) <= 60 {
			words = append(words, plain)
		}
	}
	return fmt.Errorf("the server responded with %d %s", resp.StatusCode, strings.Join(words, " "))
}

// letters keeps the characters that occur in codes such as invalid_api_key.
func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
		return r
	}
	return -1
}

// kindOf returns the content type of a response.
func kindOf(resp *http.Response) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind
}
