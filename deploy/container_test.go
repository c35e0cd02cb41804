package deploy_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// service holds the checked fields of a service in the Compose file.
type service struct {
	Image       string                       `yaml:"image"`
	Build       struct{ Dockerfile string }  `yaml:"build"`
	Restart     string                       `yaml:"restart"`
	DependsOn   map[string]map[string]string `yaml:"depends_on"`
	Environment map[string]string            `yaml:"environment"`
	Secrets     []string                     `yaml:"secrets"`
	ReadOnly    bool                         `yaml:"read_only"`
	User        string                       `yaml:"user"`
	Drop        []string                     `yaml:"cap_drop"`
	Grace       string                       `yaml:"stop_grace_period"`
	Ports       []string                     `yaml:"ports"`
}

func TestComposeFileRunsTwoNodesOnOneDatabase(t *testing.T) {
	text, err := os.ReadFile("container/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]service           `yaml:"services"`
		Secrets  map[string]map[string]string `yaml:"secrets"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	ports := map[string]bool{}
	for name, s := range file.Services {
		for _, secret := range s.Secrets {
			if file.Secrets[secret]["file"] == "" {
				t.Errorf("%s takes the secret %s, which is no file", name, secret)
			}
		}
		for variable, value := range s.Environment {
			if path, found := strings.CutPrefix(value, "/run/secrets/"); found && !slices.Contains(s.Secrets, path) {
				t.Errorf("%s: %s names a secret that it does not take", name, variable)
			}
			if strings.HasPrefix(name, "node-") && !slices.Contains(variables(), variable) {
				t.Errorf("%s: the program has no setting %s", name, variable)
			}
		}
		if !strings.HasPrefix(name, "node-") {
			continue
		}
		grace, err := time.ParseDuration(s.Grace)
		if err != nil || grace < shutdown(t)+10*time.Second {
			t.Errorf("%s is killed after %q, while a stop may take %v", name, s.Grace, shutdown(t))
		}
		if !s.ReadOnly || s.User != "65532:65532" || !slices.Equal(s.Drop, []string{"ALL"}) || s.Restart != "always" ||
			s.DependsOn["database"]["condition"] != "service_healthy" || s.Build.Dockerfile != "deploy/container/Containerfile" {
			t.Errorf("%s: %+v", name, s)
		}
		for _, p := range s.Ports {
			ports[p] = true
		}
	}
	if len(file.Services) != 3 || len(ports) != 2 {
		t.Errorf("%d services at the ports %v", len(file.Services), ports)
	}
}

// A container of the guide is not killed before its calls have ended.
func TestGuidesContainerHasTimeToStop(t *testing.T) {
	text, err := os.ReadFile("../docs/guides/install.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`--stop-timeout (\d+) `).FindSubmatch(text)
	if m == nil {
		t.Fatal("install.md has no --stop-timeout")
	}
	given, err := time.ParseDuration(string(m[1]) + "s")
	if must := shutdown(t) + duration(t, "call-drain"); err != nil || given < must {
		t.Errorf("killed after %v, while a stop may take %v: %v", given, must, err)
	}
}

func TestContainerfileTakesTheToolchainOfTheModule(t *testing.T) {
	recipe := containerfile(t)
	module, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(module), "\ngo ")
	version, _, _ := strings.Cut(rest, "\n")
	if want := "golang:" + version + "-"; !strings.HasPrefix(recipe["FROM"][1], want) {
		t.Errorf("built from %s, not %s…", recipe["FROM"][1], want)
	}
	if !slices.Contains(recipe["COPY"], "--from=pages /source/web/dist web/dist") {
		t.Error("the program is built without the pages")
	}
	if recipe["FROM"][2] != "scratch" || recipe["USER"][0] != "65532:65532" || recipe["VOLUME"][0] != "/data" {
		t.Errorf("%v %v %v", recipe["FROM"], recipe["USER"], recipe["VOLUME"])
	}
}

// containerfile returns the arguments of each instruction, in the file's order.
func containerfile(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("container/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	recipe := map[string][]string{}
	for line := range strings.SplitSeq(strings.ReplaceAll(string(text), "\\\n", " "), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			instruction, arguments, _ := strings.Cut(line, " ")
			recipe[instruction] = append(recipe[instruction], arguments)
		}
	}
	return recipe
}
