package tracing

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

type contextKey int

const (
	idsKey contextKey = iota
	requestKey
)

// ids generates a span's ids: those in its context, else random ones.
type ids struct{}

// NewIDs implements sdk.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if own, ok := ctx.Value(idsKey).(trace.SpanContext); ok && own.IsValid() {
		return own.TraceID(), own.SpanID()
	}
	return randomTrace(), randomSpan()
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if own, ok := ctx.Value(idsKey).(trace.SpanContext); ok && own.HasSpanID() {
		return own.SpanID()
	}
	return randomSpan()
}

func randomTrace() (id trace.TraceID) {
	_, _ = rand.Read(id[:])
	return id
}

func randomSpan() (id trace.SpanID) {
	_, _ = rand.Read(id[:])
	return id
}

// spanID derives a span's id from its trace and from `what`, which identifies the span within the trace.
func spanID(t trace.TraceID, what []byte) (id trace.SpanID) {
	h := sha256.Sum256(append(t[:len(t):len(t)], what...))
	copy(id[:], h[:])
	return id
}

// hashed samples traces by a hash of the trace id, so that every node makes the same choice. The hash is needed
// because the ids of notifications are not random in every bit.
type hashed struct{ sdk.Sampler }

// ShouldSample implements sdk.Sampler.
func (s hashed) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	h := sha256.Sum256(p.TraceID[:])
	p.TraceID = trace.TraceID(h[:len(p.TraceID)])
	return s.Sampler.ShouldSample(p)
}

// samplingRatio reads OTEL_TRACES_SAMPLER. The parentbased_ variants have the same effect, because a parent's decision
// always applies.
func samplingRatio() (float64, error) {
	switch name := os.Getenv("OTEL_TRACES_SAMPLER"); name {
	case "", "always_on", "parentbased_always_on":
		return 1, nil
	case "always_off", "parentbased_always_off":
		return 0, nil
	case "traceidratio", "parentbased_traceidratio":
		ratio, err := strconv.ParseFloat(os.Getenv("OTEL_TRACES_SAMPLER_ARG"), 64)
		if err != nil || ratio < 0 || ratio > 1 {
			return 0, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, as 0.05")
		}
		return ratio, nil
	default:
		return 0, fmt.Errorf(
			"OTEL_TRACES_SAMPLER is %q; it may be always_on, always_off or traceidratio, each with parentbased_ before it", name)
	}
}
