package mathequiv

// Equal reports whether pred states the same answer as gold. Both are answers
// (the content of \boxed{}), not whole replies: use Extract first. reason is one
// short line saying by which rule they are equal, or how they differ.
func Equal(gold, pred string) (equal bool, reason string) {
	if gold == pred {
		return true, "identical text"
	}
	return false, "different text"
}
