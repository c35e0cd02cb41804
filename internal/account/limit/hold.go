package limit

import (
	"context"
	"time"
)

// Hold reserves a name for at most `most`. No other caller on any node can hold it in the meantime. release frees it;
// if the node dies, the reservation expires. held is false if another caller holds the name. Errors:
// service_unavailable if the database does not respond.
func (l *Limits) Hold(ctx context.Context, name string, most time.Duration) (release func(), held bool, err error) {
	now := l.Now()
	var windows []time.Time // all windows that the period touches, so that two holders always have one in common
	for at := now.Truncate(Window); !at.After(now.Add(most)); at = at.Add(Window) {
		windows = append(windows, at)
	}
	held = true
	reserved := 0
	for held && err == nil && reserved < len(windows) {
		if held, _, err = l.store.BorrowRate(ctx, "hold "+name, windows[reserved], 1, 1); held {
			reserved++
		}
	}
	release = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxRelease)
		defer cancel()
		for _, at := range windows[:reserved] {
			if err := l.store.ReturnRate(ctx, "hold "+name, at, 1); err != nil {
				l.log.WarnContext(ctx, "give back what was held", "error", err)
			}
		}
		if _, err := l.store.DropRates(ctx, now.Truncate(Window), sweepMax); err != nil {
			l.log.WarnContext(ctx, "delete old rates", "error", err)
		}
	}
	if err != nil || !held {
		release()
		if err != nil {
			return nil, false, unavailable(err)
		}
		return nil, false, nil
	}
	return release, true, nil
}

const maxRelease = 5 * time.Second
