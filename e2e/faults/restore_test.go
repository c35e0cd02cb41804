package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFaultsOldBackupRestored takes a backup under load, later loses the data and restores the backup. Messages
// accepted since are lost and counted. Messages due in between are held until an operator decides; in half of the
// rounds they are failed, and then none may be sent again.
func TestFaultsOldBackupRestored(t *testing.T) {
	twice := 0
	failed := false
	scenario{
		name: "old backup restored", engines: []string{"sqlite"}, setup: alone,
		rules: rules{retries: true, losses: true},
		round: func(s *site, name string) {
			failed = s.d.chance(50)
			file := filepath.Join(s.t.TempDir(), "backup")
			s.disturb(name, size, 2*time.Second, func(ctx context.Context) {
				pause(ctx, s.d.between(300*time.Millisecond, time.Second))
				s.command("backup", "--data="+s.dir, "--to="+file)
				pause(ctx, s.d.between(300*time.Millisecond, time.Second))
				s.x.kill()
				s.kills++
				s.back = time.Now()
				s.move(s.t.TempDir())
				s.command("restore", "--from="+file, "--data="+s.dir)
				s.x.start()
				decision := "send"
				if failed {
					decision = "fail"
				}
				s.command("restored", decision, "--url=http://"+s.x.addr, "--email="+operator, "--password="+password)
			})
		},
		check: func(s *site, l *ledger) {
			again := s.repeated(l)
			if failed && again > twice {
				l.fault("%d messages were sent again though it was decided that they fail", again-twice)
			}
			twice = again
		},
	}.run(t)
}

// repeated returns how many messages were sent again in an attempt unknown to the restored database. It does not count
// rescheduled ones: a message that was moved forward after the backup and sent is due again later. Nor does it count
// further attempts by a policy for unknown outcomes.
func (s *site) repeated(l *ledger) (n int) {
	moved := map[string]bool{}
	for _, a := range s.asks {
		moved[a.token] = a.move
	}
	for _, e := range l.entries {
		for i := range e.rows {
			for _, p := range e.rows[i].byAttempt {
				if p.count > 1 && !moved[e.campaign] {
					n++
				}
			}
		}
	}
	return n
}

// move gives the node another folder with only the master key.
func (s *site) move(dir string) {
	s.t.Helper()
	key, err := os.ReadFile(filepath.Join(s.dir, "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "master.key"), key, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for i, a := range s.x.args {
		if strings.HasPrefix(a, "--data=") {
			s.x.args[i] = "--data=" + dir
		}
	}
	s.dir = dir
	s.reopen("sqlite", sqliteFile(dir))
}

// command runs one of the program's commands.
func (s *site) command(args ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable(s.t), args...) // our own program
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("%s: %v\n%s", strings.Join(args[:2], " "), err, out)
	}
}

// The account of the installation's owner.
const (
	operator = "owner@faults.test"
	password = "correct-horse-battery"
)

func users() string {
	return fmt.Sprintf("    users: [{email: %s, password: %s, role: owner}]\n", operator, password)
}
