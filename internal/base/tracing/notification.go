package tracing

import (
	"context"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"carillon"
	"carillon/internal/base/provider"
)

// request collects the data for a request's span in its context.
type request struct {
	method string
	begin  time.Time
	caller trace.SpanContext // from its traceparent header; invalid if there was none
	self   trace.SpanContext
	links  []trace.Link
	root   bool // not part of a caller's trace
}

// Request begins the span of a request and reads the caller's trace from the headers. Responded ends it.
func (t *Tracing) Request(ctx context.Context, method string, header http.Header) context.Context {
	if t == nil {
		return ctx
	}
	q := &request{method: method, begin: time.Now()}
	q.caller = trace.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header)))
	if q.caller.IsValid() {
		q.self = trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: q.caller.TraceID(), SpanID: randomSpan(), TraceFlags: q.caller.TraceFlags(), Remote: true,
		})
	} else {
		q.root, q.self = true, t.contextOf(randomTrace(), randomSpan())
	}
	return context.WithValue(ctx, requestKey, q)
}

// Responded records the response to a request. code is the error code, if any.
func (t *Tracing) Responded(ctx context.Context, route string, status int, code string) {
	q, ok := ctx.Value(requestKey).(*request)
	if t == nil || !ok || strings.HasSuffix(route, "z") { // health probes
		return
	}
	s := span{
		name: route, kind: trace.SpanKindServer, begin: q.begin, end: time.Now(), id: q.self, parent: q.caller, links: q.links,
		attributes: []attribute.KeyValue{
			attribute.String("http.request.method", q.method), attribute.String("http.route", route[strings.IndexByte(route, ' ')+1:]),
			attribute.Int("http.response.status_code", status),
		},
	}
	if code != "" {
		s.attributes = append(s.attributes, attribute.String("error.type", code))
	}
	if status >= http.StatusInternalServerError {
		s.failed = code
	}
	t.record(s)
}

// Accepted records that a notification was stored. The span lasts from the beginning of its acceptance to the end of
// the commit.
func (t *Tracing) Accepted(ctx context.Context, notificationID, companyID string, messages int, begin time.Time) {
	if t == nil {
		return
	}
	s := span{
		name: "accept", kind: trace.SpanKindProducer, begin: begin, end: time.Now(), id: t.context(notificationID, ofAccept),
		attributes: []attribute.KeyValue{
			attribute.String("carillon.notification_id", notificationID), attribute.String("carillon.company_id", companyID),
			attribute.Int("carillon.messages", messages),
		},
	}
	if q, ok := ctx.Value(requestKey).(*request); ok && q.root {
		q.self = t.context(notificationID, ofRequest)
		s.parent = q.self
	} else if ok {
		q.links = append(q.links, trace.Link{SpanContext: s.id})
		s.links = []trace.Link{{SpanContext: q.self}}
	}
	t.record(s)
}

// Attempt records an attempt at a message: its wait in the lane since it was due, and its outcome.
func (t *Tracing) Attempt(r provider.Ref, sender int64, due, begin time.Time, outcome string, reason carillon.Reason) {
	if t == nil {
		return
	}
	accept := t.context(r.NotificationID, ofAccept)
	which := []attribute.KeyValue{
		attribute.Int("carillon.message", r.N), attribute.Int("carillon.attempt", r.Attempt), attribute.Int64("carillon.sender", sender),
	}
	if due.Before(begin) {
		t.record(span{name: "lane", kind: trace.SpanKindInternal, begin: due, end: begin, parent: accept, attributes: which})
	}
	s := span{
		name: "attempt", kind: trace.SpanKindConsumer, begin: begin, end: time.Now(), id: t.of(r, ofAttempt), parent: accept,
		attributes: append(which, attribute.String("carillon.outcome", outcome)),
	}
	if reason != "" {
		s.attributes = append(s.attributes, attribute.String("carillon.reason", string(reason)))
		s.failed = string(reason)
	}
	t.record(s)
}

// Sent records the provider's response to an attempt.
func (t *Tracing) Sent(r provider.Ref, name string, begin time.Time, o provider.Outcome) {
	if t == nil {
		return
	}
	s := span{
		name: "send " + name, kind: trace.SpanKindClient, begin: begin, end: time.Now(), id: t.of(r, ofSend), parent: t.of(r, ofAttempt),
		attributes: []attribute.KeyValue{
			attribute.String("carillon.provider", name), attribute.String("carillon.verdict", o.Verdict.String()),
		},
	}
	if o.Verdict != provider.Sent {
		s.failed = o.Verdict.String()
		s.attributes = append(s.attributes, attribute.String("carillon.fault", string(o.Fault)))
	}
	t.record(s)
}

// Received records stored receipts. Each becomes part of its attempt and is linked to the callback that delivered it.
func (t *Tracing) Received(ctx context.Context, rs []provider.Receipt) {
	if t == nil {
		return
	}
	var links []trace.Link
	if q, ok := ctx.Value(requestKey).(*request); ok {
		links = []trace.Link{{SpanContext: q.self}}
	}
	now := time.Now()
	for i := range rs {
		r := &rs[i]
		t.record(span{
			name: "receipt " + string(r.State), kind: trace.SpanKindConsumer, begin: now, end: now, parent: t.of(r.Ref, ofSend),
			links: links,
			attributes: []attribute.KeyValue{
				attribute.String("carillon.state", string(r.State)), attribute.String("carillon.reason", string(r.Reason)),
			},
		})
	}
}
