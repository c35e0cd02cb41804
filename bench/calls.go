package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"carillon/bench/load"
	"carillon/internal/voice/voicetest"
)

const (
	promptCalls = 1000
	speechCalls = 200
	callsFor    = 20 * time.Second
	dueCalls    = 60
	dueApart    = 250 * time.Millisecond

	menuAgent   = "7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e12"
	listenAgent = "7b1a4c58-6f0d-4a5e-8a51-2f6b1c0d9e13"
)

// measureCalls measures concurrent telephone calls: calls with a spoken menu that is answered by keys, and calls with
// continuous speech detection. The callees are in a separate process.
func (b *bench) measureCalls(ctx context.Context) {
	ears := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"text":"What are your opening hours?"}`)
	}))
	defer ears.Close()
	b.ears = ears.URL
	said := filepath.Join(b.dir, "question.ulaw")
	check(os.WriteFile(said, compressed(must(voicetest.Speak(ctx, "What are your opening hours?", "en", 8000)), 6*time.Second), 0o600))
	for _, kind := range []struct {
		name, agent, speak string
		count              int
		goal               float64
	}{
		{"prompt and digits", menuAgent, "", promptCalls, 1000},
		{"speech detection on", listenAgent, said, speechCalls, 200},
	} {
		count := kind.count
		if b.quick {
			count /= 4
		}
		add := func(figure, unit string, f floor) *row {
			return b.table.add(row{figure: fmt.Sprintf("%s, %d calls held, %s", figure, count, kind.name), unit: unit, floor: f})
		}
		each := add("Calls a core", "calls, by the processor they take", minFloor(kind.goal))
		worst := add("Worst tick of a call", "ms, p99 of calls", maxFloor(12))
		usual := add("Worst tick of a call", "ms, p50 of calls", floor{})
		memory := add("Memory of a call", "kB", floor{})
		for range min(b.rounds, 3) {
			h := b.hold(ctx, kind.agent, kind.speak, count)
			each.add(h.perCore, 0)
			worst.add(h.worst, 0)
			usual.add(h.usual, 0)
			memory.add(h.memory, 0)
		}
	}
	for _, e := range engines() {
		b.measureDueCalls(ctx, e)
	}
	b.ears = ""
}

// held are the figures of a round.
type held struct{ perCore, worst, usual, memory float64 }

// hold places calls until count are in progress, and measures them for a while.
func (b *bench) hold(ctx context.Context, agent, speak string, count int) held {
	x := must(b.helper("exchange"))
	defer x.stop()
	b.exchange = must(x.readLine())
	if speak != "" {
		must(x.ask("speak " + speak))
	}
	n := b.serveEmpty(ctx, engines()[0], noProvider)
	defer b.discard(n)
	n.waitIdle(ctx)
	before := n.megabytes()
	b.placeCalls(ctx, n, agent, count)
	var calls int
	for deadline := time.Now().Add(time.Minute); ; {
		must(x.ask("measure"))
		check(load.Pause(ctx, 2*time.Second))
		if calls = must(strconv.Atoi(strings.Fields(must(x.ask("report")))[0])); calls >= count || time.Now().After(deadline) {
			break
		}
	}
	check(load.Pause(ctx, 3*time.Second))
	must(x.ask("measure"))
	busy, begin := n.cpuTicks(), time.Now()
	check(load.Pause(ctx, callsFor))
	ticks, took := n.cpuTicks()-busy, time.Since(begin)
	var calling, usual, worst, packets, sounding, lost int
	report := must(x.ask("report"))
	must(fmt.Sscan(report, &calling, &usual, &worst, &packets, &sounding, &lost))
	if calling < count || sounding < 10 {
		check(fmt.Errorf("%d of %d calls are held, with sound in %d %% of the packets", calling, count, sounding))
	}
	core := float64(ticks) / 100 / took.Seconds() // a tick is 10 ms
	// Calls that got all their packets: an overloaded machine drops some.
	sent := float64(packets) * frame.Seconds() / took.Seconds()
	b.logf("%d calls, %.0f by their packets: %.0f %% of a core, worst tick p50 %d µs, p99 %d "+
		"µs, sound in %d %% of the packets, %d lost", calling, sent, 100*core, usual, worst, sounding, lost)
	return held{sent / core, float64(worst) / 1000, float64(usual) / 1000, 1000 * (n.megabytes() - before) / float64(calling)}
}

// placeCalls places calls over a few connections.
func (b *bench) placeCalls(ctx context.Context, n *node, agent string, count int) {
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for w := range 8 {
		all.Go(func() {
			for i := w; i < count; i += 8 {
				if err := placeCall(ctx, n.addr, agent, fmt.Sprintf("346%09d", i), time.Time{}); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	check(<-errs)
}

func placeCall(ctx context.Context, addr, agent, number string, due time.Time) error {
	body := `{"contact":{"number":"` + number + `","first_name":"Ana"},"recipient_id":"trunk","agent_id":"` + agent +
		`","notification_type":"transactional","campaign_name":"bench"`
	if !due.IsZero() {
		body += `,"datetime_sending":"` + due.UTC().Format("2006-01-02T15:04:05.000") + `","timezone":"UTC"`
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/functions/v1/notify/voice?access_key="+bulkKey,
		bytes.NewReader([]byte(body+"}")))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("place a call: %d %s", resp.StatusCode, text)
	}
	return err
}

// measureDueCalls measures how late the INVITEs of scheduled calls are on an otherwise idle program.
func (b *bench) measureDueCalls(ctx context.Context, e engine) {
	median := b.table.add(row{figure: "Due call to INVITE, idle, " + e.name, unit: "ms, p50"})
	late := b.table.add(row{figure: "Due call to INVITE, idle, " + e.name, unit: "ms, p99", floor: maxFloor(100)})
	for range min(b.rounds, 3) {
		x := must(b.helper("exchange"))
		b.exchange = must(x.readLine())
		n := b.serveEmpty(ctx, e, noProvider)
		due := map[string]time.Time{}
		first := time.Now().Add(3 * time.Second).Truncate(time.Millisecond)
		for i := range dueCalls {
			number := fmt.Sprintf("%s%09d", declined, i)
			due[number] = first.Add(time.Duration(i) * dueApart)
			check(placeCall(ctx, n.addr, menuAgent, number, due[number]))
		}
		check(load.Pause(ctx, time.Until(first.Add(dueCalls*dueApart+time.Second))))
		var lateness []time.Duration
		for _, text := range strings.Fields(must(x.ask("arrived"))) {
			number, at, _ := strings.Cut(text, "=")
			lateness = append(lateness, time.Unix(0, must(strconv.ParseInt(at, 10, 64))).Sub(due[number]))
		}
		if len(lateness) != dueCalls {
			check(fmt.Errorf("%d of %d calls were dialed", len(lateness), dueCalls))
		}
		slices.SortFunc(lateness, func(a, b time.Duration) int { return cmp.Compare(a, b) })
		median.add(float64(lateness[dueCalls/2].Microseconds())/1000, 0)
		late.add(float64(lateness[dueCalls-1].Microseconds())/1000, 0) // the worst of sixty
		b.discard(n)
		x.stop()
	}
}
