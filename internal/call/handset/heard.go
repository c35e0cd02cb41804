package handset

import (
	"slices"
	"sync"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/call/sip"
)

// Limits of the calls that the phone keeps. Their sound is stored compressed.
const (
	maxHeard   = 60                 // calls
	maxCompany = 20                 // of one company
	maxSound   = 3 * 60 * HeardRate // bytes per call: three minutes
)

// calls are the last calls to the phone, the newest last.
type calls struct {
	mu  sync.Mutex
	all []*Heard
}

// Heard is a call to the phone, with the sound that the phone received.
type Heard struct {
	Number    string
	From      string
	CallID    string // of SIP
	CompanyID string // owner of the line that called; "" if unknown
	Call      string // ID of the call; "" for calls without one, such as a test of a line
	Suffix    string // suffix of the number, if it determines the course of the call; "" for an ordinary call
	At        time.Time
	Law       audio.Law

	mu       sync.Mutex
	answered time.Time
	ended    time.Time
	code     int    // SIP status of a refusal
	sound    []byte // compressed
	keys     string // pressed by the phone
}

// State is the state of a call.
type State struct {
	Answered time.Time // zero: not answered
	Ended    time.Time // zero: in progress
	Code     int       // SIP status of a refusal; 0 means not refused
	Keys     string    // pressed by the phone
	Length   time.Duration
}

// add starts to record a call.
func (c *calls) add(in *sip.Incoming, s script) *Heard {
	h := &Heard{
		Number: in.To, From: in.From, CallID: in.CallID, CompanyID: in.Header(CompanyHeader), Call: in.Header(CallHeader),
		Suffix: s.suffix, At: time.Now(),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, h)
	if own := c.of(h.CompanyID); len(own) > maxCompany {
		c.all = slices.DeleteFunc(c.all, func(x *Heard) bool { return x == own[0] })
	}
	c.all = slices.Delete(c.all, 0, max(0, len(c.all)-maxHeard))
	return h
}

// of returns the calls of a company's lines, oldest first.
func (c *calls) of(companyID string) (own []*Heard) {
	for _, h := range c.all {
		if h.CompanyID == companyID {
			own = append(own, h)
		}
	}
	return own
}

// Calls returns the last calls of a company's lines to this node's phone, newest first.
func (p *Phone) Calls(companyID string) []*Heard {
	p.calling.mu.Lock()
	defer p.calling.mu.Unlock()
	own := p.calling.of(companyID)
	slices.Reverse(own)
	return own
}

// Heard returns the last answered calls to a number, newest first; "" means any number.
func (p *Phone) Heard(number string) (all []*Heard) {
	p.calling.mu.Lock()
	defer p.calling.mu.Unlock()
	for _, h := range slices.Backward(p.calling.all) {
		if (number == "" || h.Number == number) && !h.State().Answered.IsZero() {
			all = append(all, h)
		}
	}
	return all
}

func (h *Heard) frame(in, _ []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sound) < maxSound {
		h.sound = h.Law.Compress(h.sound, in)
	}
}

func (h *Heard) answer() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered = time.Now()
}

func (h *Heard) refuse(code int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.code = code
}

func (h *Heard) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = time.Now()
}

func (h *Heard) press(keys string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys += keys
}

// Sound returns the sound that the phone received, at 8,000 samples per second.
func (h *Heard) Sound() []int16 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Law.Expand(nil, h.sound)
}

// State returns the call's state.
func (h *Heard) State() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return State{h.answered, h.ended, h.code, h.keys, audio.Duration(len(h.sound), HeardRate)}
}

// HeardRate is the sample rate of the calls' sound.
const HeardRate = 8000

// Behaviour is the course of calls to numbers with a suffix.
type Behaviour struct {
	Suffix string `json:"suffix"`
	Effect string `json:"effect"` // one sentence
}

// Behaviours returns the behaviours of numbers, in the order of the guide. Numbers with other suffixes answer.
func Behaviours() (all []Behaviour) {
	for _, s := range scripts {
		all = append(all, Behaviour{s.suffix, s.effect})
	}
	return all
}
