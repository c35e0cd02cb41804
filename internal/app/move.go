package app

import (
	"context"
	"errors"
	"net"
	"time"

	"carillon/internal/edge/control"
	"carillon/internal/store"
)

const (
	movingReason = "The installation is being moved to another database"
	// freeWait is the time that a killed command may take to release the data folder.
	freeWait  = 30 * time.Second
	freeEvery = 50 * time.Millisecond
)

// move stops the program for a move of its installation (`carillon migrate`) and responds with 503 meanwhile. If the
// installation was not moved, the program starts again in this process, on the same address.
func (a *App) move(ctx context.Context, m *control.Move) error {
	away, err := a.server.NewAway(movingReason, a.log)
	if err != nil {
		m.Refuse(err)
		return a.serveUntil(ctx)
	}
	a.log.Info("stop for a move of the installation")
	if err := a.Stop(context.WithoutCancel(ctx)); err != nil { // the command finds out whether the data folder is free
		a.log.Error("stop for a move", "error", err)
	}
	if err := m.Stopped(); err != nil {
		a.log.Warn("the command that moves the installation has ended", "error", err)
	}
	moved := m.Wait(ctx)
	next := a.o
	next.listener = away.End()
	if moved || ctx.Err() != nil {
		a.log.Info("end", "moved", moved)
		return next.listener.Close()
	}
	a.log.Warn("the installation was not moved; start again")
	return a.again(ctx, next)
}

// again starts the program once more. A command that was killed may hold the data folder for another moment.
func (a *App) again(ctx context.Context, o Options) error {
	until := time.Now().Add(freeWait)
	for {
		lock, err := store.LockFolder(a.cfg.Data)
		if err == nil {
			err = lock.Close()
		}
		if !errors.Is(err, store.ErrFolderInUse) || time.Now().After(until) {
			break // the start reports other errors
		}
		select {
		case <-ctx.Done():
			return o.listener.Close()
		case <-time.After(freeEvery):
		}
	}
	next, err := New(a.cfg, o)
	if err == nil {
		err = next.Run(ctx)
	}
	if closing := o.listener.Close(); !errors.Is(closing, net.ErrClosed) { // still open if the start failed early
		err = errors.Join(err, closing)
	}
	return err
}

// askedToMove receives a request to stop for a move.
func (a *App) askedToMove(m *control.Move) {
	select {
	case <-a.stopping:
		m.Refuse(errors.New("it is stopping"))
	case a.moves <- m:
	default:
		m.Refuse(errors.New("another command has asked it"))
	}
}

// refuseMove refuses a request that came too late.
func (a *App) refuseMove() {
	select {
	case m := <-a.moves:
		m.Refuse(errors.New("it has stopped"))
	default:
	}
}
