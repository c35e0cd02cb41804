package meaning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"carillon/internal/base/egress"
)

// Server is an embeddings server with OpenAI's API.
type Server struct {
	BaseURL string
	Model   string
	APIKey  string
}

const (
	maxBatch = 64 // inputs of a request

	minDimensions = 8
	maxDimensions = 4096

	bytesPerNumber = 32 // of a component in a response, at most
	bytesPerAnswer = 64 << 10

	maxRetryAfter = time.Hour
)

// bodyLimit bounds a response with n vectors, in bytes.
func bodyLimit(n int) int64 { return bytesPerAnswer + int64(n)*maxDimensions*bytesPerNumber }

// The faults of a server.
const (
	Slow        = "slow"        // no complete response in time
	Unreachable = "unreachable" // no connection, or it broke
	Denied      = "denied"      // the address may not be reached; Detail says why
	Refused     = "refused"     // status 401 or 403
	Limited     = "limited"     // status 429
	Status      = "status"      // another status; Detail is the number
	Invalid     = "invalid"     // the response has no vectors as requested; Detail says why
)

// Fault is the reason why a server gave no vectors.
type Fault struct {
	Code   string
	Detail string
	after  time.Duration // time for which the server wants no requests
	status int
}

func (f *Fault) Error() string {
	if f.Detail == "" {
		return f.Code
	}
	return f.Code + ": " + f.Detail
}

func invalid(format string, arguments ...any) *Fault {
	return &Fault{Code: Invalid, Detail: fmt.Sprintf(format, arguments...)}
}

type embedRequest struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

// embedding is a vector in a response.
type embedding struct {
	Index     *int      `json:"index"`
	Embedding []float32 `json:"embedding"`
}

// Embed returns a vector for each input, all of the same dimensions and not normalized. Errors: *Fault, and that of ctx if it
// is canceled.
func Embed(ctx context.Context, c Client, s *Server, inputs []string) ([][]float32, error) {
	body, err := json.Marshal(embedRequest{s.Model, inputs})
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, &Fault{Code: Denied, Detail: "no valid address"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if s.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+s.APIKey)
	}
	resp, err := c.Do(r)
	if err != nil {
		return nil, faultOf(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, statusFault(resp)
	}
	most := bodyLimit(len(inputs))
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case errors.Is(err, egress.ErrBodyTooLarge), int64(len(text)) > most:
		return nil, invalid("more than %d bytes", most)
	case err != nil:
		return nil, faultOf(ctx, err)
	}
	data, err := readData(text, len(inputs))
	if err != nil {
		return nil, err
	}
	return vectorsOf(data, len(inputs))
}

// readData reads the list data of a response, up to n entries: a server may send millions of empty ones.
func readData(text []byte, n int) (data []embedding, err error) {
	bad := invalid("no JSON with a list data of embeddings of numbers")
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, bad
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, bad
		}
		if key != "data" {
			var other json.RawMessage
			if d.Decode(&other) != nil {
				return nil, bad
			}
			continue
		}
		if open, err := d.Token(); err != nil || open != json.Delim('[') {
			return nil, bad
		}
		for data = nil; d.More(); {
			var e embedding
			if len(data) == n {
				return nil, invalid("more than %d vectors for %d texts", n, n)
			}
			if d.Decode(&e) != nil {
				return nil, bad
			}
			data = append(data, e)
		}
		if _, err := d.Token(); err != nil {
			return nil, bad
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, bad
	}
	return data, nil
}

// vectorsOf returns the vectors in the order of the inputs.
func vectorsOf(data []embedding, n int) ([][]float32, error) {
	if len(data) != n {
		return nil, invalid("%d vectors for %d texts", len(data), n)
	}
	all := make([][]float32, n)
	for i := range data {
		at := i
		if data[i].Index != nil {
			at = *data[i].Index
		}
		if at < 0 || at >= n || all[at] != nil {
			return nil, invalid("the indexes of the vectors are not 0 to %d", n-1)
		}
		v := data[i].Embedding
		if len(v) < minDimensions || len(v) > maxDimensions {
			return nil, invalid("%d dimensions; from %d to %d are possible", len(v), minDimensions, maxDimensions)
		}
		if len(v) != len(data[0].Embedding) {
			return nil, invalid("vectors of %d and of %d dimensions", len(data[0].Embedding), len(v))
		}
		if size := norm(v); size == 0 || math.IsNaN(size) || math.IsInf(size, 0) {
			return nil, invalid("a vector without a direction")
		}
		all[at] = v
	}
	return all, nil
}

func norm(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func statusFault(resp *http.Response) *Fault {
	f := &Fault{Code: Status, Detail: strconv.Itoa(resp.StatusCode), status: resp.StatusCode}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Code = Refused
	case http.StatusTooManyRequests:
		f.Code = Limited
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			f.after = min(maxRetryAfter, time.Duration(min(seconds, int(maxRetryAfter/time.Second)))*time.Second)
		}
	}
	return f
}

// faultOf converts the error of an exchange. That of a canceled caller stays as it is.
func faultOf(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	var denied *egress.DeniedError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &denied):
		return &Fault{Code: Denied, Detail: denied.Reason}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return &Fault{Code: Slow}
	}
	return &Fault{Code: Unreachable}
}
