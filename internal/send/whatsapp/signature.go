package whatsapp

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// Handshake checks the channel's request to confirm a callback address: it returns the challenge to respond with when the
// token is the sender's. Tokens are compared in constant time.
func Handshake(settings json.RawMessage, query url.Values) (challenge string, ok bool) {
	s, err := parseSettings(settings)
	if err != nil || query.Get("hub.mode") != "subscribe" {
		return "", false
	}
	// Digests are compared, so that the time does not depend on the length.
	want := sha256.Sum256([]byte(s.verifyToken))
	got := sha256.Sum256([]byte(query.Get("hub.verify_token")))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return "", false
	}
	challenge = query.Get("hub.challenge")
	return challenge, challenge != ""
}

// SignatureHeader carries the signature of a callback.
const SignatureHeader = "X-Hub-Signature-256"

// Signed reports whether a signature is well formed, which shows before the body has been read.
func Signed(signature string) bool {
	_, ok := digestOf(signature)
	return ok
}

// Verify reports whether a callback's body is signed by the channel: signature is of SignatureHeader, body the bytes as
// received.
func Verify(settings json.RawMessage, signature string, body []byte) bool {
	s, err := parseSettings(settings)
	got, ok := digestOf(signature)
	if err != nil || !ok {
		return false
	}
	mac := hmac.New(sha256.New, []byte(s.appSecret))
	mac.Write(body)
	return hmac.Equal(got, mac.Sum(nil))
}

func digestOf(signature string) ([]byte, bool) {
	text, found := strings.CutPrefix(signature, "sha256=")
	digest, err := hex.DecodeString(text)
	return digest, found && err == nil && len(digest) == sha256.Size
}
