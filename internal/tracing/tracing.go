// Package tracing tells an OpenTelemetry collector what becomes of a notification: the request, the commit that accepted
// it, its wait in the lane, each attempt, the provider's answer and the receipts that come back.
//
//	caller's trace        POST /functions/v1/notify ─┐ link
//	notification's trace  accept ◀───────────────────┘
//	                      ├─ lane (due → start)
//	                      └─ attempt ─▶ send (the provider) ─▶ receipt ──link──▶ POST /callbacks/…
//
// A notification's trace has the notification's id, and its spans' ids follow from what they are: nothing is stored for
// it, and any node can go on with a trace that another one began (docs/adr/0010). Without a caller's trace the request
// is part of the notification's. No query string, no number, no text, no secret becomes an attribute.
//
// It is off without an address. A nil *Tracing does nothing. Spans wait in a bounded queue and are dropped when it is
// full: tracing never holds anything up.
package tracing

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"carillon"
)

// Options say where spans go. The standard variables count where a field is empty: OTEL_EXPORTER_OTLP_ENDPOINT,
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG,
// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP_*.
type Options struct {
	URL     string // of the collector, without /v1/traces; OTLP over HTTP in JSON
	Version string
	Lookup  func(name string) (string, bool) // of the environment
	Log     *slog.Logger
}

// Tracing makes spans and sends them. nil: off.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	sampled  func(id trace.TraceID) bool
}

const queued = 8192 // spans that wait to be sent; past it they are dropped

// New gives nil when no collector is named.
func New(ctx context.Context, o Options) (*Tracing, error) {
	env := func(name string) string {
		value, _ := o.Lookup(name)
		return value
	}
	to, err := newExporter(o.URL, env, o.Log)
	if err != nil || to == nil {
		return nil, err
	}
	ratio, err := ratioOf(env)
	if err != nil {
		return nil, err
	}
	res, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "carillon"), attribute.String("service.version", o.Version)), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	sampled := sampledBy(ratio)
	p := sdk.NewTracerProvider(sdk.WithResource(res), sdk.WithIDGenerator(ids{}),
		sdk.WithSampler(sdk.ParentBased(rootSampler{sampled})),
		sdk.WithBatcher(to, sdk.WithMaxQueueSize(queued), sdk.WithMaxExportBatchSize(512), sdk.WithBatchTimeout(time.Second)))
	return &Tracing{provider: p, tracer: p.Tracer("carillon"), sampled: sampled}, nil
}

// Close sends what waits, as long as ctx allows.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// span is one that is over: it is told as a whole.
type span struct {
	name       string
	kind       trace.SpanKind
	begin, end time.Time
	id         trace.SpanContext // its own ids; the zero value: made anew
	parent     trace.SpanContext
	links      []trace.Link
	attributes []attribute.KeyValue
	failed     string // why, when it did
}

func (t *Tracing) tell(s span) {
	ctx := context.WithValue(context.Background(), idsKey, s.id)
	if s.parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, s.parent)
	}
	_, x := t.tracer.Start(ctx, s.name, trace.WithSpanKind(s.kind), trace.WithTimestamp(s.begin), trace.WithAttributes(s.attributes...),
		trace.WithLinks(s.links...))
	if s.failed != "" {
		x.SetStatus(codes.Error, s.failed)
	}
	x.End(trace.WithTimestamp(s.end))
}

// context is a span of a notification's trace by what it is.
func (t *Tracing) context(notificationID string, what ...byte) trace.SpanContext {
	var id trace.TraceID
	if _, err := hex.Decode(id[:], []byte(strings.ReplaceAll(notificationID, "-", ""))); err != nil {
		_, _ = rand.Read(id[:])
	}
	return t.contextOf(id, spanID(id, what))
}

func (t *Tracing) contextOf(id trace.TraceID, s trace.SpanID) trace.SpanContext {
	var flags trace.TraceFlags
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: s, TraceFlags: flags.WithSampled(t.sampled(id)), Remote: true,
	})
}

// What the spans of a notification's trace are.
const (
	ofRequest byte = iota
	ofAccept
	ofAttempt
	ofSend
)

// of is the span of one attempt's step.
func (t *Tracing) of(r carillon.Ref, what byte) trace.SpanContext {
	return t.context(r.NotificationID, what, byte(r.N), byte(r.N>>8), byte(r.Attempt), byte(r.Attempt>>8))
}
