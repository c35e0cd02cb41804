package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// completionScripts ask the program for candidates, so they never go out of date.
//
//nolint:gochecknoglobals // read only
var completionScripts = map[string]string{
	"bash": `# To load: source <(carillon completion bash)
_carillon() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$(carillon complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _carillon carillon
`,
	"zsh": `# To load: source <(carillon completion zsh)
_carillon() {
  local -a found
  found=(${(f)"$(carillon complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
compdef _carillon carillon
`,
	"fish": `# To load: carillon completion fish | source
complete -c carillon -f -a '(carillon complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

// Run prints the script.
func (c *completionCommand) Run(env *environment) error {
	_, err := fmt.Fprint(env.Stdout, completionScripts[c.Shell])
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints the candidates for the last word, one per line.
func (c *completeCommand) Run(_ context.Context, env *environment) error {
	parser, err := newParser(newCommands(), env, func(int) {})
	if err != nil {
		return err
	}
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, candidate := range candidates(parser.Model.Node, words) {
		if _, err := fmt.Fprintln(env.Stdout, candidate); err != nil {
			return err
		}
	}
	return nil
}

// candidates returns the commands, flags or values that can complete the last word.
func candidates(node *kong.Node, words []string) (all []string) {
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	var before *kong.Flag // the flag that takes the last word as its value
	for _, word := range words[:max(len(words)-1, 0)] {
		before = flagNamed(node, word)
		for _, child := range node.Children {
			if child.Name == word {
				node, before = child, nil
			}
		}
	}
	switch {
	case before != nil && !before.IsBool():
		all = slices.DeleteFunc(before.EnumSlice(), func(s string) bool { return s == "" })
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				all = append(all, "--"+f.Name)
			}
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				all = append(all, child.Name)
			}
		}
		for _, p := range node.Positional {
			all = append(all, p.EnumSlice()...)
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, last) })
}

func flagNamed(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if word == "--"+f.Name {
				return f
			}
		}
	}
	return nil
}
