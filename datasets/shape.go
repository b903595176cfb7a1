package datasets

import (
	"fmt"
	"sort"
	"strings"

	"ais_bench/datasets/pyrandom"
)

// A shape brings a row of any layout its source accepts to the public columns,
// and finds the answer. The error dropped leaves the row out with its reason.
type shape func(row map[string]any, at position) ([]item, error)

// shapes are all shapes by name, composed from the lists beside their functions.
var shapes = func() map[string]shape {
	all := map[string]shape{}
	for _, list := range []map[string]shape{customShapes, choiceShapes, mathShapes, textShapes, codeShapes, longShapes} {
		for name, s := range list {
			all[name] = s
		}
	}
	return all
}()

func shapeNames() []string {
	names := make([]string, 0, len(shapes))
	for n := range shapes {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// dropped is the reason a row is left out, completing "they …".
type dropped string

func (d dropped) Error() string { return "row left out: it " + string(d) }

// shape applies the source's shape and finishes every item.
func (l *loader) shape(row map[string]any, at position) ([]item, error) {
	items := []item{{fields: row, correct: -1}}
	if l.src.Shape != "" {
		var err error
		if items, err = shapes[l.src.Shape](row, at); err != nil {
			return nil, err
		}
	}
	for i := range items {
		var err error
		if items[i], err = l.finish(items[i], at); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// The orders options may be brought into. Each is a published one, so that its
// gold letters can be compared with results measured elsewhere.
const (
	OrderRotate    = "rotate"     // AISBench's GPQA: row r, counted from 1, is rotated left by r mod 4
	OrderSample    = "sample"     // simple-evals' GPQA: one generator, sample(range(k), k) a row
	OrderShuffle   = "shuffle"    // one generator, shuffle() a row
	OrderByContent = "by_content" // evalscope's GPQA: a generator a row, seeded by the question's sha256
)

// ChoiceOrders are the names choice_order accepts.
var ChoiceOrders = []string{OrderRotate, OrderSample, OrderShuffle, OrderByContent}

// finish orders the options, writes them into the columns templates use, and
// fills in the gold answer.
func (l *loader) finish(it item, at position) (item, error) {
	gold := l.cfg.Gold()
	if it.options != nil {
		if len(it.options) > 26 {
			return it, fmt.Errorf("%d options; at most 26 have letters", len(it.options))
		}
		if l.cfg.ChoiceOrder != "" {
			it.order(l.choiceOrder(it, at))
		}
		it.letterOptions(gold)
	}
	if it.gold == "" && len(it.golds) > 0 {
		it.gold = it.golds[0]
	}
	if it.gold == "" && it.options == nil {
		it.gold = textOf(it.fields[gold])
	}
	if len(it.golds) > 0 && it.golds[0] != it.gold {
		it.golds = append([]string{it.gold}, it.golds...)
	}
	return it, nil
}

// choiceOrder is the permutation of a row's options: position → stored index.
func (l *loader) choiceOrder(it item, at position) []int {
	k := len(it.options)
	seed := l.cfg.ChoiceSeed
	switch l.cfg.ChoiceOrder {
	case OrderRotate:
		return rotation(k, at.index+1)
	case OrderByContent:
		perm := pyrandom.NewUint64(contentSeed(textOf(it.fields["question"]))).Perm(k)
		return perm
	}
	// One generator serves all rows in order; rows are asked for in ascending
	// order, but a sub-set restarts it.
	if l.rng == nil || at.index < l.rngNext {
		l.rng, l.rngNext = pyrandom.New(seed), 0
	}
	var perm []int
	for ; l.rngNext <= at.index; l.rngNext++ {
		if l.cfg.ChoiceOrder == OrderSample {
			perm = l.rng.Sample(k, k)
		} else {
			perm = l.rng.Perm(k)
		}
	}
	return perm
}

// rotation is 0…k-1 rotated left by n.
func rotation(k, n int) []int {
	p := make([]int, k)
	for i := range p {
		p[i] = (i + n) % k
	}
	return p
}

// order rearranges the options.
func (it *item) order(perm []int) {
	options := make([]string, len(perm))
	correct := it.correct
	for i, from := range perm {
		options[i] = it.options[from]
		if from == it.correct {
			correct = i
		}
	}
	it.options, it.correct = options, correct
}

// letterOptions writes the options as columns: A, B, …; options and labels as
// lists; options_str ("A. …" a line), options_paren ("(A) …") and options_bracket
// ("A) …"); and the right letter as the gold column, its text as answer_text.
func (it *item) letterOptions(gold string) {
	f := it.fields
	var dot, paren, bracket strings.Builder
	labels := make([]any, len(it.options))
	list := make([]any, len(it.options))
	for i, o := range it.options {
		x := letter(i)
		labels[i], list[i], f[x] = x, o, o
		fmt.Fprintf(&dot, "%s. %s\n", x, o)
		fmt.Fprintf(&paren, "(%s) %s\n", x, o)
		fmt.Fprintf(&bracket, "%s) %s\n", x, o)
	}
	f["options"], f["labels"] = list, labels
	f["options_str"] = strings.TrimSuffix(dot.String(), "\n")
	f["options_paren"] = strings.TrimSuffix(paren.String(), "\n")
	f["options_bracket"] = strings.TrimSuffix(bracket.String(), "\n")
	if it.gold == "" && it.correct >= 0 && it.correct < len(it.options) {
		it.gold = letter(it.correct)
	}
	f[gold] = it.gold
	if it.correct >= 0 && it.correct < len(it.options) {
		f["answer_text"] = it.options[it.correct]
	}
}

func letter(i int) string { return string(rune('A' + i)) }
