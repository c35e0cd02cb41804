package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"carillon/internal/store"
)

// The control socket lies in the data folder and is for whoever runs the program: backups are asked for here, because only
// the process that writes can copy the database without stopping others. There is none on PostgreSQL.

const controlName = "carillon.sock"

// copied is one line of the answer to a backup: how far it is, at last whether it was made.
type copied struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Made  bool   `json:"made,omitempty"`
	Error string `json:"error,omitempty"`
}

// openControl listens in the data folder. That it cannot does not stop the program: backups then need it stopped.
func (a *App) openControl(ctx context.Context) {
	if a.store.Engine() != "sqlite" {
		return
	}
	name, release, err := shortName(a.cfg.Data, controlName)
	if err == nil {
		err = os.Remove(filepath.Join(a.cfg.Data, controlName)) // of a process that was killed: the folder is ours
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	var l net.Listener
	if err == nil {
		lc := net.ListenConfig{Control: privateSocket}
		l, err = lc.Listen(ctx, "unix", name)
	}
	if err != nil {
		a.log.WarnContext(ctx, "cannot take backups while running: no control socket", "error", err)
		return
	}
	a.rest.Go(func() {
		defer release()
		a.serveControl(ctx, l)
	})
}

func (a *App) serveControl(ctx context.Context, l net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /backup", a.backup)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout}
	var done sync.WaitGroup
	done.Go(func() {
		<-ctx.Done()
		_ = server.Close() // it ends a backup that is being made
	})
	if err := ignoreClosed(server.Serve(l)); err != nil {
		a.log.WarnContext(ctx, "serve the control socket", "error", err)
	}
	done.Wait()
}

// backup copies the database and tells how far it is, a line at a time. Who leaves ends it.
func (a *App) backup(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		To string `json:"to"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&asked); err != nil || !filepath.IsAbs(asked.To) {
		http.Error(w, "the file to write is not named by its whole path", http.StatusBadRequest)
		return
	}
	control := http.NewResponseController(w)
	tell := func(c copied) {
		_ = json.NewEncoder(w).Encode(c) // who left has no need to know
		_ = control.Flush()
	}
	var told time.Time
	begin := time.Now()
	err := a.store.Backup(r.Context(), asked.To, func(done, total int) {
		if done == total || time.Since(told) > 100*time.Millisecond {
			told = time.Now()
			tell(copied{Done: done, Total: total})
		}
	})
	if err != nil {
		a.log.WarnContext(r.Context(), "back up", "error", err)
		tell(copied{Error: err.Error()})
		return
	}
	a.log.InfoContext(r.Context(), "backed up", "took", time.Since(begin))
	tell(copied{Made: true})
}

// Backup asks the program that runs on a data folder to copy its database into the file `to`, a whole path that the
// program can write.
func Backup(ctx context.Context, dir, to string, told store.Progress) error {
	name, release, err := shortName(dir, controlName)
	if err != nil {
		return err
	}
	defer release()
	body, err := json.Marshal(map[string]string{"to": to})
	if err != nil {
		return err
	}
	at := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", name)
	}}
	defer at.CloseIdleConnections()
	return askBackup(ctx, &http.Client{Transport: at}, body, told)
}

func askBackup(ctx context.Context, c *http.Client, body []byte, told store.Progress) error {
	r, err := newControlRequest(ctx, body)
	if err != nil {
		return err
	}
	answer, err := c.Do(r)
	if err != nil {
		return fmt.Errorf("ask the running program for a backup: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 4096))
		return fmt.Errorf("the running program refused: %s", text)
	}
	for lines := json.NewDecoder(answer.Body); ; {
		var c copied
		if err := lines.Decode(&c); err != nil {
			return fmt.Errorf("the running program broke off the backup: %w", err)
		}
		switch {
		case c.Error != "":
			return fmt.Errorf("the running program could not make the backup: %s", c.Error)
		case c.Made:
			return nil
		}
		told(c.Done, c.Total)
	}
}

func newControlRequest(ctx context.Context, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://carillon/backup", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}
