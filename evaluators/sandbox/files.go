package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// validName accepts plain relative paths below the working directory.
func validName(name string) bool {
	return name != "" && filepath.IsLocal(name) && !strings.ContainsRune(name, 0)
}

// writeFiles puts the program's files below dir.
func writeFiles(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write program file: %w", err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return fmt.Errorf("write program file: %w", err)
		}
	}
	return nil
}

func firstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if s == "" {
		return "no message"
	}
	return s
}

// environment is all a program sees.
func environment(home, tmp string, extra []string) []string {
	return append([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin",
		"HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1",
	}, extra...)
}
