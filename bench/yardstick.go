package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"carillon/internal/store/storetest"
)

// yardF is the disk: what it takes to append a page to a file and have it kept, in the file system of the data folder.
type yardF struct{ dir string }

// measure gives the median of n fdatasyncs in milliseconds.
func (f *yardF) measure(n int) (float64, error) {
	file, err := os.Create(filepath.Join(f.dir, "fdatasync"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	page := make([]byte, 4096)
	took := make([]time.Duration, n)
	for i := range took {
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := syscall.Fdatasync(int(file.Fd())); err != nil {
			return 0, err
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return ms(took[n/2]), nil
}

// measureDisk tells the yardstick itself, once a round.
func (b *bench) measureDisk(context.Context) error {
	r := &row{figure: "Yardstick F: fdatasync of 4 KiB appended", how: "ms, median of 500"}
	for range b.rounds {
		f, err := b.disk.measure(500)
		if err != nil {
			return err
		}
		r.add(f, 0)
	}
	b.table.add(r)
	return nil
}

// bareHandler starts yardstick H and gives its address.
func (b *bench) bareHandler() (*child, string, error) {
	c, err := b.role("handler")
	if err != nil {
		return nil, "", err
	}
	addr, err := c.hear()
	return c, addr, err
}

// bareClient runs yardstick C against a provider and gives its messages a second.
func (b *bench) bareClient(p *provider, messages, workers int) (float64, error) {
	if err := p.forget(); err != nil {
		return 0, err
	}
	c, err := b.role("client", p.url+"/v23.0/1000001/messages", strconv.Itoa(messages), strconv.Itoa(workers))
	if err != nil {
		return 0, err
	}
	defer c.stop()
	seconds, err := c.number()
	return float64(messages) / seconds, err
}

// bareHash runs yardstick K and gives its hashes a second.
func (b *bench) bareHash(seconds int) (float64, error) {
	c, err := b.role("hash", strconv.Itoa(seconds))
	if err != nil {
		return 0, err
	}
	defer c.stop()
	return c.number()
}

func (c *child) number() (float64, error) {
	text, err := c.hear()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// provider is the pretended channel in a process of its own.
type provider struct {
	*child
	url string
}

func (b *bench) provider() (*provider, error) {
	c, err := b.role("provider")
	if err != nil {
		return nil, err
	}
	address, err := c.hear()
	return &provider{c, address}, err
}

// arrival is a message at the provider.
type arrival struct {
	ref string // notification.n.attempt
	at  time.Time
}

// arrivals are the posts since an instant, by time.
func (p *provider) arrivals(since time.Time) ([]arrival, error) {
	if err := p.tell("%d", since.UnixMicro()); err != nil {
		return nil, err
	}
	text, err := p.hear()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	all := make([]arrival, n)
	for i := range all {
		if text, err = p.hear(); err != nil {
			return nil, err
		}
		ref, at, _ := strings.Cut(text, " ")
		us, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, err
		}
		all[i] = arrival{ref, time.UnixMicro(us)}
	}
	slices.SortFunc(all, func(a, b arrival) int { return a.at.Compare(b.at) })
	return all, nil
}

// forget makes the provider as it was before any post: what it keeps of the last measurement costs the next one.
func (p *provider) forget() error {
	if err := p.tell("forget"); err != nil {
		return err
	}
	_, err := p.hear()
	return err
}

// count is how many messages have come since it was told to forget.
func (p *provider) count() (int, error) {
	if err := p.tell("count"); err != nil {
		return 0, err
	}
	text, err := p.hear()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// await waits until n messages have come since the provider was told to forget, and gives them.
func (p *provider) await(ctx context.Context, n int, within time.Duration) ([]arrival, error) {
	for deadline := time.Now().Add(within); ; {
		came, err := p.count()
		if err != nil {
			return nil, err
		}
		if came >= n {
			return p.arrivals(time.Time{})
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("only %d of %d messages came within %s", came, n, within)
		}
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// cluster is PostgreSQL with fsync and synchronous_commit on.
type cluster struct {
	dsn  string
	stop func() error
}

func startCluster() (*cluster, error) {
	dsn, stop, err := storetest.Durable()
	return &cluster{dsn, stop}, err
}

// database makes an empty database and gives its address, once the settings that durability rests on are seen to hold.
func (c *cluster) database(ctx context.Context, name string) (string, error) {
	db, err := sql.Open("pgx", c.dsn)
	if err != nil {
		return "", err
	}
	defer db.Close()
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := db.QueryRowContext(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return "", err
		}
		if value != "on" {
			return "", errors.New("PostgreSQL runs with " + setting + " " + value)
		}
	}
	return c.address(name), c.run(ctx, "CREATE DATABASE "+name)
}

// address is how to connect to one of its databases.
func (c *cluster) address(name string) string {
	u, err := url.Parse(c.dsn)
	if err != nil {
		return "" // the cluster's own address, which could be connected to
	}
	u.Path = "/" + name
	return u.String()
}

// run executes one statement on the cluster.
func (c *cluster) run(ctx context.Context, statement string) error {
	db, err := sql.Open("pgx", c.dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
