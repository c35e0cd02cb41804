package main

import (
	"context"
	"database/sql"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/load"
)

func TestAccountsAgreeOnlyWhenNothingIsLostOrTwice(t *testing.T) {
	good := ledger{told: 10, stored: 10, sent: 8, unknown: 1, pending: 1, missing: 2}
	for name, c := range map[string]struct {
		change func(l *ledger)
		want   bool
	}{
		"all is there":        {func(*ledger) {}, true},
		"one is not stored":   {func(l *ledger) { l.absent = 1 }, false},
		"one has no state":    {func(l *ledger) { l.sent-- }, false},
		"sent and never came": {func(l *ledger) { l.missing = 3 }, false},
		"came twice":          {func(l *ledger) { l.doubled = 1 }, false},
		"stored and not told": {func(l *ledger) { l.stored, l.sent = 11, 9 }, true},
	} {
		l := good
		c.change(&l)
		if l.adds() != c.want {
			t.Errorf("%s: %v", name, l.adds())
		}
	}
}

func TestWhatWasToldAndIsNotStoredIsCounted(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE notification (id TEXT); INSERT INTO notification VALUES ('a'), ('untold'), ('c')"); err != nil {
		t.Fatal(err)
	}
	s := &soak{}
	for _, id := range []string{"c", "b", "a", "b"} {
		s.told = append(s.told, messageKey(id, "0"))
	}
	if n, err := s.absent(t.Context(), db); n != 1 || err != nil {
		t.Errorf("%d are missing, want b alone; %v", n, err)
	}
}

// lived makes a soak whose node had so many lives of two minutes, with a value at each second.
func lived(lives int, value func(life, second int) float64) *soak {
	s := &soak{options: make([]nodeOptions, 1)}
	for l := range lives {
		for sec := range 120 {
			v := value(l, sec)
			s.samples = append(s.samples, sample{at: time.Duration(l*125+sec) * time.Second, life: l, values: [3]float64{v, v, v}})
		}
	}
	return s
}

func TestWhatGrowsFromLifeToLifeOrWithinIsNotFlat(t *testing.T) {
	noise := func(sec int) float64 { return float64(sec%7) - 3 }
	for name, c := range map[string]struct {
		value func(life, second int) float64
		want  string
	}{
		"noise":                   {func(_, sec int) float64 { return 100 + noise(sec) }, "ok"},
		"a start from little":     {func(_, sec int) float64 { return 100 + noise(sec) - 60*math.Exp(-float64(sec)/8) }, "ok"},
		"more with every life":    {func(l, sec int) float64 { return 100 + noise(sec) + 3*float64(l) }, "no"},
		"more with every second":  {func(_, sec int) float64 { return 100 + noise(sec) + float64(sec) }, "no"},
		"one life that was worse": {func(l, sec int) float64 { return 100 + noise(sec) + 40*float64(l%9/8) }, "ok"},
		"up and down, and more":   {func(l, sec int) float64 { return 100 + noise(sec) + 20*float64(l%2) + 20*float64(l) }, "no"},
	} {
		if u := lived(9, c.value).judgeUnderLoad(0, 0); u.verdict != c.want {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// soaked30 makes a soak of half an hour in six stretches whose first node has kept a value at each second of load, and
// has more of it in flight.
func soaked30(kept, inFlight func(second int) float64) *soak {
	s := &soak{options: make([]nodeOptions, 2)}
	add := func(list *[]sample, at int, resting bool, v float64) {
		*list = append(*list, sample{at: time.Duration(at) * time.Second, resting: resting, values: [3]float64{v, v, v}})
	}
	look := func(at, load int) {
		var looks []sample
		add(&looks, at, true, kept(load))
		s.atRest = append(s.atRest, looks)
	}
	look(0, 0)
	for sec := range 1800 {
		at := sec + sec/300*100
		add(&s.samples, at, false, kept(sec)+inFlight(sec))
		if sec%300 == 299 {
			for k := range 100 {
				add(&s.samples, at+k+1, true, kept(sec))
			}
			look(at+100, sec)
		}
	}
	return s
}

func TestWhatANodeKeepsIsNotFlatAndWhatIsInFlightIs(t *testing.T) {
	still := func(int) float64 { return 100 }
	leak := func(sec int) float64 { return 100 + float64(sec)/90 } // 20 in half an hour
	none := func(int) float64 { return 0 }
	// Requests in flight, which a slow machine makes more: bursts, at random instants, and for some minutes at the end.
	burst := func(sec int) float64 {
		slow := 20 * float64(sec/1500)
		return slow + 80*float64(uint32(sec)*2654435761>>31) + 2*float64(sec*sec%19)
	}
	for name, c := range map[string]struct {
		kept, inFlight func(second int) float64
		rest           string
		load, memory   string
	}{
		"all stays":                     {still, none, "ok", "ok", "ok"},
		"bursts":                        {still, burst, "ok", "ok", "ok"},
		"a start from little":           {func(sec int) float64 { return 100 - 60*math.Exp(-float64(sec)/30) }, burst, "ok", "ok", "ok"},
		"a little kept of each request": {leak, none, "no", "no", "no"},
		"the same under bursts":         {leak, burst, "no", "ok", "no"},
		"a queue that grows with the load and is empty at rest": {still, func(sec int) float64 { return float64(sec) / 60 }, "ok", "no", "no"},
		"what was too much becomes less":                        {func(sec int) float64 { return 100 - float64(sec)/90 }, none, "ok", "ok", "ok"},
	} {
		s := soaked30(c.kept, c.inFlight)
		for which, value := range watched() {
			if grown, got := s.judgeAtRest(0, which); got != c.rest {
				t.Errorf("%s: %s at rest: %s, %s", name, value, got, grown)
			}
			want := c.load
			if which == memory {
				want = c.memory
			}
			if u := s.judgeUnderLoad(0, which); u.verdict != want {
				t.Errorf("%s: %s: %+v", name, value, u)
			}
		}
	}
}

func TestTooShortASoakJudgesNothing(t *testing.T) {
	s := soaked30(func(int) float64 { return 100 }, func(int) float64 { return 0 })
	s.atRest, s.samples = s.atRest[:3], nil
	_, rest := s.judgeAtRest(0, 0)
	if u := s.judgeUnderLoad(0, 0); rest != "too short" || u.verdict != "too short" {
		t.Errorf("at rest %s, under load %s", rest, u.verdict)
	}
}

func TestASoakTellsOfRestAndOfTheMachine(t *testing.T) {
	s := &soak{options: make([]nodeOptions, 1), lasts: 20 * time.Minute}
	for i, kept := range [][3]float64{{61, 72, 83}, {64, 75, 86}, {64, 75, 96}, {64, 75, 106}, {64, 75, 116}} {
		s.atRest = append(s.atRest, []sample{{at: time.Duration(i) * 5 * time.Minute, values: kept}})
	}
	for _, v := range []float64{1500, 700, 1400} {
		s.windows = append(s.windows, window{speed: v, withheld: v / 100, flush: v / 1000})
	}
	var b strings.Builder
	s.reportFlatness(&b)
	s.reportMachine(&b)
	for _, line := range []string{
		"| At rest | Before | 5 min of load | 10 min of load | 15 min of load | 20 min of load | Growth (95 %) | Flat |\n|---|---|---|---|---|---|---|---|\n",
		"| Node 1: Goroutines | 72.0 | 75.0 | 75.0 | 75.0 | 75.0 | +0.0 % (+0.0 to +0.0) | ok |",
		"| Node 1: File descriptors | 83.0 | 86.0 | 96.0 | 106 | 116 | +29.7 % (+29.7 to +29.7) | no |",
		"| SHA-256 on one processor, MB/s | 1400 | 700 | 1500 |", "withheld by its host, % | 14.0 | 7.0 | 15.0 |",
		"| fdatasync of 4 KiB appended, ms | 1.4 | 0.700 | 1.5 |",
	} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no %q in\n%s", line, b.String())
		}
	}
	if now := speed(); now < 1 || now > 1e5 {
		t.Errorf("%v MB/s", now)
	}
}

func TestWhatFailsBesideWorkEndsIt(t *testing.T) {
	forever := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	broken := errors.New("broken")
	fails := func(context.Context) error { return broken }
	if err := beside(t.Context(), forever, forever, fails); !errors.Is(err, broken) {
		t.Errorf("what fails beside: %v", err)
	}
	if err := beside(t.Context(), fails, forever); !errors.Is(err, broken) {
		t.Errorf("work that fails: %v", err)
	}
	if err := beside(t.Context(), func(context.Context) error { return nil }, forever); err != nil {
		t.Errorf("work that is done: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := beside(ctx, forever, forever); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is ended: %v", err)
	}
}

func TestPlotsAreWholeDocuments(t *testing.T) {
	h := &load.Hist{}
	for i := range 1000 {
		h.Add(time.Duration(i) * time.Millisecond)
	}
	broken := series{name: "node 1", x: []float64{0, 1, 2}, y: []float64{5, math.NaN(), 7}}
	name := filepath.Join(t.TempDir(), "plot.svg")
	if err := draw(name, latencyChart([]shape{{"one", h}, {"two", h}}), timeChart("Memory", "MB", 3*time.Minute, broken)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"99.9 %", "milliseconds", ">one<", ">two<", "Memory", "prefers-color-scheme: dark"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in the plot", want)
		}
	}
	if strings.Contains(string(text), "NaN") {
		t.Error("the plot has a point that is none")
	}
}

func TestSinkTellsWhatIsMissingTwiceAndUntold(t *testing.T) {
	s := &sink{times: map[uint64]uint8{}}
	server := httptest.NewServer(s)
	defer server.Close()
	for _, ref := range []string{"a.0.1", "b.0.1", "b.0.2", "d.0.1"} {
		resp, err := http.Post(server.URL, "application/json", strings.NewReader(`{"biz_opaque_callback_data":"`+ref+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", ref, resp.StatusCode)
		}
	}
	keeper := &soak{bench: &bench{dir: t.TempDir()}, told: []uint64{messageKey("a", "0"), messageKey("b", "0"), messageKey("c", "0")}}
	name, err := keeper.writeTold()
	if err != nil {
		t.Fatal(err)
	}
	missing, doubled, untold, err := s.compare(name)
	if err != nil || missing != 1 || doubled != 1 || untold != 1 || s.posts != 4 {
		t.Errorf("%d missing, %d doubled, %d untold of %d posts, %v", missing, doubled, untold, s.posts, err)
	}
}

func TestClientsRepeatTheSameRequestAtTheOtherNode(t *testing.T) {
	var keys [2]atomic.Value
	nodes := make([]string, 2)
	for i, status := range []int{http.StatusServiceUnavailable, http.StatusOK} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			keys[i].Store(r.Header.Get("Idempotency-Key"))
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "{}")
		}))
		defer server.Close()
		nodes[i] = strings.TrimPrefix(server.URL, "http://")
	}
	f := newFailover(nodes, 1)
	a, err := f.do(t.Context(), 0, 0)
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("answered %d, %v", a.Status, err)
	}
	if first, second := keys[0].Load(), keys[1].Load(); first != second || first == "" || f.refused.Load() != 1 {
		t.Errorf("keys %q and %q, %d refused", first, second, f.refused.Load())
	}
}

func TestDensestSecondOfArrivals(t *testing.T) {
	begin := time.Now()
	var all []arrival
	for _, ms := range []int{0, 500, 999, 1000, 1100, 1499, 2600} {
		all = append(all, arrival{at: begin.Add(time.Duration(ms) * time.Millisecond)})
	}
	if n := densest(all); n != 5 { // from 500 to 1499
		t.Errorf("%d in one second", n)
	}
}

// TestTheLastWordOfAProcessIsHeard: also when it ended before anybody listened.
func TestTheLastWordOfAProcessIsHeard(t *testing.T) {
	c, err := (&bench{}).start(exec.Command("/bin/sh", "-c", "echo done")) // as a client's result is
	if err != nil {
		t.Fatal(err)
	}
	<-c.done
	if said, err := c.hear(); said != "done" || err != nil {
		t.Errorf("heard %q, %v; it said done", said, err)
	}
}
