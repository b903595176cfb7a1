package evaluators

import "context"

// Judge is a model that is asked for a verdict. It is given by whoever runs the
// evaluation, as option "judge" (one) or "judges" (several, majority wins).
// The error is that of the request and aborts the evaluation.
type Judge interface {
	Ask(ctx context.Context, prompt string) (text string, err error)
}
