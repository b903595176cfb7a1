package ifeval

import "github.com/kljensen/snowball/english"

// fragments are what remains of contractions whose apostrophe cuts a word in two
// (didn't → didn, t); they are stop words too.
var fragments = wordSet("d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn")

// isStopWord knows the English words of the Snowball project's list.
func isStopWord(w string) bool { return english.IsStopWord(w) || fragments[w] }
