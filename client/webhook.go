package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Reasons to reject a webhook's request.
var (
	ErrNoSignature = errors.New("the request has no webhook-id, webhook-timestamp or webhook-signature")
	ErrSignature   = errors.New("the signature is not of this secret and body")
	ErrTime        = errors.New("the request was signed more than five minutes ago, or in the future")
)

// tolerance is the maximum difference between the time of a signature and now.
const tolerance = 5 * time.Minute

// VerifyWebhook verifies that one of the request's signatures was made with one of the secrets, of which there are two
// during a rotation, and returns the event. The body must be unchanged. An event may be delivered twice: store the IDs
// of the last days and skip known ones.
func VerifyWebhook(header http.Header, body []byte, secrets ...string) (*Event, error) {
	return verify(time.Now(), header, body, secrets)
}

func verify(now time.Time, header http.Header, body []byte, secrets []string) (*Event, error) {
	id, at, given := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Get("webhook-signature")
	if id == "" || at == "" || given == "" {
		return nil, ErrNoSignature
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return nil, ErrNoSignature
	}
	if len(secrets) == 0 {
		return nil, errors.New("no secret was given")
	}
	good := false
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return nil, errors.New("a secret is whsec_ and base64")
		}
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%s.", id, at)
		_, _ = mac.Write(body)
		want := mac.Sum(nil)
		for signature := range strings.FieldsSeq(given) {
			version, text, _ := strings.Cut(signature, ",")
			if got, err := base64.StdEncoding.DecodeString(text); version == "v1" && err == nil && hmac.Equal(got, want) {
				good = true
			}
		}
	}
	if !good {
		return nil, ErrSignature
	}
	if d := now.Sub(time.Unix(seconds, 0)); d > tolerance || d < -tolerance {
		return nil, ErrTime
	}
	var e Event
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, fmt.Errorf("the body is no event: %w", err)
	}
	return &e, nil
}
