// Package tracing exports the steps of a notification to an OpenTelemetry collector: the request, the commit that
// accepted it, its wait in the lane, each attempt, the provider's response and the receipts that follow.
//
//	caller's trace        POST /functions/v1/notify ─┐ link
//	notification's trace  accept ◀───────────────────┘
//	                      ├─ lane (due → start)
//	                      └─ attempt ─▶ send (the provider) ─▶ receipt ──link──▶ POST /callbacks/…
//
// The id of a notification's trace is the notification's id, and the ids of its spans are derived from their steps. So
// nothing is stored, and any node can continue a trace that another node began
// (docs/adr/0010-traces-follow-from-ids.md). Without a caller's trace the request is part of the notification's trace.
// Query strings, numbers, texts and secrets never become attributes.
//
// Tracing is off if no collector is configured. A nil *Tracing does nothing. Spans wait in a bounded queue and are
// dropped when it is full, so tracing delays nothing.
package tracing

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"carillon/internal/base/provider"
)

// Options configure tracing. The standard environment variables apply too: OTEL_EXPORTER_OTLP_… to the exporter,
// OTEL_BSP_… to the queue, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES to the resource, OTEL_TRACES_SAMPLER and
// OTEL_TRACES_SAMPLER_ARG to sampling.
type Options struct {
	URL     string // of the collector, without /v1/traces; empty means the OTEL_EXPORTER_OTLP_ENDPOINT variables apply
	Version string
	Log     *slog.Logger
}

// Tracing records spans and exports them. A nil Tracing does nothing.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	sampler  sdk.Sampler // for spans without a parent
	log      *slog.Logger
}

const (
	queueSize    = 8192 // spans waiting for export; more are dropped
	closeTimeout = 5 * time.Second
	warnEvery    = time.Minute
)

// New returns nil if no collector is configured.
func New(ctx context.Context, o Options) (*Tracing, error) {
	endpoint, err := endpointOf(o.URL)
	if endpoint == "" || err != nil {
		return nil, err
	}
	ratio, err := samplingRatio()
	if err != nil {
		return nil, err
	}
	res, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "carillon"), attribute.String("service.version", o.Version)), resource.WithHost(),
		resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	otlp, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint))
	if err != nil {
		return nil, err
	}
	sampler := hashed{sdk.TraceIDRatioBased(ratio)}
	p := sdk.NewTracerProvider(sdk.WithResource(res), sdk.WithIDGenerator(ids{}),
		sdk.WithSampler(sdk.ParentBased(sampler)),
		sdk.WithBatcher(&exporter{SpanExporter: otlp, endpoint: endpoint, log: o.Log},
			sdk.WithMaxQueueSize(queueSize), sdk.WithBatchTimeout(time.Second)))
	return &Tracing{provider: p, tracer: p.Tracer("carillon"), sampler: sampler, log: o.Log}, nil
}

// endpointOf returns the URL to which spans are posted, or "" if tracing is off.
func endpointOf(base string) (string, error) {
	endpoint := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base == "" && endpoint == "" {
		base = os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	if base != "" {
		endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if endpoint == "" || os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return "", nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("the traces' address must be one of http or https, as http://127.0.0.1:4318")
	}
	return endpoint, nil
}

// exporter logs, at most once a minute, that the collector does not accept spans. Such spans are dropped.
type exporter struct {
	sdk.SpanExporter
	endpoint string
	log      *slog.Logger
	warned   atomic.Int64 // Unix ms
}

// ExportSpans implements sdk.SpanExporter. Only one call runs at a time.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if now := time.Now().UnixMilli(); err != nil && now-e.warned.Load() >= warnEvery.Milliseconds() {
		e.warned.Store(now)
		// The address may contain a key.
		e.log.WarnContext(ctx, "cannot export traces", "error", strings.ReplaceAll(err.Error(), e.endpoint, "the collector"),
			"spans", len(spans))
	}
	return nil
}

// Close exports the waiting spans, for a few seconds at most.
func (t *Tracing) Close(ctx context.Context) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.WarnContext(ctx, "cannot export the last traces", "error", err)
	}
}

// span is a finished span.
type span struct {
	name       string
	kind       trace.SpanKind
	begin, end time.Time
	id         trace.SpanContext // its own ids; zero value: random ids
	parent     trace.SpanContext
	links      []trace.Link
	attributes []attribute.KeyValue
	failed     string // reason of the failure, if it failed
}

func (t *Tracing) record(s span) {
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

// context returns the context of the span that `what` identifies within a notification's trace.
func (t *Tracing) context(notificationID string, what ...byte) trace.SpanContext {
	var id trace.TraceID
	if _, err := hex.Decode(id[:], []byte(strings.ReplaceAll(notificationID, "-", ""))); err != nil {
		_, _ = rand.Read(id[:])
	}
	return t.contextOf(id, spanID(id, what))
}

func (t *Tracing) contextOf(id trace.TraceID, s trace.SpanID) trace.SpanContext {
	sampled := t.sampler.ShouldSample(sdk.SamplingParameters{TraceID: id}).Decision == sdk.RecordAndSample
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: s, TraceFlags: trace.TraceFlags(0).WithSampled(sampled), Remote: true,
	})
}

// The kinds of spans in a notification's trace.
const (
	ofRequest byte = iota
	ofAccept
	ofAttempt
	ofSend
)

// of returns the span context of a step of one attempt.
func (t *Tracing) of(r provider.Ref, what byte) trace.SpanContext {
	return t.context(r.NotificationID, what, byte(r.N), byte(r.N>>8), byte(r.Attempt), byte(r.Attempt>>8))
}
