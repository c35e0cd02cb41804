package sip

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

const (
	nonceLife   = time.Minute
	maxNonces   = 10_000 // answered nonces that have not expired
	nonceRandom = 12
	nonceHead   = 8 + nonceRandom // time of creation, and random bytes
	nonceMAC    = 16
)

// proof is the proof that a request must give: a user's password in a realm.
type proof struct {
	realm, source      string // source is the host that sent the request
	method, user       string // user is the called user
	username, password string
	md5                bool // the far side knows MD5 alone
}

// verdict is the result of checking credentials.
type verdict int

const (
	wrong verdict = iota
	tooLate
	proved
)

// challenges asks callers for a password (RFC 3261, 22.1; RFC 8760) and checks their responses. Challenges are not
// stored: a nonce contains its time, and is signed together with the realm and the host. Only answered nonces are
// stored, until they expire, so that no answer can be used twice. The zero value is ready for use.
type challenges struct {
	once sync.Once
	key  [32]byte

	mu       sync.Mutex
	answered map[string]answered
}

// answered is a nonce with which a password was proved.
type answered struct {
	count int // the highest nonce count
	until time.Time
}

// ask returns the headers of a 401. stale means that the password was right but the nonce too old.
func (c *challenges) ask(p proof, stale bool) (headers []sip.Header) {
	nonce := c.nonce(p, time.Now())
	algorithms := []string{"SHA-256", "MD5"} // strongest first; many telephone companies only know MD5
	if p.md5 {
		algorithms = algorithms[1:]
	}
	for _, algorithm := range algorithms {
		challenge := digest.Challenge{Realm: p.realm, Nonce: nonce, Algorithm: algorithm, QOP: []string{"auth"}, Stale: stale}
		headers = append(headers, sip.NewHeader("WWW-Authenticate", challenge.String()))
	}
	return headers
}

func (c *challenges) nonce(p proof, now time.Time) string {
	b := make([]byte, nonceHead, nonceHead+nonceMAC)
	binary.BigEndian.PutUint64(b, uint64(now.UnixMilli()))
	_, _ = rand.Read(b[8:]) // never fails
	return base64.RawURLEncoding.EncodeToString(append(b, c.sign(p, b)...))
}

func (c *challenges) sign(p proof, head []byte) []byte {
	c.once.Do(func() { _, _ = rand.Read(c.key[:]) }) // never fails
	mac := hmac.New(sha256.New, c.key[:])
	_, _ = mac.Write(head)
	_, _ = mac.Write([]byte(p.source + "\x00" + p.realm))
	return mac.Sum(nil)[:nonceMAC]
}

// made returns when one of our nonces was created.
func (c *challenges) made(p proof, nonce string) (time.Time, bool) {
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != nonceHead+nonceMAC || !hmac.Equal(b[nonceHead:], c.sign(p, b[:nonceHead])) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b))), true
}

// check checks an Authorization header.
func (c *challenges) check(p proof, header string) verdict {
	given, err := digest.ParseCredentials(header)
	if err != nil || given.Realm != p.realm || given.Username != p.username || given.Userhash {
		return wrong
	}
	if given.QOP != "auth" || given.Nc <= 0 || given.Cnonce == "" { // without them an answer could be repeated
		return wrong
	}
	switch strings.ToUpper(given.Algorithm) {
	case "", "MD5", "SHA-256":
	default:
		return wrong
	}
	var uri sip.Uri
	// An answer is valid only for the number that it was given for.
	if sip.ParseUri(given.URI, &uri) != nil || uri.User != p.user {
		return wrong
	}
	made, ours := c.made(p, given.Nonce)
	if !ours {
		return wrong
	}
	challenge := &digest.Challenge{Realm: p.realm, Nonce: given.Nonce, Algorithm: given.Algorithm, QOP: []string{"auth"}}
	want, err := digest.Digest(challenge, digest.Options{
		Method: p.method, URI: given.URI, Username: p.username, Password: p.password, Count: given.Nc, Cnonce: given.Cnonce,
	})
	if err != nil || subtle.ConstantTimeCompare([]byte(want.Response), []byte(strings.ToLower(given.Response))) != 1 {
		return wrong
	}
	if !c.first(given.Nonce, given.Nc, made.Add(nonceLife), time.Now()) {
		return tooLate
	}
	return proved
}

// first reports whether an answer is the first with its count, and its nonce has not expired.
func (c *challenges) first(nonce string, count int, until, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.Before(until) || count <= c.answered[nonce].count {
		return false
	}
	if len(c.answered) >= maxNonces {
		maps.DeleteFunc(c.answered, func(_ string, a answered) bool { return !now.Before(a.until) })
		if len(c.answered) >= maxNonces {
			return false
		}
	}
	if c.answered == nil {
		c.answered = map[string]answered{}
	}
	c.answered[nonce] = answered{count, until}
	return true
}
