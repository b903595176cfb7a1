package datasets

import "context"

// ReadFile calls yield for every row of a JSONL, JSON, CSV, TSV or Parquet file
// (plain or gzipped; the format follows the name), in order. where names the
// row in messages: path:line, or path: row n. An error of yield ends the
// reading and is returned.
func ReadFile(ctx context.Context, path string, yield func(row map[string]any, where string) error) error {
	return readRows(ctx, opener{}, path, Layout{}, yield)
}
