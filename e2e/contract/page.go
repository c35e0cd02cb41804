package contract

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Page generates docs/reference/contract.md: the cases of each row.
func Page(rows []Row, files []File) []byte {
	shows := map[string][]string{}
	total := 0
	for _, f := range files {
		for _, c := range f.Cases {
			total++
			for _, id := range c.Rows {
				shows[id] = append(shows[id], f.Name+": "+c.Name)
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!-- Made by "go test ./e2e/contract -update" from testdata/contract. Do not edit. -->
# The contract and its cases

Each rule of the public interface and the cases in testdata/contract that show it: %d rules, %d cases. All run on SQLite and on
PostgreSQL (e2e/contract_test.go). Up to three cases of a file are named and the rest counted. Explanations: [README.md](README.md).
`, len(rows), total)
	section := ""
	for _, r := range rows {
		if r.Section != section {
			section = r.Section
			fmt.Fprintf(&b, "\n## %s\n\n| Rule | Meaning | Cases |\n|---|---|---|\n", section)
		}
		fmt.Fprintf(&b, "| %s<br>`%s` | %s | %s |\n", cell(r.Cell), r.ID, cell(r.Says), listed(shows[r.ID]))
	}
	return b.Bytes()
}

// listed names up to three cases of each file and counts the rest.
func listed(cases []string) string {
	var out []string
	perFile := map[string]int{}
	for _, c := range cases {
		file, _, _ := strings.Cut(c, ":")
		if perFile[file]++; perFile[file] <= 3 {
			out = append(out, cell(c))
		}
	}
	var files []string
	for file, n := range perFile {
		if n > 3 {
			files = append(files, fmt.Sprintf("%s: %d more", file, n-3))
		}
	}
	slices.Sort(files)
	return strings.Join(append(out, files...), "<br>")
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(s)
}
