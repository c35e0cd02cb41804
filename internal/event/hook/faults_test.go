package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon"
	"carillon/internal/event/hook"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/events"
)

func TestAnEndpointIsLeftToTheNodeThatTookItOver(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	r.pile(250)
	e.responds(func(n int, _ *hook.Body, _ http.ResponseWriter) {
		if n == 30 {
			r.lost.Store(true)
		}
	})
	r.pass()
	if n := len(e.all()); n > 40 {
		t.Errorf("%d requests after another node took it over", n-30)
	}
	r.lost.Store(false)
	r.pass()
	r.want(k, 0, 0, 0)
	if n := len(e.all()); n != 250 {
		t.Errorf("250 events were sent %d times", n)
	}
}

// A sent event is not sent again if its log cannot be stored.
func TestEventsWhoseLogCannotBeStoredAreSentOnce(t *testing.T) {
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	if _, err := r.store.DB.Exec(t.Context(), "CREATE TRIGGER refused BEFORE INSERT ON hook_attempt BEGIN SELECT RAISE(ABORT, "+
		"'refused'); END"); err != nil {
		t.Fatal(err)
	}
	r.happen("m1", "message.sent")
	r.happen("m2", "message.sent")
	r.pass()
	r.after(time.Hour)
	r.want(k, 0, 0, 0)
	got := e.sequences()
	slices.Sort(got) // they may be sent concurrently
	if !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("received %v", got)
	}
}

// An event that arrives after a lane's last check, but before the lane has ended, is delivered without another event.
func TestAnEventThatComesAsDeliveryEndsIsDeliveredAtOnce(t *testing.T) {
	r, e := newRig(t), serve(t)
	r.endpoint(hook.Webhook{URL: e.URL})
	r.happen("m1", "message.sent")
	rounds := 0
	r.suspended = func() bool {
		rounds++
		if rounds != 2 {
			return false
		}
		r.happen("m2", "message.sent")
		if err := r.d.Pass(t.Context()); err != nil {
			t.Error(err)
		}
		return true // as if this check had preceded the event
	}
	r.pass()
	if got := e.sequences(); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("received %v", got)
	}
}

// pile stores many events, each about a different subject.
func (r *rig) pile(n int) {
	r.t.Helper()
	for begin := 0; begin < n; begin += 1000 {
		var all []*events.Event
		for i := begin; i < min(begin+1000, n); i++ {
			all = append(all, &events.Event{
				CompanyID: company, Topic: events.Notifications, Kind: "message.sent", Subject: fmt.Sprint("m", i), At: r.clock(),
				Payload: json.RawMessage(`{"v":1,"message_id":"m","campaign":"spring","sender_id":"main","state":"sent"}`),
			})
		}
		if err := r.store.Events.AddEvents(r.t.Context(), all...); err != nil {
			r.t.Fatal(err)
		}
	}
}

// raw starts a server that writes the text to each connection after a request, and then closes the connection, unless
// keep is true.
func raw(t *testing.T, text string, keep bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() { end(); _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				defer func() { _ = conn.Close() }()
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = io.WriteString(conn, text)
				if keep {
					_, _ = io.Copy(io.Discard, conn)
				}
			})
		}
	})
	return "http://" + l.Addr().String()
}

// liars are servers that respond in invalid ways. ok reports whether the response counts as a success.
func liars(t *testing.T) map[string]struct {
	url string
	ok  bool
} {
	t.Helper()
	const head = "HTTP/1.1 200 OK\r\n"
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 32<<10); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	return map[string]struct {
		url string
		ok  bool
	}{
		"200 before the body":        {raw(t, head+"Content-Length: 0\r\nConnection: close\r\n\r\n", false), true},
		"too long a content length":  {raw(t, head+"Content-Length: 1000\r\n\r\nshort", false), true},
		"too short a content length": {raw(t, head+"Content-Length: 2\r\n\r\nmuch longer", false), true},
		"endless body":               {endless.URL, true},
		"NUL in the body":            {raw(t, head+"Content-Length: 3\r\n\r\na\x00\xff", false), true},
		"negative length":            {raw(t, head+"Content-Length: -1\r\n\r\n", false), false},
		"two lengths":                {raw(t, head+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", false), false},
		"header bomb":                {raw(t, head+strings.Repeat("X-Bomb: "+strings.Repeat("b", 1000)+"\r\n", 200)+"\r\n", false), false},
		"broken head":                {raw(t, "HTTP/1.1 2"+strings.Repeat("\x00\xff", 3000)+"\r\n\r\n", false), false},
		"closed in the head":         {raw(t, head+"Content-Le", false), false},
		"closed at once":             {raw(t, "", false), false},
		"a socket": {
			raw(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", true), false,
		},
		"many interim responses": {raw(t, strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 5000), false), false},
		"not TLS":                {strings.Replace(raw(t, "HTTP/1.1 400 Bad Request\r\n\r\n", false), "http:", "https:", 1), false},
	}
}

func TestNoResponseCanHoldAnEndpointUp(t *testing.T) {
	r := newRig(t)
	for name, c := range liars(t) {
		k := r.endpoint(hook.Webhook{URL: c.url})
		defer func() {
			all, err := r.store.Hooks.Attempts(t.Context(), k, false, "", 10)
			if err != nil || len(all) != 1 || all[0].OK != c.ok || !c.ok && all[0].Error == "" || len(all[0].Error) > 2000 {
				t.Errorf("%s: %+v, %v", name, all, err)
			}
		}()
	}
	r.happen("m1", "message.sent")
	r.pass()
}

// TestNothingIsLostInThreeBadDays makes endpoints fail in turns over three days.
func TestNothingIsLostInThreeBadDays(t *testing.T) {
	r := newRig(t)
	dice := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	good := false
	behaviors := map[string]func(n int, w http.ResponseWriter){
		"down":     func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
		"flapping": func(_ int, w http.ResponseWriter) { w.WriteHeader([]int{200, 500, 503, 404}[dice.IntN(4)]) },
		"throttling": func(n int, w http.ResponseWriter) {
			w.Header().Set("Retry-After", []string{"60", "99999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "never"}[n%4])
			w.WriteHeader([]int{429, 503, 200}[n%3])
		},
		"cutting": func(n int, _ http.ResponseWriter) {
			if n%2 == 0 {
				panic(http.ErrAbortHandler)
			}
		},
		"good": func(int, http.ResponseWriter) {},
	}
	all := map[string]*endpoint{}
	for name, behave := range behaviors {
		for _, ordered := range []bool{false, true} {
			e := serve(t)
			e.responds(func(n int, _ *hook.Body, w http.ResponseWriter) {
				mu.Lock()
				defer mu.Unlock()
				if !good {
					behave(n, w)
				}
			})
			all[fmt.Sprint(name, ", ordered ", ordered)] = e
			r.endpoint(hook.Webhook{URL: e.URL, Ordered: ordered})
		}
	}
	const steps = 71
	for i := range steps {
		r.happen(fmt.Sprint("m", i%7), "message.sent")
		r.after(time.Hour)
		if i == 36 {
			if n := len(all["good, ordered false"].all()); n != 37 {
				t.Errorf("the good endpoint got %d of 37", n)
			}
		}
	}
	mu.Lock()
	good = true
	mu.Unlock()
	for range 30 { // none failed for three full days, or gave up on an event
		r.after(time.Hour)
	}
	for name, e := range all {
		last := map[int64]int{}
		var order []int64 // of the last, successful request for each event
		for i, n := range e.sequences() {
			last[n] = i
		}
		for i, n := range e.sequences() {
			if last[n] == i {
				order = append(order, n)
			}
		}
		if len(order) != steps {
			t.Errorf("%s: %d of %d events came", name, len(order), steps)
		}
		if strings.HasSuffix(name, "true") && !slices.IsSortedFunc(order, func(a, b int64) int {
			if a%7 != b%7 { // about different messages
				return 0
			}
			return int(a - b)
		}) {
			t.Errorf("%s: %v", name, order)
		}
	}
}

// TestBadNeighborsDelayNobody makes twenty endpoints hang, fail and lie next to a healthy one, which gets its events while
// the requests to the others hang.
func TestBadNeighborsDelayNobody(t *testing.T) {
	for name, of := range map[string]string{"of the same company": company, "of another company": neighbor} {
		t.Run(name, func(t *testing.T) { besideBad(t, 20, of) })
	}
}

const neighbor = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e02"

// besideBad sends events to an endpoint next to bad ones of a company that has events too.
func besideBad(t *testing.T, bad int, of string) {
	t.Helper()
	r, e := newRig(t), serve(t)
	r.now = time.Time{}
	if err := r.store.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
		return accounts.PutCompany(ctx, tx, &carillon.Company{ID: neighbor, Name: "Beta"}, time.Now())
	}); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	held := make(chan string, 100*bad)
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, x *http.Request) {
		_, _ = io.Copy(io.Discard, x.Body)
		held <- x.URL.Path
		select {
		case <-release:
		case <-x.Context().Done():
			t.Error("a request that hangs was given up")
		}
	}))
	t.Cleanup(hang.Close)
	cut := raw(t, "HTTP/1.1 200 OK\r\nContent-Le", false)
	for i := range bad {
		w := hook.Webhook{URL: []string{hang.URL, cut}[i%2] + fmt.Sprint("/", i)}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.store.Resources.PutResource(t.Context(), of, hook.Kind(), &w); err != nil {
			t.Fatal(err)
		}
	}
	k := r.endpoint(hook.Webhook{URL: e.URL})
	came := make(chan struct{}, 1)
	e.responds(func(int, *hook.Body, http.ResponseWriter) { came <- struct{}{} })
	r.store.Events.OnEvents(func(all ...*events.Event) { r.d.Wake(all[0].CompanyID) })
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.d.Run(ctx) }()
	const n = 100
	next := func(i int) {
		if of != company {
			if err := r.store.Events.AddEvents(t.Context(), &events.Event{
				CompanyID: of, Topic: events.Notifications, Kind: "message.sent", Subject: "theirs", At: time.Now(),
				Payload: json.RawMessage(`{"v":1,"message_id":"theirs","state":"sent"}`),
			}); err != nil {
				t.Fatal(err)
			}
		}
		r.happen(fmt.Sprint("m", i), "message.sent")
		select {
		case <-came:
		case <-time.After(hung):
			t.Fatalf("event %d waits for the bad endpoints", i)
		}
	}
	next(0)
	for holding := map[string]bool{}; len(holding) < bad/2; {
		holding[<-held] = true
	}
	for i := range n - 1 {
		next(i + 1)
	}
	end()
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, x := range e.all() {
		if strings.Contains(x.text, "theirs") {
			t.Error("another company's event was sent:", x.text)
		}
	}
	attempts, err := r.store.Hooks.Attempts(t.Context(), k, false, "", 1000)
	if err != nil || slices.ContainsFunc(attempts, func(a events.Attempt) bool { return a.CompanyID != company || a.Subject == "theirs" }) {
		t.Error("another company's events are in the log, or", err)
	}
	all, err := r.store.Topics.EventsAfter(t.Context(), company, events.Notifications, 0, 1000)
	if err != nil || len(all) != n || len(e.all()) != n {
		t.Errorf("%d events to pull and %d requests of %d, %v", len(all), len(e.all()), n, err)
	}
	r.want(k, 0, 0, 0)
}

// backlog lets events accumulate for an endpoint that is down, and then delivers them. Neither memory nor rows may
// grow with their number.
func backlog(t *testing.T, n int) {
	t.Helper()
	r, e := newRig(t), serve(t)
	k := r.endpoint(hook.Webhook{URL: e.URL})
	e.status(http.StatusInternalServerError)
	r.pile(20)
	r.pass()
	before := heap()
	r.pile(n)
	for range 20 { // probes
		r.after(10 * time.Minute)
	}
	grown := heap() - before
	waiting, _, err := r.store.Hooks.Counts(t.Context(), k)
	t.Logf("%d events wait: the heap grew by %d KiB, %d of them have a row; the process has%s", n, grown>>10, waiting, resident())
	if err != nil || waiting > 100 || grown > 16<<20 {
		t.Errorf("%d wait in rows, the heap grew by %d bytes, %v", waiting, grown, err)
	}
	var mu sync.Mutex
	seen := make([]bool, n+21)
	count := 0
	e.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, x *http.Request) {
		var b hook.Body
		if err := json.NewDecoder(x.Body).Decode(&b); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if !seen[b.Sequence] {
			count++
		}
		seen[b.Sequence] = true
	})
	begin := time.Now()
	r.after(10 * time.Minute)
	r.want(k, 0, 0, 0)
	took := time.Since(begin)
	grown = heap() - before
	t.Logf("delivered %d in %v; the heap grew by %d KiB; the process has%s", count, took.Round(time.Millisecond), grown>>10, resident())
	if count != n+20 || grown > 16<<20 {
		t.Errorf("%d of %d came, the heap grew by %d bytes", count, n+20, grown)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// resident returns the memory in use by the process, if the system reports it.
func resident() string {
	text, err := os.ReadFile("/proc/self/status")
	_, line, found := strings.Cut(string(text), "VmRSS:")
	if err != nil || !found {
		return " an unknown amount"
	}
	line, _, _ = strings.Cut(line, "\n")
	return " " + strings.TrimSpace(line)
}

func TestEventsThatWaitTakeNoMemory(t *testing.T) { backlog(t, 20_000) }
