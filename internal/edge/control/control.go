// Package control serves a socket in the data folder, accessible only to the program's own user, for operations that
// only the process owning the database can perform: backups, applying a set-up, moving a company, and stopping for a move. There is
// no socket on PostgreSQL.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"carillon/internal/base/config"
	"carillon/internal/edge/server"
	"carillon/internal/store"
	"carillon/internal/store/company"
)

const name = "carillon.sock"

// backupProgress is one line of the response to a backup request: the number of pages copied and, in the last line,
// whether the backup was made.
type backupProgress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Made  bool   `json:"made,omitempty"`
	Error string `json:"error,omitempty"`
}

// Control serves the socket.
type Control struct {
	Store  *store.Store
	Folder string
	Read   config.ProvisionOptions // options for reading set-ups
	Apply  func(ctx context.Context, p *config.Provision) (store.Summary, error)
	Warn   func(p *config.Provision) config.Problems // returns the parts that do not work with this program's settings
	Move   func(m *Move)                             // starts to stop the program
	// Company runs a command about companies.
	Company func(ctx context.Context, asked company.Request, report func(company.Progress)) (company.Reply, error)
	Log     *slog.Logger

	applying sync.Mutex // one at a time, to bound the memory for set-ups
}

// Run listens in the data folder and serves until ctx ends. A failure is only logged; backups and set-ups then require
// stopping the program.
func (c *Control) Run(ctx context.Context) error {
	if err := c.run(ctx); err != nil {
		c.Log.WarnContext(ctx, "cannot take backups and set-ups while running: no control socket", "error", err)
	}
	return nil
}

func (c *Control) run(ctx context.Context) error {
	path, release, err := shortName(c.Folder, name)
	if err != nil {
		return err
	}
	defer release()
	// A socket left by a killed process: only one process can own the folder, so it is safe to remove.
	if err := os.Remove(filepath.Join(c.Folder, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lc := net.ListenConfig{Control: privateSocket}
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return err
	}
	return c.serve(ctx, l)
}

func (c *Control) serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /backup", c.backup)
	mux.HandleFunc("POST /apply", c.applySetUp)
	mux.HandleFunc("POST /move", c.moving)
	mux.HandleFunc("POST /company", c.company)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: server.ReadHeaderTimeout, IdleTimeout: server.IdleTimeout}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() }) // ends a backup in progress
	defer stop()
	return server.IgnoreClosed(srv.Serve(l))
}

// backup copies the database and reports its progress in lines of JSON. It stops if the client disconnects.
func (c *Control) backup(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		To string `json:"to"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&asked); err != nil || !filepath.IsAbs(asked.To) {
		http.Error(w, "the file to write needs an absolute path", http.StatusBadRequest)
		return
	}
	connection := http.NewResponseController(w)
	report := func(p backupProgress) {
		_ = json.NewEncoder(w).Encode(p) // the client may have disconnected
		_ = connection.Flush()
	}
	var reported time.Time
	begin := time.Now()
	err := c.Store.Backup(r.Context(), asked.To, func(done, total int) {
		if done == total || time.Since(reported) > 100*time.Millisecond {
			reported = time.Now()
			report(backupProgress{Done: done, Total: total})
		}
	})
	if err != nil {
		c.Log.WarnContext(r.Context(), "back up", "error", err)
		report(backupProgress{Error: err.Error()})
		return
	}
	c.Log.InfoContext(r.Context(), "backed up", "took", time.Since(begin).Round(time.Millisecond).String())
	report(backupProgress{Made: true})
}

// Backup asks the program running on a data folder to copy its database to the file `to`, an absolute path that the
// program can write.
func Backup(ctx context.Context, dir, to string, progress store.Progress) error {
	c, release, err := client(dir)
	if err != nil {
		return err
	}
	defer release()
	body, err := json.Marshal(map[string]string{"to": to})
	if err != nil {
		return err
	}
	return askBackup(ctx, c, body, progress)
}

// client returns an HTTP client of the socket in a data folder, valid until release is called.
func client(dir string) (c *http.Client, release func(), err error) {
	path, closeFolder, err := shortName(dir, name)
	if err != nil {
		return nil, nil, err
	}
	at := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
	return &http.Client{Transport: at}, func() {
		at.CloseIdleConnections()
		closeFolder()
	}, nil
}

func askBackup(ctx context.Context, c *http.Client, body []byte, progress store.Progress) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://carillon/backup", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := c.Do(r)
	if err != nil {
		return fmt.Errorf("ask the running program for a backup: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
		return fmt.Errorf("the running program refused: %s", text)
	}
	for lines := json.NewDecoder(response.Body); ; {
		var c backupProgress
		if err := lines.Decode(&c); err != nil {
			return fmt.Errorf("the running program interrupted the backup: %w", err)
		}
		switch {
		case c.Error != "":
			return fmt.Errorf("the running program could not make the backup: %s", c.Error)
		case c.Made:
			return nil
		}
		progress(c.Done, c.Total)
	}
}
