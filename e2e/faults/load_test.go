package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const accessKey = "ck_faults_1"

// ask is one request with its responses.
type ask struct {
	token  string        // its campaign, which identifies it in the database
	key    string        // idempotency key; empty if never repeated
	form   string        // the body without its schedule
	lead   time.Duration // how far ahead it is scheduled; 0 for at once
	due    time.Time     // its scheduled time, or that of the first request
	body   []byte
	size   int
	cancel bool
	move   bool
	repeat bool // repeated after its 200

	id         string // from the 200
	status     int    // of the last response
	code       string // error code of the last response
	busy       int    // number of 503 responses before it
	lost       bool   // the last attempt got no response
	canceled   int    // from the DELETE's 200
	moved      bool
	complaints []string
}

// newAsk creates a random request. One in ten recipients of a bulk occurs twice.
func newAsk(d dice, token string, number func() string, senders []*channelAccount) *ask {
	a := &ask{token: token}
	if d.chance(85) {
		a.key = "key-" + token
	}
	n := 1
	if d.chance(25) {
		n = 2 + d.IntN(15)
	}
	var contacts []string
	for len(contacts) < n {
		c := fmt.Sprintf(`{"number":%q,"name":"Ana"}`, number())
		contacts = append(contacts, c)
		if n > 1 && d.chance(10) {
			contacts = append(contacts, c)
		}
	}
	a.size = len(contacts)
	to := `"contact":` + contacts[0]
	if n > 1 {
		to = `"contacts":[` + strings.Join(contacts, ",") + `]`
	}
	kind, template := "utility", "hello_utility"
	switch d.IntN(3) {
	case 0:
		kind, template = "marketing", "hello_marketing"
	case 1:
		kind = "transactional"
	}
	if d.chance(35) {
		a.lead = d.between(500*time.Millisecond, 3*time.Second)
		a.cancel = d.chance(25)
		a.move = !a.cancel && d.chance(30)
	} else {
		a.cancel = d.chance(5)
	}
	a.repeat = a.key != "" && d.chance(20)
	a.form = `{` + to + `,"recipient_id":"` + senders[d.IntN(len(senders))].id + `","name_template":"` + template +
		`","language_template":"en","notification_type":"` + kind + `","campaign_name":"` + token +
		`","components_push":{"body_text_0":"{{name}}"}`
	return a
}

func schedule(at time.Time) string {
	return `"datetime_sending":"` + at.UTC().Format("2006-01-02T15:04:05.000Z") + `"`
}

// write builds the body, which is the same in every repetition.
func (a *ask) write() {
	when := ""
	a.due = time.Now().Add(a.lead).Truncate(time.Millisecond)
	if a.lead > 0 {
		when = "," + schedule(a.due)
	}
	a.body = []byte(a.form + when + "}")
}

// caller is an application that sends. It knows all nodes and uses another one if one does not respond.
type caller struct {
	http  *http.Client
	nodes func() []*node
	d     dice
}

func newCaller(f *front, d dice) *caller {
	return &caller{http: &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 4}}, nodes: f.all, d: d}
}

type reply struct {
	status int
	id     string
	count  int
	code   string
}

// once sends one request. sent is false if it certainly reached no node.
func (c *caller) once(ctx context.Context, method, path, key string, body []byte) (r reply, sent bool, err error) {
	nodes := c.nodes()
	n := nodes[c.d.IntN(len(nodes))]
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.addr+"/functions/v1/"+path+"?access_key="+accessKey,
		bytes.NewReader(body))
	if err != nil {
		return r, false, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header["Idempotency-Key"] = []string{key}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var op *net.OpError
		return r, !errors.As(err, &op) || op.Op != "dial", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return r, true, err
	}
	var v struct {
		ID       string `json:"notification_id"`
		Canceled int    `json:"canceled"`
		Error    string `json:"error"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return r, true, fmt.Errorf("answer %d: %w", resp.StatusCode, err)
	}
	return reply{resp.StatusCode, v.ID, v.Canceled, v.Error}, true, nil
}

const retryPause = 150 * time.Millisecond

// post sends a request until it gets a definite response. Without an idempotency key, it is not repeated once it may
// have arrived.
func (c *caller) post(ctx context.Context, a *ask) {
	for ctx.Err() == nil {
		r, sent, err := c.once(ctx, http.MethodPost, "notify", a.key, a.body)
		// A proxy responds with 502 or 504 if it lost a node's response.
		lost := err != nil || r.status == http.StatusBadGateway || r.status == http.StatusGatewayTimeout
		switch {
		case err != nil && !sent:
		case lost:
			a.lost = true
			if a.key == "" {
				return
			}
		case r.status == http.StatusOK:
			if a.id != "" && a.id != r.id {
				a.complaints = append(a.complaints, fmt.Sprintf("the same key gave %s and %s", a.id, r.id))
			}
			a.id, a.status, a.lost = r.id, r.status, false
			return
		default:
			if r.status == http.StatusServiceUnavailable {
				a.busy++
			}
			if r.status == http.StatusInternalServerError && !strings.HasPrefix(a.token, mark) {
				a.complaints = append(a.complaints, "it was answered 500 "+r.code) // transient errors must be 503
			}
			if r.status == http.StatusBadRequest && a.lost && r.code == "validation_failed" {
				// Its time has passed meanwhile, and nothing is stored under its key.
				a.status, a.code = r.status, r.code
				a.lost = false
				return
			}
			a.status, a.code, a.lost = r.status, r.code, false
			if a.key == "" || r.status < 500 && r.status != http.StatusConflict && r.status != http.StatusTooManyRequests {
				return
			}
		}
		pause(ctx, retryPause)
	}
}

// change cancels or reschedules an accepted notification until it gets a response.
func (c *caller) change(ctx context.Context, a *ask) {
	method, body := http.MethodDelete, []byte(nil)
	if a.move {
		method = http.MethodPatch
		body = []byte("{" + schedule(time.Now().Add(c.d.between(500*time.Millisecond, 3*time.Second))) + "}")
	}
	for ctx.Err() == nil {
		r, _, err := c.once(ctx, method, "notify/"+a.id, "", body)
		if err == nil && r.status < 500 {
			switch r.status {
			case http.StatusOK:
				a.canceled, a.moved = r.count, a.move
			case http.StatusConflict, http.StatusBadRequest:
			default:
				a.complaints = append(a.complaints, fmt.Sprintf("%s answered %d %s", method, r.status, r.code))
			}
			return
		}
		pause(ctx, retryPause)
	}
}

// run executes a request with its repetition and change.
func (c *caller) run(ctx context.Context, a *ask) {
	a.write()
	c.post(ctx, a)
	if a.id == "" {
		return
	}
	if a.repeat {
		c.post(ctx, a)
	}
	if a.cancel || a.move {
		pause(ctx, c.d.between(0, 400*time.Millisecond))
		c.change(ctx, a)
	}
}

// load runs requests with several concurrent callers, spread over the given time.
func load(ctx context.Context, f *front, d dice, asks []*ask, over time.Duration) {
	const callers = 12
	var done sync.WaitGroup
	gap := over * callers / time.Duration(max(len(asks), 1))
	for i := range callers {
		c := newCaller(f, d.child())
		done.Go(func() {
			defer c.http.CloseIdleConnections()
			for k := i; k < len(asks); k += callers {
				c.run(ctx, asks[k])
				pause(ctx, time.Duration(c.d.Int64N(int64(2*gap)+1)))
			}
		})
	}
	done.Wait()
}
