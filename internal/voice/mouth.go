package voice

import (
	"slices"
	"strings"
	"time"
)

const (
	pieceLength = 100 * time.Millisecond // sound sent at a time, if the line accepts it ahead of time
	maxAhead    = 10 * time.Second       // sound produced ahead of playback
)

// part is a sentence of a response, with the sound produced so far.
type part struct {
	response *response
	text     string
	from     int // position in the response's text; its length for words outside the text
	pcm      []int16
	taken    int  // samples sent
	made     bool // pcm is complete
}

// mouth plays parts in order and in real time, except for the line's lead. It has no clock.
type mouth struct {
	rate   int
	lead   time.Duration
	parts  []*part
	recent []*part // completely sent, newest last; they may still be playing

	playing bool
	started time.Time // beginning of the sound that is playing without a gap
	sent    int       // samples sent since then
}

func newMouth(rate int, lead time.Duration) *mouth { return &mouth{rate: rate, lead: lead} }

func (m *mouth) length(samples int) time.Duration {
	return time.Duration(samples) * time.Second / time.Duration(m.rate)
}

func (m *mouth) samples(d time.Duration) int { return int(d * time.Duration(m.rate) / time.Second) }

// piece returns the number of samples to send at a time.
func (m *mouth) piece() int { return m.samples(min(pieceLength, max(m.lead/3, 20*time.Millisecond))) }

// add appends a sentence.
func (m *mouth) add(r *response, text string) *part {
	p := &part{response: r, text: text, from: r.place(text)}
	m.parts = append(m.parts, p)
	return p
}

// waiting returns the length of the sound that is produced but not sent.
func (m *mouth) waiting() time.Duration {
	n := 0
	for _, p := range m.parts {
		n += len(p.pcm) - p.taken
	}
	return m.length(n)
}

// busy reports whether words are waiting or playing at the given time.
func (m *mouth) busy(now time.Time) bool { return len(m.parts) > 0 || m.sounding(now) }

// sounding reports whether sound is playing.
func (m *mouth) sounding(now time.Time) bool {
	return m.playing && now.Before(m.started.Add(m.length(m.sent)))
}

// next returns the samples to send now and their part, or none if it is too early.
func (m *mouth) next(now time.Time) (pcm []int16, p *part) {
	if len(m.parts) == 0 || m.wait(now) > 0 {
		return nil, nil
	}
	if p = m.parts[0]; p.taken == len(p.pcm) {
		return nil, nil
	}
	if !m.sounding(now) { // after a gap the count starts over
		m.playing, m.started, m.sent, m.recent = true, now, 0, nil
	}
	n := min(m.piece(), len(p.pcm)-p.taken)
	pcm = p.pcm[p.taken : p.taken+n]
	p.taken += n
	m.sent += n
	return pcm, p
}

// maxRecent is the maximum number of parts that play at the same time: each takes at least a fraction of a second.
const maxRecent = 8

// done removes and returns the completely sent parts.
func (m *mouth) done() (all []*part) {
	for len(m.parts) > 0 && m.parts[0].made && m.parts[0].taken == len(m.parts[0].pcm) {
		m.recent = append(m.recent, m.parts[0])
		m.recent = m.recent[max(0, len(m.recent)-maxRecent):]
		all = append(all, m.parts[0])
		m.parts = m.parts[1:]
	}
	return all
}

// wait returns the time until more may be sent.
func (m *mouth) wait(now time.Time) time.Duration {
	if !m.sounding(now) {
		return 0
	}
	return max(0, m.started.Add(m.length(m.sent+m.piece())).Sub(now)-m.lead)
}

// saying returns the parts that are playing at the given time or waiting.
func (m *mouth) saying(now time.Time) []*part {
	if n := len(m.recent); n > 0 && m.sounding(now) {
		return slices.Concat(m.recent[n-1:], m.parts)
	}
	return m.parts
}

// left returns how long the sent sound will continue to play.
func (m *mouth) left(now time.Time) time.Duration {
	if !m.sounding(now) {
		return 0
	}
	return m.started.Add(m.length(m.sent)).Sub(now)
}

// stop ends the sound immediately and returns the parts that were not completely played, in order.
func (m *mouth) stop(now time.Time) (unheard []*part) {
	back := m.samples(m.left(now)) // sent samples that were not played
	all := slices.Concat(m.recent, m.parts)
	for i := len(all) - 1; i >= 0 && back > 0; i-- {
		n := min(back, all[i].taken)
		all[i].taken -= n
		back -= n
	}
	for _, p := range all {
		if !p.made || p.taken < len(p.pcm) {
			unheard = append(unheard, p)
		}
	}
	m.parts, m.recent, m.playing, m.sent = nil, nil, false, 0
	return unheard
}

// heardOf returns the part of a response's text that was played. unheard are the parts that were not completely
// played, including those of other responses.
func heardOf(r *response, unheard []*part) string {
	text := r.text.String()
	for _, p := range unheard {
		if p.response != r || p.from >= len(text) {
			continue
		}
		share := 0.0
		if p.made && len(p.pcm) > 0 {
			share = float64(p.taken) / float64(len(p.pcm))
		} else if len(p.pcm) > 0 { // the rest is not known yet; speech has about fifteen characters per second
			share = float64(p.taken) / float64(max(len(p.pcm), p.taken+1)) / 2
		}
		return strings.TrimSpace(text[:p.from] + firstWords(p.text, share))
	}
	return strings.TrimSpace(text)
}
