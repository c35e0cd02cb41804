package app

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// checkRestored refuses to run on a database whose marking after a restore broke off, and tells whoever reads the log
// while something is held.
func (a *App) checkRestored(ctx context.Context) error {
	r, err := a.store.Restored(ctx)
	if err != nil || r == nil {
		return err
	}
	if r.Broken {
		return errors.New("the marking of this restored database broke off, and what is due could be sent a second time: " +
			"run `carillon restored mark` again before the program starts")
	}
	a.log.WarnContext(ctx, "this database was restored: what was due by then is held until `carillon restored send` or `fail`",
		"restored_at", r.At, "messages", r.Total())
	return nil
}

// restoredMetric tells that an operator has to decide.
func (a *App) restoredMetric() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "carillon_restored", Help: "1 while messages are held after a restore, until the operator sends or fails them.",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
		defer cancel()
		at, _, err := a.store.RestoredAt(ctx)
		return oneIf(err == nil && !at.IsZero())
	})
}
