package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// exporter posts spans as OTLP over HTTP in JSON (opentelemetry.io/docs/specs/otlp). What a collector does not take is
// dropped, and the log tells of it once a minute at most.
type exporter struct {
	url    string
	header http.Header
	client *http.Client
	log    *slog.Logger

	mu   sync.Mutex
	told time.Time
}

const (
	exportTimeout = 10 * time.Second
	tellEvery     = time.Minute
)

// newExporter gives nil where no collector is named.
func newExporter(base string, env func(string) string, log *slog.Logger) (*exporter, error) {
	to := env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base == "" && to == "" {
		base = env("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	if base != "" {
		to = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if to == "" || env("OTEL_SDK_DISABLED") == "true" || env("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil //nolint:nilnil // off
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the traces' address must be one of http or https, as http://127.0.0.1:4318")
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for pair := range strings.SplitSeq(env("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if plain, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil {
			header.Set(strings.TrimSpace(name), plain)
		}
	}
	return &exporter{url: to, header: header, client: &http.Client{Timeout: exportTimeout}, log: log}, nil
}

// ExportSpans implements sdk.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.post(ctx, spans); err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		if now := time.Now(); now.Sub(e.told) >= tellEvery {
			e.told = now
			e.log.WarnContext(ctx, "send traces", "error", err, "spans", len(spans))
		}
	}
	return nil
}

func (e *exporter) post(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := json.Marshal(encode(spans))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the traces' address cannot be used")
	}
	req.Header = e.header.Clone()
	res, err := e.client.Do(req)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the address, in which there may be a key
		}
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %d", res.StatusCode)
	}
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// The messages of OTLP, as JSON writes them: ids in hexadecimal, nanoseconds as text.
type (
	otlpExport struct {
		ResourceSpans []otlpResource `json:"resourceSpans"`
	}
	otlpResource struct {
		Resource   otlpAttributes `json:"resource"`
		ScopeSpans []otlpScope    `json:"scopeSpans"`
	}
	otlpAttributes struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScope struct {
		Scope map[string]string `json:"scope"`
		Spans []otlpSpan        `json:"spans"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		Parent     string          `json:"parentSpanId,omitempty"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []otlpAttribute `json:"attributes,omitempty"`
		Links      []otlpLink      `json:"links,omitempty"`
		Status     otlpStatus      `json:"status"`
	}
	otlpLink struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	}
	otlpStatus struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	otlpAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

const otlpError = 2

func encode(spans []sdk.ReadOnlySpan) otlpExport {
	scope := otlpScope{Scope: map[string]string{"name": "carillon"}, Spans: make([]otlpSpan, 0, len(spans))}
	for _, s := range spans {
		x := otlpSpan{
			TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(), Name: s.Name(), Kind: kindOf(s.SpanKind()),
			Start: strconv.FormatInt(s.StartTime().UnixNano(), 10), End: strconv.FormatInt(s.EndTime().UnixNano(), 10),
			Attributes: attributesOf(s.Attributes()),
		}
		if s.Parent().HasSpanID() {
			x.Parent = s.Parent().SpanID().String()
		}
		for _, l := range s.Links() {
			x.Links = append(x.Links, otlpLink{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String()})
		}
		if why := s.Status().Description; why != "" {
			x.Status = otlpStatus{otlpError, why}
		}
		scope.Spans = append(scope.Spans, x)
	}
	res := otlpResource{ScopeSpans: []otlpScope{scope}}
	if len(spans) > 0 {
		res.Resource.Attributes = attributesOf(spans[0].Resource().Attributes())
	}
	return otlpExport{[]otlpResource{res}}
}

// kindOf is OTLP's number of a kind.
func kindOf(k trace.SpanKind) int {
	switch k {
	case trace.SpanKindServer:
		return 2
	case trace.SpanKindClient:
		return 3
	case trace.SpanKindProducer:
		return 4
	case trace.SpanKindConsumer:
		return 5
	case trace.SpanKindInternal, trace.SpanKindUnspecified:
	}
	return 1
}

func attributesOf(all []attribute.KeyValue) []otlpAttribute {
	out := make([]otlpAttribute, 0, len(all))
	for _, a := range all {
		value := map[string]any{"stringValue": a.Value.String()}
		switch a.Value.Type() { //nolint:exhaustive // all else is told as text
		case attribute.INT64:
			value = map[string]any{"intValue": a.Value.String()}
		case attribute.BOOL:
			value = map[string]any{"boolValue": a.Value.AsBool()}
		}
		out = append(out, otlpAttribute{string(a.Key), value})
	}
	return out
}
