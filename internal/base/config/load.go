package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// FileSuffix is appended to a secret's name for the file that contains it: the flag --database-url-file, the variable
// CARILLON_DATABASE_URL_FILE.
const FileSuffix = "-file"

// maxSecretFile bounds a secret's file, in bytes.
const maxSecretFile = 64 << 10

// Load reads the settings from flags, by name without dashes, and the environment. A flag takes precedence over the
// environment, which takes precedence over the default. An empty variable counts as not set. All errors are reported
// together. Each names the flag or variable that was used, and none contains the value of a secret.
func Load(flags map[string][]string, env func(name string) (value string, set bool)) (Config, error) {
	var c Config
	var faults []error
	for _, s := range Settings() {
		if err := s.load(&c, flags, env); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) == 0 {
		faults = append(faults, c.check())
	}
	return c, errors.Join(faults...)
}

func (s Setting) load(c *Config, flags map[string][]string, env func(string) (string, bool)) error {
	values, source, err := s.find(flags, env)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		if s.Default == "" {
			return nil
		}
		values, source = []string{s.Default}, "the default of --"+s.Name
	}
	if err := s.set(c, values); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return nil
}

// find returns the values of the first source that has any, and the name of that source.
func (s Setting) find(flags map[string][]string, env func(string) (string, bool)) ([]string, string, error) {
	values, source, err := s.pick(flags[s.Name], flags[s.Name+FileSuffix], "--"+s.Name, "--"+s.Name+FileSuffix)
	if err != nil || values != nil {
		return values, source, err
	}
	name := s.Env()
	return s.pick(s.split(env, name), s.split(env, name+"_FILE"), name, name+"_FILE")
}

// pick chooses between a value and the file that contains it. Setting both is an error.
func (s Setting) pick(direct, files []string, name, twin string) ([]string, string, error) {
	if !s.Secret || len(files) == 0 {
		return direct, name, nil
	}
	if len(direct) > 0 {
		return nil, "", fmt.Errorf("%s and %s are both set: set one of them", name, twin)
	}
	value, err := ReadSecretFile(files[len(files)-1])
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", twin, err)
	}
	return []string{value}, twin, nil
}

func (s Setting) split(env func(string) (string, bool), name string) []string {
	value, set := env(name)
	if !set || value == "" {
		return nil
	}
	if !s.List {
		return []string{value}
	}
	var all []string
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// ReadSecretFile reads a secret and removes its final line end.
func ReadSecretFile(name string) (string, error) {
	text, err := readLimited(name, maxSecretFile)
	if err != nil {
		return "", fmt.Errorf("read the secret's file: %w", err)
	}
	if len(text) > maxSecretFile {
		return "", fmt.Errorf("the secret's file %s is larger than %d bytes", name, maxSecretFile)
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if secret == "" {
		return "", fmt.Errorf("the secret's file %s is empty", name)
	}
	return secret, nil
}

// readLimited reads a file, but at most one byte more than the limit, so that the caller can detect a larger file.
func readLimited(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// check validates settings that depend on each other.
func (c *Config) check() error {
	var faults []error
	if c.Addr == "" {
		faults = append(faults, errors.New("--addr: must not be empty"))
	}
	if c.Data == "" {
		faults = append(faults, errors.New("--data: must not be empty"))
	}
	if c.DatabaseURL != "" && c.MasterKeyFile == "" {
		faults = append(faults, errors.New("--master-key-file: is required with --database-url, because every node must have the same key"))
	}
	if c.RequireSynchronous && c.DatabaseURL == "" {
		faults = append(faults, errors.New("--require-synchronous: needs --database-url, because SQLite has no standbys"))
	}
	if c.EventsOnly && c.DatabaseURL == "" {
		faults = append(faults, errors.New("--events-only: needs --database-url, because SQLite has one node, which does all work"))
	}
	if c.NATSURL != "" && c.DatabaseURL == "" {
		faults = append(faults, errors.New("--nats-url: needs --database-url, because NATS is only used between nodes, and SQLite has one"))
	}
	if c.NATSURL == "" && (c.NATSCredentials != "" || c.NATSCA != "") {
		faults = append(faults, errors.New("--nats-credentials-file, --nats-ca-file: need --nats-url"))
	}
	if c.OpsAddr != "" && c.OpsAddr == c.Addr && !strings.HasSuffix(c.Addr, ":0") {
		faults = append(faults, errors.New("--ops-addr: must differ from --addr"))
	}
	if given := c.MetaAppID != ""; given != (c.MetaAppSecret != "") || given != (c.MetaConfigID != "") {
		faults = append(faults, errors.New("--meta-app-id, --meta-app-secret and --meta-config-id: must be set together"))
	}
	return errors.Join(faults...)
}
