package widget

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"carillon/internal/store/widgets"
)

// maxSeen bounds the sites that a node remembers to have recorded.
const maxSeen = 10_000

// sites records the sites whose pages load widgets, each at most once per widgets.SeenEvery. Only the origin is recorded:
// neither pages nor visitors.
type sites struct {
	store *widgets.Store
	log   *slog.Logger
	now   func() time.Time

	mu   sync.Mutex
	seen map[[2]string]time.Time // by widget and origin
}

func newSites(s *widgets.Store, log *slog.Logger) *sites {
	return &sites{store: s, log: log, now: time.Now, seen: map[[2]string]time.Time{}}
}

// due reports whether a site is to be recorded, and then counts it as recorded.
func (s *sites) due(widget, origin string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{widget, origin}
	if at, ok := s.seen[key]; ok && now.Sub(at) < widgets.SeenEvery {
		return false
	}
	if len(s.seen) >= maxSeen { // the database has the same rule
		clear(s.seen)
	}
	s.seen[key] = now
	return true
}

// newSitesPerMinute bounds the writes for the sites of one widget: anyone can send any Origin.
const newSitesPerMinute = 30

// saw records that a page of an origin loaded a widget. The pages of this installation, such as the test page, do not count.
func (h *host) saw(ctx context.Context, f *companyWidget, origin string) {
	base, pages := h.addresses()
	if origin == originOf(base) || origin == originOf(pages) {
		return
	}
	if len(origin) > maxOriginLength || !validOrigin(origin) {
		origin = "" // of a web view, a sandboxed page or a file
	}
	now := h.sites.now()
	if !h.sites.due(f.ID, origin, now) {
		return
	}
	if _, err := h.limits.Allow(ctx, "widget sites/"+f.ID, newSitesPerMinute, 1); err != nil {
		return
	}
	x := widgets.Site{WidgetID: f.ID, Origin: origin, SeenAt: now}
	if err := h.sites.store.Saw(context.WithoutCancel(ctx), f.company.ID, x); err != nil {
		h.sites.log.WarnContext(ctx, "record a widget's site", "error", err)
	}
}

// maxOriginLength is a scheme, a host name of 253 characters, and a port.
const maxOriginLength = 8 + 253 + 6
