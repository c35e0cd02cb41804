package faults

import (
	"bufio"
	"context"
	"database/sql"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/store/storetest"
)

// TestFaultsMovedToPostgreSQLAndBack moves the installation under load from SQLite to PostgreSQL and back. Before that,
// the command or the program is killed, in every phase of a move.
func TestFaultsMovedToPostgreSQLAndBack(t *testing.T) {
	scenario{
		name: "moved", engines: []string{"sqlite"}, short: true, setup: func(s *site) {
			for _, p := range s.providers {
				p.after = 20 * time.Second // a stop waits for responses, so no outcome is unknown
			}
			alone(s)
		},
		round: func(s *site, name string) {
			s.disturb(name+" there", size, 4*time.Second, func(ctx context.Context) {
				pause(ctx, s.d.between(300*time.Millisecond, time.Second))
				s.toPostgres(ctx)
			})
			s.held()
			s.report(s.awaitAndBalance(name+" there", rules{}))
			s.disturb(name+" back", size, 3*time.Second, func(ctx context.Context) {
				pause(ctx, s.d.between(300*time.Millisecond, time.Second))
				s.toSQLite(ctx)
			})
		},
		check: func(s *site, l *ledger) {
			if s.kills == 0 && l.unknown > 0 {
				l.fault("%d outcomes are unknown after a move", l.unknown)
			}
		},
	}.run(t)
}

// TestNoEventIsLostOrDoubledByAMove moves an installation in the middle of webhook deliveries. A renumbered event would
// come twice with one number, and leave another without an event.
func TestNoEventIsLostOrDoubledByAMove(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, "sqlite", 1)
	n := s.nodes[0]
	s.free.wire.arm(50)
	s.accept(n, 60)
	select {
	case <-s.free.wire.hit:
	case <-time.After(hung):
		t.Fatal("no events come")
	}
	dir := filepath.Dir(n.ready)
	url := storetest.EmptyPostgres(t)
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte(url), 0o600); err != nil {
		t.Fatal(err)
	}
	mover := site{t: t}
	if out, ok := mover.migrate(t.Context(), []string{"migrate", "--to-file=" + file, "--data=" + dir}, "", nil); !ok {
		t.Fatal(out)
	}
	<-n.ended
	var behind int
	if err := s.db.QueryRowContext(t.Context(), `SELECT SUM(t.seq - c.seq) FROM hook_cursor AS c
		JOIN event_topic AS t ON t.company_id = c.company_id AND t.topic = c.topic`).Scan(&behind); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d events were to be delivered at the time of the move", behind)
	n.args = append(n.args, "--database-url-file="+file, "--master-key-file="+filepath.Join(dir, "master.key"))
	n.start()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s.db = db
	s.accept(n, 5)
	s.balance()
}

// movePhases are the beginnings of the lines that `carillon migrate` prints.
var movePhases = []string{"copying", "catching up", "stopping", "comparing", "finishing"}

// toPostgres moves the installation to a new database and starts the node there. The command is killed once in each phase
// in some rounds, in others the program, in others nothing.
func (s *site) toPostgres(ctx context.Context) {
	s.t.Helper()
	url := storetest.EmptyPostgres(s.t)
	file := filepath.Join(s.t.TempDir(), "url")
	if err := os.WriteFile(file, []byte(url), 0o600); err != nil {
		s.t.Fatal(err)
	}
	args := []string{"migrate", "--to-file=" + file, "--data=" + s.dir}
	key := filepath.Join(s.dir, "master.key")
	switch s.d.IntN(3) {
	case 0:
		for _, p := range movePhases {
			s.migrate(ctx, args, p, func(cmd *exec.Cmd) { _ = cmd.Process.Kill() })
			s.kills++
			s.resumes(ctx)
		}
	case 1:
		s.migrate(ctx, args, movePhases[s.d.IntN(len(movePhases))], func(*exec.Cmd) { s.x.kill() })
		s.kills++
	}
	if !s.x.dead() || !s.moved() {
		if out, ok := s.migrate(ctx, args, "", nil); !ok {
			s.t.Fatalf("the installation was not moved:\n%s", out)
		}
	}
	<-s.x.ended
	if out, ok := s.migrate(ctx, args, "", nil); !ok || !strings.Contains(out, "was moved at") {
		s.t.Errorf("the second command responds\n%s", out)
	}
	s.url = url
	s.x.args = append(s.x.args, "--database-url-file="+file, "--master-key-file="+key)
	s.reopen("pgx", url)
	s.x.start()
}

// toSQLite stops the node and moves the installation back to the data folder.
func (s *site) toSQLite(ctx context.Context) {
	s.t.Helper()
	file, _ := strings.CutPrefix(s.x.args[len(s.x.args)-2], "--database-url-file=")
	args := []string{"migrate", "--from-file=" + file, "--data=" + s.dir}
	if out, ok := s.migrate(ctx, args, "", nil); ok || !strings.Contains(out, "a node runs on the PostgreSQL database") {
		s.t.Errorf("beside a node, the command responds\n%s", out)
	}
	if code := s.x.stop(30 * time.Second); code != 0 {
		s.t.Errorf("the node ended with %d", code)
	}
	if s.d.chance(50) {
		for _, p := range []string{"copying", "comparing", "finishing"} {
			s.migrate(ctx, args, p, func(cmd *exec.Cmd) { _ = cmd.Process.Kill() })
			s.kills++
		}
	}
	if out, ok := s.migrate(ctx, args, "", nil); !ok {
		s.t.Fatalf("the installation was not moved back:\n%s", out)
	}
	s.x.spawn() // still on PostgreSQL
	<-s.x.ended
	if log, _ := os.ReadFile(s.x.log); !strings.Contains(string(log), "was moved to SQLite") {
		s.t.Error("a node starts on the database that the installation was moved from")
	}
	s.url = ""
	s.x.args = slices.DeleteFunc(s.x.args, func(a string) bool {
		return strings.HasPrefix(a, "--database-url-file=") || strings.HasPrefix(a, "--master-key-file=")
	})
	s.reopen("sqlite", sqliteFile(s.dir))
	s.x.start()
}

// migrate runs the command, and calls at when it begins a phase. It returns the output, and whether the command succeeded.
func (s *site) migrate(ctx context.Context, args []string, phase string, at func(cmd *exec.Cmd)) (output string, ok bool) {
	s.t.Helper()
	return command(ctx, s.t, args, phase, at)
}

// command runs our program, and calls at when a line of its standard error begins with a phase. It returns the output, that on
// standard output first, and whether the command succeeded.
func command(ctx context.Context, t *testing.T, args []string, phase string, at func(cmd *exec.Cmd)) (output string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, hung)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable(t), args...) // our own program
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	dieWithUs(cmd)
	var printed, reported strings.Builder
	cmd.Stdout = &printed
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		reported.WriteString(lines.Text() + "\n")
		if at != nil && strings.HasPrefix(lines.Text(), phase) {
			at(cmd)
			at = nil
		}
	}
	ok = cmd.Wait() == nil
	return printed.String() + reported.String(), ok
}

// moved reports whether the program refuses to start on the data folder because the installation was moved.
func (s *site) moved() bool {
	s.t.Helper()
	s.x.spawn()
	if await(s.t.Context(), hung, func() bool {
		_, err := os.Stat(s.x.ready)
		return err == nil || s.x.dead()
	}); !s.x.dead() {
		return false
	}
	log, _ := os.ReadFile(s.x.log)
	return strings.Contains(string(log), "was moved to PostgreSQL")
}

// resumes waits until the program serves again after a command was killed, or has ended because the installation was
// moved before.
func (s *site) resumes(ctx context.Context) {
	s.t.Helper()
	if !await(ctx, hung, func() bool {
		if s.x.dead() {
			return true
		}
		r, err := http.Get("http://" + s.x.addr + "/readyz")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	}) {
		s.t.Error("the program does not serve after the command was killed")
	}
}
