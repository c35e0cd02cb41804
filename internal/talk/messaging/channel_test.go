package messaging_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"carillon"
	"carillon/internal/base/provider"
)

// channel is a messaging channel whose responses a test controls.
type channel struct {
	mu     sync.Mutex
	n      int
	busy   map[string]bool   // numbers with a reply being posted
	faults []string          // violations that the test must report
	posts  map[string][]post // by number, or by ID if there is no number, in order of arrival
	marks  []mark
	files  map[string]*file
	decide func(x post) *provider.Outcome // nil: accept
}

// post is a posted reply.
type post struct {
	provider.Reply
	id       string // assigned by the channel
	accepted bool
}

type mark struct {
	id     string
	typing bool
}

// file is a file that a person sent. The first `faults` attempts to read it fail.
type file struct {
	mime   string
	data   []byte
	err    error
	faults int
	read   int
}

// SendReply implements messaging.Channel.
func (c *channel) SendReply(_ context.Context, _ *carillon.Sender, m *provider.Reply) provider.Outcome {
	c.mu.Lock()
	c.n++
	x := post{Reply: *m, id: fmt.Sprint("wamid.out.", c.n)}
	to := cmp.Or(m.To, m.UserID)
	at := len(c.posts[to])
	if c.busy[to] {
		c.faults = append(c.faults, "two replies at once to "+to)
	}
	c.busy[to] = true
	c.posts[to] = append(c.posts[to], x)
	decide := c.decide
	c.mu.Unlock()
	outcome := provider.Outcome{Verdict: provider.Sent, ProviderID: x.id}
	if decide != nil {
		if other := decide(x); other != nil {
			outcome = *other
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy[to] = false
	// With an unknown outcome the channel has the reply, but we do not know that.
	c.posts[to][at].accepted = outcome.Verdict == provider.Sent || outcome.Verdict == provider.Unknown
	return outcome
}

// hangUp forgets the posts in progress, because their node is dead.
func (c *channel) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.busy)
}

// by sets a function that decides on each post. It may be called concurrently.
func (c *channel) by(decide func(x post) *provider.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decide = decide
}

// of returns the posts to a number.
func (c *channel) of(number string) []post {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.posts[number])
}

// tried returns the number of posts to a number that were accepted, or not accepted.
func (c *channel) tried(number string, accepted bool) (n int) {
	for _, x := range c.of(number) {
		if x.accepted == accepted {
			n++
		}
	}
	return n
}

// MarkRead implements messaging.Channel.
func (c *channel) MarkRead(_ context.Context, _ *carillon.Sender, id string, typing bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.marks = append(c.marks, mark{id, typing})
	return nil
}

// marked returns the messages marked as read.
func (c *channel) marked() []mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.marks)
}

// put stores a file that a person sent.
func (c *channel) put(id string, f file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[id] = &f
}

var errAway = errors.New("the channel is away")

// File implements messaging.Channel.
func (c *channel) File(_ context.Context, _ *carillon.Sender, id string, most int64) ([]byte, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.files[id]
	if f == nil {
		return nil, "", provider.ErrNoFile
	}
	f.read++
	switch {
	case f.read <= f.faults:
		return nil, "", errAway
	case f.err != nil:
		return nil, "", f.err
	case int64(len(f.data)) > most:
		return nil, "", provider.ErrFileTooLarge
	}
	return f.data, f.mime, nil
}
