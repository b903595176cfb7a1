package mathequiv

import (
	"math/big"
	"strconv"
	"strings"
)

// kind tells what a node of the syntax tree is.
type kind uint8

const (
	kNum     kind = iota // val
	kSym                 // name: a variable or one of pi, e, i, infty
	kAdd                 // args
	kMul                 // args
	kDiv                 // args[0]/args[1]
	kPow                 // args[0]^args[1]
	kRoot                // the args[1]-th root of args[0], real where it can be
	kNeg                 // args[0]
	kPM                  // ±args[0]; name "-" is ∓
	kFunc                // name(args)
	kTuple               // name is its brackets: "()", "[)", "(]", "[]"
	kSet                 // args, unordered
	kList                // bare enumeration, unordered
	kUnion               // args
	kInter               // args
	kMinus               // args[0] \ args[1]
	kRel                 // args joined by ops
	kRatio               // args joined by ":"
	kMatrix              // rows in args, each a kTuple
	kWords               // name: words, or a unit when it multiplies something
	kPercent             // args[0] %
	kDegree              // args[0] in degrees
	kBase                // name: digits in base args[0]
)

type node struct {
	kind kind
	val  *big.Rat
	name string
	args []*node
	ops  []string // of kRel, one between two neighbours
	// integer marks a kNum written as plain digits, and literal a kDiv of two
	// of them: the parts of a mixed number.
	integer, literal bool
	// bracketed marks an expression in parentheses, which never takes part in a
	// mixed number.
	bracketed bool
}

func num(r *big.Rat) *node           { return &node{kind: kNum, val: r} }
func intNode(n int64) *node          { return num(big.NewRat(n, 1)) }
func sym(s string) *node             { return &node{kind: kSym, name: s} }
func op(k kind, args ...*node) *node { return &node{kind: k, args: args} }
func fn(name string, args ...*node) *node {
	return &node{kind: kFunc, name: name, args: args}
}

// key is the structure of a tree as text: equal keys mean equal trees. It is
// bounded by the size of the tree, which the lexer bounds.
func (n *node) key() string {
	var b strings.Builder
	n.writeKey(&b)
	return b.String()
}

func (n *node) writeKey(b *strings.Builder) {
	b.WriteString(strconv.Itoa(int(n.kind)))
	if n.val != nil {
		b.WriteString(n.val.RatString())
	}
	b.WriteString(n.name)
	for _, o := range n.ops {
		b.WriteString(o)
	}
	b.WriteByte('(')
	for i, a := range n.args {
		if i > 0 {
			b.WriteByte(' ')
		}
		a.writeKey(b)
	}
	b.WriteByte(')')
}

// has reports whether any node of the tree satisfies f.
func (n *node) has(f func(*node) bool) bool {
	if f(n) {
		return true
	}
	for _, a := range n.args {
		if a.has(f) {
			return true
		}
	}
	return false
}

// mapArgs returns n with every argument replaced.
func (n *node) mapArgs(f func(*node) *node) *node {
	if len(n.args) == 0 {
		return n
	}
	c := *n
	c.args = make([]*node, len(n.args))
	for i, a := range n.args {
		c.args[i] = f(a)
	}
	return &c
}
