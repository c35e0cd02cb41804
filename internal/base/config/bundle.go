package config

import (
	"fmt"
	"os"
)

// Bundle is a set-up with all its inputs: the texts of its files and the values that they reference by {env: NAME} and
// {file: PATH}. A command sends it to a running program, which has a different environment and different file
// permissions but reports problems at the same positions. It contains secrets.
type Bundle struct {
	Files []BundleFile      `json:"files"`
	Env   map[string]string `json:"env"`     // by name
	Read  map[string]string `json:"secrets"` // by path
}

// BundleFile is one file of a set-up.
type BundleFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// ReadBundle is like ReadProvision but also returns the inputs that Bundle.Provision needs.
func ReadBundle(files []string, o ProvisionOptions) (*Bundle, *Provision, error) {
	b := &Bundle{Env: map[string]string{}, Read: map[string]string{}}
	for _, name := range files {
		text, err := readLimited(name, maxProvision)
		if err != nil {
			return nil, nil, fmt.Errorf("read the set-up: %w", err)
		}
		b.Files = append(b.Files, BundleFile{name, string(text)})
	}
	env, file := o.Env, o.File
	if env == nil {
		env = os.LookupEnv
	}
	if file == nil {
		file = ReadSecretFile
	}
	o.Env = func(name string) (string, bool) {
		s, set := env(name)
		if set {
			b.Env[name] = s
		}
		return s, set
	}
	o.File = func(path string) (string, error) {
		s, err := file(path)
		if err == nil {
			b.Read[path] = s
		}
		return s, err
	}
	p, err := b.parse(o)
	return b, p, err
}

// Provision validates the set-up from the bundle alone, without its files and environment.
func (b *Bundle) Provision(o ProvisionOptions) (*Provision, error) {
	o.Env = func(name string) (string, bool) {
		s, set := b.Env[name]
		return s, set
	}
	o.File = func(path string) (string, error) {
		s, found := b.Read[path]
		if !found {
			return "", os.ErrNotExist
		}
		return s, nil
	}
	return b.parse(o)
}

func (b *Bundle) parse(o ProvisionOptions) (*Provision, error) {
	r := newReader(o)
	for _, f := range b.Files {
		r.file(f.Name, []byte(f.Text))
	}
	return r.end()
}
