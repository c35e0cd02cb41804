package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"carillon/internal/agent"
)

const (
	maxResult = 8 << 10 // bytes of a result for an engine
	maxSaid   = 1000    // bytes of a result for a person
	maxFlat   = 8       // fields of a result that are said without a sentence for it
)

// http runs an HTTP tool.
func (x *exchange) http(ctx context.Context) agent.Ran {
	r, err := x.tool.request(ctx, x.filling, x.call.Key)
	if err != nil {
		return refused(x.redact.Text(err.Error()))
	}
	x.once(r)
	resp, err := x.o.Client.Do(r)
	if err != nil {
		return x.failed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	ran := x.response(resp)
	ran.Code = resp.StatusCode
	return ran
}

// once keeps net/http from sending a change again after a broken connection, which it does for requests with an
// Idempotency-Key whose body it can read again.
func (x *exchange) once(r *http.Request) {
	if !x.offered.Changes || x.offered.Idempotent {
		return
	}
	r.GetBody = nil
	if r.Body == nil || r.Body == http.NoBody {
		r.Body = io.NopCloser(strings.NewReader(""))
	}
}

// response reads a response. A change whose server reported success may have happened even if the rest is unusable.
func (x *exchange) response(resp *http.Response) agent.Ran {
	status := "The server responded with " + strconv.Itoa(resp.StatusCode)
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		say := x.sentence(x.tool.NotFound, nil)
		return agent.Ran{Status: agent.RanNothing, Text: "Nothing was found for these arguments.", Say: say, Reason: status}
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return agent.Ran{Status: agent.RanFailed, Reason: status + ", a redirect, which is not followed"}
	case resp.StatusCode >= 500:
		return x.faulty(status, true)
	case resp.StatusCode >= 400:
		return agent.Ran{Status: agent.RanFailed, Reason: status}
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	limit := x.tool.bound()
	if resp.ContentLength > int64(limit) {
		return x.failed(errTooLarge)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	switch {
	case err != nil:
		return x.failed(err)
	case len(text) > limit:
		return x.failed(errTooLarge)
	case len(bytes.TrimSpace(text)) == 0:
		return agent.Ran{Status: agent.RanWell, Text: "Done. The response is empty.", Say: x.sentence(x.tool.Say, nil)}
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return x.json(text)
	case kind == "text/plain" || kind == "text/csv" || kind == "text/markdown":
		return x.text(string(text))
	}
	return x.faulty("The response is neither JSON nor plain text", true)
}

// json reads a JSON response.
func (x *exchange) json(text []byte) agent.Ran {
	doc, err := decode(text)
	if err != nil {
		return x.faulty("The response is said to be JSON but is not", true)
	}
	doc = x.clean(doc)
	picked, found := pick(doc, x.tool.HTTP.Pick)
	if !found {
		return x.faulty("The response has nothing at "+x.tool.HTTP.Pick, true)
	}
	shown, _ := json.Marshal(picked) // decoded JSON can be encoded
	say := x.sentence(x.tool.Say, picked)
	if say == "" {
		say = flat(picked)
	}
	return x.ran(string(shown), say)
}

func (x *exchange) text(text string) agent.Ran {
	text = x.redact.Text(printable(text))
	say := x.sentence(x.tool.Say, text)
	if say == "" {
		say = text
	}
	return x.ran(text, say)
}

// ran returns a successful result within its bounds.
func (x *exchange) ran(text, say string) agent.Ran {
	return agent.Ran{Status: agent.RanWell, Text: cut(x.redact.Text(text), maxResult), Say: cut(strings.TrimSpace(x.redact.Text(say)),
		maxSaid)}
}

func decode(text []byte) (doc any, err error) {
	d := json.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(text, []byte("\ufffd"))))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON")
	}
	return doc, nil
}

// clean removes secrets and unprintable characters from the texts of a document.
func (x *exchange) clean(doc any) any {
	switch v := doc.(type) {
	case string:
		return x.redact.Text(printable(v))
	case []any:
		for i := range v {
			v[i] = x.clean(v[i])
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			value := x.clean(v[name])
			if plain := x.redact.Text(printable(name)); plain != name {
				delete(v, name)
				name = plain
			}
			v[name] = value
		}
	}
	return doc
}

// printable removes control characters, also those that change the direction of text or are invisible, so that a
// person and an engine read the same text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r >= 0xE0000 && r <= 0xE0FFF) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// cut shortens a text to at most n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-len("…")], "") + "…"
}

// sentence fills in the text that an administrator wrote for a result. It returns "" if there is none, or if a value
// is missing in the result.
func (x *exchange) sentence(texts agent.Texts, result any) string {
	text := texts.In(x.request.Language, x.request.Agent.Language)
	values, complete := x.values(), true
	filled := placeholder.ReplaceAllStringFunc(text, func(m string) string {
		name := placeholder.FindStringSubmatch(m)[1]
		if !strings.HasPrefix(name, "/") {
			return values[name]
		}
		value, found := pick(result, name)
		switch value.(type) {
		case nil, map[string]any, []any:
			found = false
		}
		complete = complete && found
		if n, ok := value.(json.Number); ok {
			return n.String()
		}
		return textOf(value)
	})
	if !complete {
		return ""
	}
	return filled
}

// flat says a small result without a sentence for it: a single value, or the fields of an object.
func flat(doc any) string {
	switch v := doc.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch value := v[name].(type) {
			case string, bool, json.Number:
				text := textOf(value)
				if n, ok := value.(json.Number); ok {
					text = n.String()
				}
				parts = append(parts, strings.ReplaceAll(name, "_", " ")+": "+text)
			}
		}
		if len(parts) <= maxFlat {
			return strings.Join(parts, ", ")
		}
	}
	return ""
}
