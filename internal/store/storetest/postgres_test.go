//go:build unix

package storetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/store/db"
)

func TestEachTestHasItsOwnEmptyDatabase(t *testing.T) {
	first, second := EmptyPostgres(t), EmptyPostgres(t)
	if first == second {
		t.Fatalf("both tests got %s", first)
	}
	for _, dsn := range []string{first, second} {
		if err := execute(dsn, "CREATE TABLE company (id BIGINT)"); err != nil {
			t.Errorf("create the same table in each: %v", err)
		}
	}
}

func TestEachTestHasItsOwnMigratedDatabase(t *testing.T) {
	first, second := Postgres(t), Postgres(t)
	for _, dsn := range []string{first, second, filepath.Join(Folder(t), db.FileName), filepath.Join(Folder(t), db.FileName)} {
		if err := execute(dsn, "INSERT INTO meta (name, value) VALUES ('only here', 1)"); err != nil {
			t.Errorf("insert the same row in each: %v", err)
		}
	}
}

// The first of the processes that share a server makes the template. That of the schema is there by now: this one has another name.
func TestTheTemplateIsMadeOnce(t *testing.T) {
	c := reachable(t)
	name := "carillon_template_" + strings.ToLower(rand.Text()[:16])
	t.Cleanup(func() {
		if err := execute(c.dsn, "DROP DATABASE "+name); err != nil {
			t.Error(err)
		}
	})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := template(c.dsn, name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	dsn, err := withDatabase(c.dsn, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := execute(dsn, "INSERT INTO meta (name, value) VALUES ('template', 1)"); err != nil {
		t.Errorf("it has no schema: %v", err)
	}
}

// without ends a test that lacks something: it skips, and fails with CI set, where nothing may.
func without(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func TestDatabaseIsDroppedWithItsTest(t *testing.T) {
	need.Postgres(t)
	var dsn string
	t.Run("inner", func(t *testing.T) { dsn = Postgres(t) })
	if dsn == "" {
		without(t, "there was no database to drop")
	}
	if err := execute(dsn, "SELECT 1"); err == nil {
		t.Error("the database is still there")
	}
}

// helperEnv makes this test binary start a cluster, print its folder and wait to be killed.
const helperEnv = "CARILLON_TEST_CLUSTER_HELPER"

func TestClusterEndsWithAKilledProcess(t *testing.T) {
	if os.Getenv(helperEnv) != "" {
		u, err := url.Parse(Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("folder", u.Query().Get("host"))
		select {}
	}
	Postgres(t) // skips where there is no PostgreSQL
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir := killedHelper(ctx, t)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s is still there", dir)
		}
	}
}

// killedHelper starts a process with a cluster, kills it, and gives the cluster's folder.
func killedHelper(ctx context.Context, t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestClusterEndsWithAKilledProcess$")
	cmd.Env = append(os.Environ(), helperEnv+"=1", PostgresEnv+"=") // its own cluster, not the test run's
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	if _, err := fmt.Fscanf(out, "folder %s\n", &dir); err != nil || !strings.Contains(dir, "/carillon-pg-") {
		t.Fatalf("helper said %q: %v", dir, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the cluster's folder while it runs: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it was killed
	return dir
}

func TestClusterOutlivesTheGarbageCollector(t *testing.T) {
	dsn := Postgres(t)
	for range 3 {
		runtime.GC()
	}
	if err := execute(dsn, "SELECT 1"); err != nil {
		t.Errorf("after a collection: %v", err)
	}
}
