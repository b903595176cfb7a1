package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ais_bench/registry"
)

// placeholder is {name}. What a shell or JSON has in braces looks otherwise:
// ${NAME}, {a,b}, {"key": 1}. {{name}} is {name} itself.
var placeholder = regexp.MustCompile(`\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}|\$\{[^}]*\}|\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Expand fills the placeholders {name} of a command in. A placeholder without a
// value is an error that names it, and so is a value of required that the
// command does not use: it would change nothing.
func Expand(command string, values map[string]string, required ...string) (string, error) {
	used := map[string]bool{}
	var unknown []string
	text := placeholder.ReplaceAllStringFunc(command, func(m string) string {
		switch parts := placeholder.FindStringSubmatch(m); {
		case parts[1] != "":
			return "{" + parts[1] + "}"
		case parts[2] == "":
			return m
		}
		name := m[1 : len(m)-1]
		used[name] = true
		v, ok := values[name]
		if !ok && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
		return v
	})
	known := make([]string, 0, len(values))
	for k := range values {
		known = append(known, k)
	}
	slices.Sort(known)
	if len(unknown) > 0 {
		return "", fmt.Errorf("placeholder {%s} has no value%s; known: %s (write {{%s}} for braces that are meant as such)",
			strings.Join(unknown, "}, {"), registry.DidYouMean(unknown[0], known), strings.Join(known, ", "), unknown[0])
	}
	for _, name := range required {
		if !used[name] {
			return "", fmt.Errorf("the command does not use %s: put {%s} where its value belongs", name, name)
		}
	}
	return text, nil
}

// Uses reports whether a command has the placeholder.
func Uses(command, name string) bool {
	for _, m := range placeholder.FindAllStringSubmatch(command, -1) {
		if m[2] == name {
			return true
		}
	}
	return false
}
