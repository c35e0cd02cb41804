package e2e

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"carillon/e2e/instance"
	"carillon/internal/app"
	"carillon/internal/base/need"
	"carillon/internal/edge/api"
	"carillon/internal/edge/api/apitest"
	"carillon/internal/store/storetest"
)

// TestMain runs more tests in parallel than there are cores, since they mostly wait for deliveries.
func TestMain(m *testing.M) {
	const minParallel = 16
	flag.Parse()
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err == nil && n < minParallel {
		_ = flag.Set("test.parallel", strconv.Itoa(minParallel))
	}
	untilCalm() // daily limits are counted
	os.Exit(m.Run())
}

// untilCalm waits for the next UTC day if the present one ends within three minutes.
func untilCalm() {
	const day = 24 * time.Hour
	now := time.Now().UTC()
	if left := now.Truncate(day).Add(day).Sub(now); left < 3*time.Minute {
		<-time.After(left)
	}
}

// engines returns the databases to test the whole program on in this run.
func engines() []string {
	if need.Left("postgres") {
		return []string{"sqlite"}
	}
	return []string{"sqlite", "postgres"}
}

// program is a running Carillon.
type program struct {
	app      *app.App
	url      string
	database string // for storetest.Exec
}

// start runs the program with a set-up until the test ends.
func start(t *testing.T, engine, provision string) *program {
	t.Helper()
	return startWith(t, engine, provision, app.Options{}, nil)
}

// inOneMinute returns options that freeze the clock of request rates, so that its minute does not end.
func inOneMinute() app.Options {
	now := time.Now().Truncate(time.Minute).Add(15 * time.Second)
	return app.Options{Now: func() time.Time { return now }}
}

// startWith is start with options and further flags.
func startWith(t *testing.T, engine, provision string, o app.Options, more map[string][]string) *program {
	t.Helper()
	flags := map[string][]string{"provision": {provision}, "shutdown-timeout": {"60s"}}
	p := &program{}
	if engine == "postgres" {
		p.database = storetest.PatientPostgres(t)
		flags["database-url"] = []string{p.database}
		flags["master-key-file"] = []string{storetest.MasterKey(t)}
	}
	running := instance.Start(t, o, flags, more)
	if p.database == "" {
		p.database = filepath.Join(filepath.Dir(running.File), "carillon.db")
	}
	p.app, p.url = running.App, running.BaseURL
	return p
}

// description is the API description, read once.
var description = sync.OnceValues(func() (*apitest.Checker, error) {
	return apitest.New(api.OpenAPI())
})

// checked sends requests through next and checks every response against the API description.
func checked(t *testing.T, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	checker, err := description()
	if err != nil {
		t.Fatal(err)
	}
	return &apitest.Transport{Test: t, Checker: checker, Next: next}
}
