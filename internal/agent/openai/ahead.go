package openai

import (
	"context"
	"net/http"
	"sync"

	"carillon/internal/agent"
)

// ahead holds the responses that were requested before the contact's words were certain, one per conversation. A
// response is used if the request for it is the same in the end; otherwise it is dropped.
type ahead struct {
	mu    sync.Mutex
	begun map[conversation]*begun
}

type conversation struct{ companyID, id string }

// begun is a request to the server that nobody has asked for yet.
type begun struct {
	body   []byte
	cancel context.CancelFunc
	keep   func() bool   // detaches it from the context with which it was begun
	done   chan struct{} // closed when there is a response or an error
	resp   *http.Response
	err    error
}

// Begin implements agent.Ahead.
func (t *Thinker) Begin(ctx context.Context, r *agent.Request) {
	if r.Agent.Engine != Engine || r.Agent.OpenAI == nil || r.Memory.Call != nil {
		return
	}
	e := &exchange{Thinker: t, request: r}
	tools, err := e.prepare(ctx)
	if err != nil {
		return // Reply reports it
	}
	body, err := e.body(tools)
	if err != nil || t.allow(ctx, r) != nil {
		return
	}
	b := &begun{body: body, done: make(chan struct{})}
	var own context.Context
	own, b.cancel = context.WithTimeout(context.WithoutCancel(ctx), t.o.Whole)
	t.ahead.put(ctx, r, b)
	go func() {
		defer close(b.done)
		b.resp, b.err = e.post(own, body)
	}()
}

func keyOf(r *agent.Request) conversation { return conversation{r.CompanyID, r.ConversationID} }

// put makes a response the one that was begun in its conversation, until ctx ends.
func (a *ahead) put(ctx context.Context, r *agent.Request, b *begun) {
	a.mu.Lock()
	before := a.begun[keyOf(r)]
	if a.begun == nil {
		a.begun = map[conversation]*begun{}
	}
	a.begun[keyOf(r)] = b
	b.keep = context.AfterFunc(ctx, func() { a.drop(r, b) })
	a.mu.Unlock()
	before.end()
}

// take removes and returns the response begun in a conversation, or nil.
func (a *ahead) take(r *agent.Request) *begun {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.begun[keyOf(r)]
	if b == nil || !b.keep() {
		return nil
	}
	delete(a.begun, keyOf(r))
	return b
}

func (a *ahead) drop(r *agent.Request, b *begun) {
	a.mu.Lock()
	if a.begun[keyOf(r)] == b {
		delete(a.begun, keyOf(r))
	}
	a.mu.Unlock()
	b.end()
}

// end cancels the request.
func (b *begun) end() {
	if b == nil {
		return
	}
	b.keep()
	b.cancel()
	go func() {
		if <-b.done; b.resp != nil {
			_ = b.resp.Body.Close()
		}
	}()
}

// response returns the response, which ends with ctx.
func (b *begun) response(ctx context.Context) (*http.Response, error) {
	context.AfterFunc(ctx, b.cancel)
	<-b.done
	return b.resp, b.err
}
