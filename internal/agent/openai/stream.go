package openai

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// completion is the body of a request.
type completion struct {
	Model       string    `json:"model"`
	Messages    []message `json:"messages"`
	Stream      bool      `json:"stream"`
	Temperature *float64  `json:"temperature,omitempty"`
	Tools       []tool    `json:"tools,omitempty"`
	Format      *format   `json:"response_format,omitempty"`
}

// format requires a response in JSON by a schema.
type format struct {
	Type   string `json:"type"` // json_schema
	Schema struct {
		Name   string         `json:"name"`
		Strict bool           `json:"strict"`
		Schema map[string]any `json:"schema"`
	} `json:"json_schema"`
}

// chunk is an event of the stream.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string `json:"content"`
			ToolCalls []struct {
				Index    int      `json:"index"`
				ID       string   `json:"id"`
				Function function `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Error *fault `json:"error"`
}

// fault is an error of the server. Its message is not used, because it may repeat what the contact said.
type fault struct {
	Type string `json:"type"`
	Code any    `json:"code"`
}

func (f *fault) String() string {
	code, _ := f.Code.(string)
	return line(strings.TrimSpace(f.Type + " " + code))
}

const (
	maxLine  = 256 << 10 // bytes of an event
	maxFault = 4 << 10   // bytes read of an error's body
)

// ask queries the server once. It passes on text as it arrives, and returns the requested tool calls.
func (e *exchange) ask(ctx context.Context, tools []tool) (turn message, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(e.o.Silence, func() { cancel(errSilent) })
	defer silence.Stop()
	defer func() {
		if cause := context.Cause(ctx); err != nil && errors.Is(cause, errSilent) {
			err = errSilent
		}
	}()
	body, err := e.body(tools)
	if err != nil {
		return turn, err
	}
	resp, err := e.response(ctx, body)
	if err != nil {
		return turn, err
	}
	defer func() { _ = resp.Body.Close() }()
	var a answer
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue // the end of an event, a comment, another field
		}
		silence.Reset(e.o.Silence)
		if data = bytes.TrimSpace(data); string(data) == "[DONE]" {
			return a.turn()
		}
		if err := a.add(data, e.say); err != nil {
			return turn, err
		}
	}
	if err := lines.Err(); err != nil {
		return turn, fmt.Errorf("read the response: %w", err)
	}
	if !a.finished {
		return turn, fmt.Errorf("read the response: %w", io.ErrUnexpectedEOF)
	}
	return a.turn()
}

// response returns the response to a body, which may have been requested ahead.
func (e *exchange) response(ctx context.Context, body []byte) (*http.Response, error) {
	b := e.begun
	e.begun = nil
	switch {
	case b == nil:
	case bytes.Equal(b.body, body):
		return b.response(ctx)
	default: // a different request; the one that was begun has been counted
		b.end()
		if err := e.allow(ctx, e.request); err != nil {
			return nil, err
		}
	}
	return e.post(ctx, body)
}

// body returns the body of a request.
func (e *exchange) body(tools []tool) ([]byte, error) {
	server := e.request.Agent.OpenAI
	body, err := json.Marshal(completion{
		Model: server.Model, Messages: e.messages, Stream: true, Temperature: server.Temperature, Tools: tools,
		Format: e.format,
	})
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return body, nil
}

// post sends a request, and returns the response if it is a stream.
func (e *exchange) post(ctx context.Context, body []byte) (*http.Response, error) {
	server := e.request.Agent.OpenAI
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.BaseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the server is invalid")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if server.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+server.APIKey)
	}
	resp, err := e.o.Client.Do(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && kind == "text/event-stream" {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK {
		return nil, errors.New("the server responded with no stream")
	}
	var problem struct {
		Error fault `json:"error"`
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxFault))
	_ = json.Unmarshal(text, &problem) // ignored if it is not JSON
	return nil, fmt.Errorf("the server responded with %d %s", resp.StatusCode, problem.Error.String())
}

// answer is the part of a response that was read so far.
type answer struct {
	text     strings.Builder
	calls    []toolCall
	finished bool
}

// add reads an event.
func (a *answer) add(data []byte, say func(string) error) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return errors.New("the server's response cannot be read")
	}
	if c.Error != nil {
		return errors.New("the server reports " + c.Error.String())
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		text := choice.Delta.Content
		if a.text.Len() == 0 {
			text = strings.TrimLeft(text, " \n")
		}
		if text != "" {
			a.text.WriteString(text)
			if err := say(text); err != nil {
				return err
			}
		}
		for _, part := range choice.Delta.ToolCalls {
			if err := a.call(part.Index, part.ID, part.Function); err != nil {
				return err
			}
		}
		a.finished = a.finished || choice.FinishReason != ""
	}
	return nil
}

// call adds a part of a tool call: id and name come first, the arguments in pieces. Some servers number all calls 0
// and send each in one part.
func (a *answer) call(index int, id string, f function) error {
	if index < 0 || index > len(a.calls) {
		return errors.New("the server's uses of tools are numbered wrongly")
	}
	if index < len(a.calls) && id != "" && a.calls[index].ID != "" && a.calls[index].ID != id {
		index = len(a.calls)
	}
	if index >= maxCalls {
		return errTools
	}
	if index == len(a.calls) {
		a.calls = append(a.calls, toolCall{Type: "function", ID: id})
	}
	c := &a.calls[index]
	c.ID = cmp.Or(c.ID, id)
	c.Function.Name = cmp.Or(c.Function.Name, f.Name)
	if c.Function.Arguments += f.Arguments; len(c.Function.Arguments) > maxArguments {
		return errors.New("the arguments of a tool are too long")
	}
	return nil
}

// turn returns the response as a message.
func (a *answer) turn() (message, error) {
	for _, c := range a.calls {
		if c.ID == "" || c.Function.Name == "" {
			return message{}, errors.New("the server's use of a tool has no id or name")
		}
	}
	return message{Role: "assistant", Content: a.text.String(), ToolCalls: a.calls}, nil
}
