package queue

import "time"

// Starting ahead (docs/adr/0009-starting-ahead.md). A commit takes about as long as its sends. Were only as
// many messages started as have a slot now, the slots that come free meanwhile would wait for the next commit, and the
// commits be small. So a lane starts, beyond its free slots, as many as had a response during the last commit, which is
// how many slots come free during the next. They go out as slots do. Where no response came, as from a provider that
// hangs, none is started ahead.

// outs are a lane's requests that are out, and started messages that wait for a slot.
type outs struct {
	sending   int
	waiting   []*flight
	responses int // since the commit under way began
	ahead     int // while the next starts are chosen
}

// ahead is how many messages the lane may start beyond its slots, now. None where the instant of each request matters:
// where a sender is paced, spaces messages to one number or counts what is under way at once.
func (l *lane) ahead(slots int) int {
	if l.pace.rate > 0 || l.sender.PerRecipient > 0 || l.sender.MaxConcurrent > 0 || l.breaker.probing() {
		return 0
	}
	return min(l.outs.ahead, slots)
}

// foresee takes the responses during the last commit for those during the next, until forget.
func (p *pump) foresee(now time.Time) {
	for _, l := range p.landing {
		l.outs.ahead, l.outs.responses = l.outs.responses, 0
		p.attendLater(l, now)
	}
}

func (p *pump) forget() {
	for _, l := range p.landing {
		l.outs.ahead = 0
	}
	p.landing = p.landing[:0]
}

// put sends a started message, or has it wait for a slot.
func (p *pump) put(f *flight, now time.Time) {
	o := &f.lane.outs
	if o.sending >= p.q.o.LaneCap {
		o.waiting = append(o.waiting, f)
		return
	}
	o.sending++
	p.send(f, now)
}

// out frees a lane's slot for the message that waits the longest.
func (p *pump) out(l *lane, now time.Time) {
	o := &l.outs
	o.sending--
	if p.committing {
		if o.responses == 0 {
			p.landing = append(p.landing, l)
		}
		o.responses++
	}
	if len(o.waiting) == 0 {
		o.waiting = nil
		return
	}
	f := o.waiting[0]
	o.waiting[0] = nil
	o.waiting = o.waiting[1:]
	o.sending++
	p.send(f, now)
}
