package contract

import (
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"

	"ais_bench/summarizers/facts"
)

// compiled is a clause whose names have been looked up.
type compiled struct {
	root  condition
	facts []*facts.Fact // in the order of the text, each once
}

// defined reports whether every figure has a value.
func (c *compiled) defined() bool {
	for _, f := range c.facts {
		if !f.Defined() {
			return false
		}
	}
	return true
}

// compiler turns a source into a tree over the figures of a set.
type compiler struct {
	s      *source
	set    *facts.Set
	facts  []*facts.Fact
	member facts.Path // what # stands for, nil outside of all, any and none
}

func (s *source) compile(set *facts.Set) (*compiled, error) {
	c := &compiler{s: s, set: set}
	root, err := c.condition(s.root)
	if err != nil {
		return nil, err
	}
	return &compiled{root: root, facts: c.facts}, nil
}

// fact looks a name up; each figure is made once.
func (c *compiler) fact(n ast.Node) (*facts.Fact, error) {
	p, err := c.s.path(n, c.member != nil)
	if err != nil {
		return nil, err
	}
	if p[0] == "#" {
		p = append(slices.Clone(c.member), p[1:]...)
	}
	f, err := c.set.Lookup(p)
	if err != nil {
		return nil, c.s.at(n, "%w", err)
	}
	for _, known := range c.facts {
		if known.Name == f.Name {
			return known, nil
		}
	}
	c.facts = append(c.facts, f)
	return f, nil
}

// The types of an expression. unknown is a figure whose type the run will tell.
type kind int

const (
	unknown kind = iota
	numeric
	textual
	boolean
)

func (c *compiler) kind(n ast.Node) (kind, error) {
	switch x := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return numeric, nil
	case *ast.StringNode:
		return textual, nil
	case *ast.BoolNode, *ast.ConditionalNode:
		return boolean, nil
	case *ast.UnaryNode:
		if x.Operator == "!" || x.Operator == "not" {
			return boolean, nil
		}
		return numeric, nil
	case *ast.BinaryNode:
		if slices.Contains([]string{"+", "-", "*", "/"}, x.Operator) {
			return numeric, nil
		}
		return boolean, nil
	case *ast.BuiltinNode:
		if isQuantifier(x) {
			return boolean, nil
		}
		return numeric, nil
	case *ast.ArrayNode:
		return unknown, nil
	}
	f, err := c.fact(n)
	switch {
	case err != nil:
		return unknown, err
	case f.Kind == "":
		return unknown, nil
	case f.Kind != facts.Text:
		return numeric, nil
	}
	if _, ok := f.Text.(bool); ok {
		return boolean, nil
	}
	if f.Text == nil {
		return unknown, nil
	}
	return textual, nil
}

func (c *compiler) condition(n ast.Node) (condition, error) {
	switch x := n.(type) {
	case *ast.BoolNode:
		return truth{text{value: x.Value}}, nil
	case *ast.UnaryNode:
		if x.Operator == "!" || x.Operator == "not" {
			return c.logic("not", x.Node)
		}
	case *ast.ConditionalNode:
		return c.logic("if", x.Cond, x.Exp1, x.Exp2)
	case *ast.BuiltinNode:
		if isQuantifier(x) {
			return c.quantifier(x)
		}
	case *ast.BinaryNode:
		switch x.Operator {
		case "&&", "and":
			return c.logic("and", x.Left, x.Right)
		case "||", "or":
			return c.logic("or", x.Left, x.Right)
		case "<", "<=", ">", ">=", "==", "!=", "in", "contains", "startsWith", "endsWith":
			return c.comparison(x)
		}
	case *ast.IdentifierNode, *ast.MemberNode, *ast.PointerNode, *ast.ChainNode:
		k, err := c.kind(n)
		if err != nil {
			return nil, err
		}
		if k == boolean || k == unknown {
			f, err := c.fact(n)
			return truth{text{f: f}}, err
		}
	}
	return nil, c.s.at(n, "%s is no condition: compare it with something, as in perf.ttft.p99_ms <= 2000", c.s.shown(n))
}

func (c *compiler) logic(op string, nodes ...ast.Node) (condition, error) {
	l := logic{op: op}
	for _, n := range nodes {
		a, err := c.condition(n)
		if err != nil {
			return nil, err
		}
		l.args = append(l.args, a)
	}
	return l, nil
}

// quantifier writes all(accuracy, .value >= 0.8) out over the members.
func (c *compiler) quantifier(b *ast.BuiltinNode) (condition, error) {
	root := b.Arguments[0].(*ast.IdentifierNode).Value
	members, err := c.set.Members(root)
	if err == nil && len(members) == 0 {
		err = fmt.Errorf("%s has no members in this run", root)
	}
	if err != nil {
		return nil, c.s.at(b, "%w", err)
	}
	l := logic{op: "and"}
	if b.Name != "all" {
		l.op = "or"
	}
	for _, m := range members {
		c.member = facts.Path{root, m}
		a, err := c.condition(b.Arguments[1].(*ast.PredicateNode).Node)
		c.member = nil
		if err != nil {
			return nil, err
		}
		l.args = append(l.args, a)
	}
	if b.Name == "none" {
		return logic{op: "not", args: []condition{l}}, nil
	}
	return l, nil
}

// comparison is of numbers or of texts, as its sides are.
func (c *compiler) comparison(x *ast.BinaryNode) (condition, error) {
	left, err := c.kind(x.Left)
	if err != nil {
		return nil, err
	}
	list, isList := x.Right.(*ast.ArrayNode)
	if x.Operator == "in" {
		if !isList {
			return nil, c.s.at(x, "in needs a list, as in manifest.server_before.engine in [\"vllm\", \"sglang\"]")
		}
		return c.in(x, left, list)
	}
	right, err := c.kind(x.Right)
	if err != nil {
		return nil, err
	}
	words := slices.Contains([]string{"contains", "startsWith", "endsWith"}, x.Operator)
	order := slices.Contains([]string{"<", "<=", ">", ">="}, x.Operator)
	isText := func(k kind) bool { return k == textual || k == boolean }
	switch {
	case order && (isText(left) || isText(right)), words && (left == numeric || right == numeric),
		left == numeric && isText(right), right == numeric && isText(left):
		return nil, c.s.at(x, "%s cannot be compared with %s by %s: %s and %s", c.s.shown(x.Left), c.s.shown(x.Right), x.Operator, describe(left), describe(right))
	case words || isText(left) || isText(right):
		a, err := c.text(x.Left)
		if err != nil {
			return nil, err
		}
		b, err := c.text(x.Right)
		return match{x.Operator, a, []text{b}}, err
	}
	a, err := c.number(x.Left)
	if err != nil {
		return nil, err
	}
	b, err := c.number(x.Right)
	return comparison{x.Operator, a, b}, err
}

func describe(k kind) string {
	return map[kind]string{unknown: "something not known yet", numeric: "a number", textual: "a text", boolean: "yes or no"}[k]
}

// in is one of several texts or numbers.
func (c *compiler) in(x *ast.BinaryNode, left kind, list *ast.ArrayNode) (condition, error) {
	if len(list.Nodes) == 0 {
		return nil, c.s.at(x, "the list is empty")
	}
	if _, isText := list.Nodes[0].(*ast.StringNode); isText {
		if left == numeric {
			return nil, c.s.at(x, "%s is a number and the list holds texts", c.s.shown(x.Left))
		}
		a, err := c.text(x.Left)
		if err != nil {
			return nil, err
		}
		m := match{op: "in", a: a}
		for _, e := range list.Nodes {
			t, err := c.text(e)
			if err != nil {
				return nil, err
			}
			m.list = append(m.list, t)
		}
		return m, nil
	}
	a, err := c.number(x.Left)
	if err != nil {
		return nil, err
	}
	l := logic{op: "or"}
	for _, e := range list.Nodes {
		b, err := c.number(e)
		if err != nil {
			return nil, err
		}
		l.args = append(l.args, comparison{"==", a, b})
	}
	return l, nil
}

func (c *compiler) text(n ast.Node) (text, error) {
	switch x := n.(type) {
	case *ast.StringNode:
		return text{value: x.Value}, nil
	case *ast.BoolNode:
		return text{value: x.Value}, nil
	case *ast.IdentifierNode, *ast.MemberNode, *ast.PointerNode, *ast.ChainNode:
		f, err := c.fact(n)
		return text{f: f}, err
	}
	return text{}, c.s.at(n, "%s is no text", c.s.shown(n))
}

func (c *compiler) number(n ast.Node) (number, error) {
	switch x := n.(type) {
	case *ast.IntegerNode:
		return literal(x.Value), nil
	case *ast.FloatNode:
		return literal(x.Value), nil
	case *ast.UnaryNode:
		a, err := c.number(x.Node)
		if err != nil || x.Operator == "+" {
			return a, err
		}
		if l, ok := a.(literal); ok && x.Operator == "-" {
			return -l, nil
		}
		if x.Operator == "-" {
			return arithmetic{"neg", []number{a}}, nil
		}
	case *ast.BinaryNode:
		if !slices.Contains([]string{"+", "-", "*", "/"}, x.Operator) {
			break
		}
		a, err := c.number(x.Left)
		if err != nil {
			return nil, err
		}
		b, err := c.number(x.Right)
		if err != nil {
			return nil, err
		}
		return c.fold(n, arithmetic{x.Operator, []number{a, b}})
	case *ast.BuiltinNode:
		if isQuantifier(x) {
			break
		}
		if x.Name == "abs" && len(x.Arguments) != 1 || len(x.Arguments) == 0 {
			return nil, c.s.at(n, "%s takes one number", x.Name)
		}
		a := arithmetic{op: x.Name}
		for _, e := range x.Arguments {
			v, err := c.number(e)
			if err != nil {
				return nil, err
			}
			a.args = append(a.args, v)
		}
		return c.fold(n, a)
	case *ast.IdentifierNode, *ast.MemberNode, *ast.PointerNode, *ast.ChainNode:
		f, err := c.fact(n)
		if err != nil {
			return nil, err
		}
		if f.Kind == facts.Text {
			return nil, c.s.at(n, "%s is no number", f.Name)
		}
		return figure{f}, nil
	}
	return nil, c.s.at(n, "%s is no number", c.s.shown(n))
}

// fold computes what holds literals only, so that 2 * 1000 is a limit like 2000.
func (c *compiler) fold(n ast.Node, a arithmetic) (number, error) {
	values := make([]span, len(a.args))
	for i, x := range a.args {
		l, ok := x.(literal)
		if !ok {
			return a, nil
		}
		values[i] = point(float64(l))
	}
	v := a.apply(values)
	if math.IsInf(v.lo, 0) || math.IsInf(v.hi, 0) || math.IsNaN(v.lo) {
		return nil, c.s.at(n, "%s is no finite number: give a finite limit", c.s.shown(n))
	}
	if v.lo == v.hi {
		return literal(v.lo), nil
	}
	return a, nil
}
