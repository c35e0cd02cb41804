//go:build measure

package relay_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"carillon/internal/event/relay"
)

// TestHowLongAFaultTakesToBeNoticed measures the time from a fault of the server until two nodes use the database, and from
// its end until they use NATS again.
func TestHowLongAFaultTakesToBeNoticed(t *testing.T) {
	const rounds = 10
	measure := func(name string, begin, end func(), nodes ...*node) {
		var noticed, joined []time.Duration
		for range rounds {
			time.Sleep(time.Duration(len(noticed)) * 130 * time.Millisecond) // at different times between signs
			started := time.Now()
			begin()
			active(t, false, nodes...)
			noticed = append(noticed, time.Since(started))
			time.Sleep(2 * time.Second)
			started = time.Now()
			end()
			active(t, true, nodes...)
			joined = append(joined, time.Since(started))
		}
		slices.Sort(noticed)
		slices.Sort(joined)
		t.Logf("%s: noticed p50 %v, at most %v; joined again p50 %v, at most %v", name, noticed[rounds/2].Round(time.Millisecond),
			noticed[rounds-1].Round(time.Millisecond), joined[rounds/2].Round(time.Millisecond), joined[rounds-1].Round(time.Millisecond))
	}
	s, d := serve(t, nil), new(database)
	port := s.Addr().(*net.TCPAddr).Port
	one, two := join(t, d, relay.Options{URL: s.ClientURL()}), join(t, d, relay.Options{URL: s.ClientURL()})
	active(t, true, one, two)
	measure("killed", func() { s.Shutdown() }, func() { s = serve(t, func(o *server.Options) { o.Port = port }) }, one, two)

	p, e := through(t, s.Addr().String()), new(database)
	one, two = join(t, e, relay.Options{URL: p.url()}), join(t, e, relay.Options{URL: p.url()})
	active(t, true, one, two)
	measure("frozen", p.freeze, p.thaw, one, two)

	e = new(database)
	one, two = join(t, e, relay.Options{URL: s.ClientURL()}), join(t, e, relay.Options{URL: p.url()})
	active(t, true, one, two)
	measure("frozen for one of two nodes", p.freeze, p.thaw, one, two)
}
