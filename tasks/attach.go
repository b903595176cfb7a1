package tasks

import "ais_bench/outputs"

// Attachment is a file kept under configs/ with its hash in the manifest.
type Attachment struct {
	Kind   string // of outputs.ConfigFile: contract
	Name   string
	Origin string // where it came from
	Text   []byte
	Facts  map[string]any // put into the manifest's extra
}

// Attach keeps a file under configs/ of a run, with its hash in the manifest. A run
// that holds another one of the kind and name keeps both. It reports whether m was
// changed; writing it is the caller's affair.
func Attach(run *outputs.Run, m *outputs.Manifest, a Attachment) (bool, error) {
	before := len(m.Configs)
	if err := storeText(run, m, map[string]bool{}, max(len(m.Sessions), 1), a.Kind, a.Name, a.Origin, a.Text); err != nil {
		return false, err
	}
	changed := len(m.Configs) > before
	for k, v := range a.Facts {
		if m.Extra[k] != v {
			extra(m, k, v)
			changed = true
		}
	}
	return changed, nil
}

// AttachTo is Attach to a run that is over; it writes the manifest.
func AttachTo(run *outputs.Run, list ...Attachment) error {
	m, err := run.ReadManifest()
	if err != nil {
		return &EnvironmentError{err}
	}
	changed := false
	for _, a := range list {
		c, err := Attach(run, m, a)
		if err != nil {
			return &EnvironmentError{err}
		}
		changed = changed || c
	}
	if !changed {
		return nil
	}
	if err := run.WriteManifest(m); err != nil {
		return &EnvironmentError{err}
	}
	return nil
}
