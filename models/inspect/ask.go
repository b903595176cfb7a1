package inspect

import (
	"context"

	"ais_bench/models"
)

// Ask sends one GET request and returns the body of an answer with status 200, of
// at most 8 MiB.
func Ask(ctx context.Context, get *models.Getter, url string) ([]byte, error) {
	body, _, err := ask(ctx, get, url)
	return body, err
}
