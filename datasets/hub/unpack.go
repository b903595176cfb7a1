package hub

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxUnpacked bounds what an archive may unpack to.
const maxUnpacked = 64 << 30

// Unpack extracts a zip archive into its own directory and returns the files.
// A file appears under its name only when it is whole. Names that lead out of the
// directory, encrypted entries and archives beyond 64 GiB are refused.
func Unpack(archive string) ([]string, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", archive, err)
	}
	defer z.Close()
	dir := filepath.Dir(archive)
	var files []string
	var total uint64
	for _, f := range z.File {
		name := filepath.FromSlash(f.Name)
		switch {
		case strings.HasSuffix(f.Name, "/"), strings.HasPrefix(f.Name, "__MACOSX/"):
			continue
		case !filepath.IsLocal(name), !f.Mode().IsRegular():
			return files, fmt.Errorf("unpack %s: the entry %q is not a plain file below the directory; refused", archive, f.Name)
		case f.Flags&1 != 0:
			return files, fmt.Errorf("unpack %s: the entry %s is encrypted; unpack it yourself with the password its authors publish", archive, f.Name)
		}
		if total += f.UncompressedSize64; total > maxUnpacked {
			return files, fmt.Errorf("unpack %s: it holds more than %d bytes; refused", archive, uint64(maxUnpacked))
		}
		local := filepath.Join(dir, name)
		if err := extract(f, local); err != nil {
			return files, fmt.Errorf("unpack %s: %s: %w", archive, f.Name, err)
		}
		files = append(files, local)
	}
	return files, nil
}

func extract(f *zip.File, local string) error {
	if err := os.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(local + partSuffix)
	if err != nil {
		return err
	}
	// The reader checks size and CRC and fails at the end when they do not agree.
	_, err = io.Copy(out, io.LimitReader(in, int64(f.UncompressedSize64)+1))
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(local + partSuffix)
		return err
	}
	return os.Rename(local+partSuffix, local)
}
