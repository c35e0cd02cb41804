package server

import (
	"log/slog"
	"strings"
	"testing"
)

func TestConnectionsLeaveRoomForOtherFiles(t *testing.T) {
	for _, c := range []struct{ most, open, want int }{
		{8192, 65536, 8192}, {8192, 16384, 8192}, {8192, 4096, 2048}, {0, 4096, 2048}, {1000, 4096, 1000}, {8192, 0, 8192}, {0, 0, 0},
	} {
		var log strings.Builder
		got := within(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), c.most, c.open)
		if got != c.want || (got != c.most) != strings.Contains(log.String(), "limit of open files") {
			t.Errorf("of %d connections with %d files it takes %d, want %d, and logs %q", c.most, c.open, got, c.want, log.String())
		}
	}
}
