package sso

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/go-jose/go-jose/v4"
)

// maxKeys bounds a key set, in bytes.
const maxKeys = 1 << 20

// usableKeys removes keys of unsupported types and curves from a key set, as RFC 7517, section 5, requires. Otherwise
// one such key would invalidate the whole set, and every sign-in would fail.
type usableKeys struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (u usableKeys) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := u.next.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxKeys+1))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if len(text) > maxKeys {
		return nil, fmt.Errorf("the key set has more than %d bytes", maxKeys)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(text, &set) == nil {
		usable := []json.RawMessage{}
		for _, key := range set.Keys {
			var k jose.JSONWebKey
			if json.Unmarshal(key, &k) == nil {
				usable = append(usable, key)
			}
		}
		set.Keys = usable
		if text, err = json.Marshal(set); err != nil {
			return nil, err
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return resp, nil
}
