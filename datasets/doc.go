// Package datasets knows WHAT is asked: a registry of data sets, the readers of
// their files, and the templates that turn a row into a prompt.
//
// Two kinds of YAML stand behind every name. A Source says where rows come from
// (licence, file layouts, hub repository, sub-sets); several configurations share
// it. A Config says how one benchmark asks them: template, few-shot examples,
// scorer, stop words, groups. Both are embedded; a user's directory adds
// configurations and overrides them by name.
//
// The usual path is OpenRegistry → Get or Select → Config.Load, which looks for
// the files in --dataset-path, $AIS_BENCH_DATASETS_CACHE and ./datasets_cache,
// reads them (JSON, JSONL, CSV, TSV, text lines and Parquet, plain or gzipped),
// and renders one Sample a row. The same configuration, files and seed give the
// same bytes. Custom makes a Config of a user's own file.
//
// Sub-package hub downloads what is missing; a Source names its repository.
package datasets
