package contract

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"ais_bench/registry"
	"ais_bench/summarizers/facts"
)

// source is a clause as it was written: expr-lang's syntax, of which conditions on
// figures are made.
type source struct {
	text string
	root ast.Node
}

// parse reads an expression and refuses what no clause can be made of. Names are
// looked up later, when it is known what there is.
func parse(text string) (*source, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		var fe *file.Error
		if errors.As(err, &fe) {
			return nil, fmt.Errorf("expr %q, column %d: %s", registry.Excerpt(text, fe.Column+1), fe.Column+1, registry.Excerpt(registry.PlainNumber(strings.ReplaceAll(fe.Message, "\n", " ")), 0))
		}
		return nil, fmt.Errorf("expr %q: %w", registry.Excerpt(text, 0), err)
	}
	s := &source{text: text, root: tree.Node}
	if err := s.check(tree.Node, false); err != nil {
		return s, err
	}
	return s, s.decides(tree.Node)
}

// decides refuses a clause, or a part of one, that says the same of every run:
// true, 1 < 2, or perf.ttft.p99_ms <= 2000 || true. As the branch of ?: a constant
// is one of two answers.
func (s *source) decides(n ast.Node) error {
	constant := func(n ast.Node) error {
		return s.at(n, "%s is the same for every run and decides nothing: compare a figure with a limit, as in perf.ttft.p99_ms <= 2000", s.shown(n))
	}
	switch x := n.(type) {
	case *ast.UnaryNode:
		if x.Operator == "!" || x.Operator == "not" {
			return s.decides(x.Node)
		}
	case *ast.ConditionalNode:
		if err := s.decides(x.Cond); err != nil {
			return err
		}
		a, isA := x.Exp1.(*ast.BoolNode)
		b, isB := x.Exp2.(*ast.BoolNode)
		if isA && isB && a.Value == b.Value {
			return constant(n)
		}
		for _, branch := range []ast.Node{x.Exp1, x.Exp2} {
			if _, isBool := branch.(*ast.BoolNode); !isBool {
				if err := s.decides(branch); err != nil {
					return err
				}
			}
		}
		return nil
	case *ast.BinaryNode:
		if slices.Contains([]string{"&&", "and", "||", "or"}, x.Operator) {
			if err := s.decides(x.Left); err != nil {
				return err
			}
			return s.decides(x.Right)
		}
	case *ast.BuiltinNode:
		if isQuantifier(x) {
			if p, ok := x.Arguments[1].(*ast.PredicateNode); ok {
				return s.decides(p.Node)
			}
		}
	}
	if len(s.pathsIn(n)) == 0 {
		return constant(n)
	}
	return nil
}

// shown is a part of the text as an error line has it.
func (s *source) shown(n ast.Node) string { return registry.Excerpt(n.String(), 0) }

// at is an error at a node's place in the text.
func (s *source) at(n ast.Node, format string, args ...any) error {
	column := 1
	for i := range s.text {
		if i >= n.Location().From {
			break
		}
		column++
	}
	return fmt.Errorf("expr %q, column %d: %w", registry.Excerpt(s.text, column), column, fmt.Errorf(format, args...))
}

// functions may be called in a clause.
var functions = []string{"abs", "min", "max", "all", "any", "none"}

// operators may be used in a clause.
var operators = []string{"&&", "||", "and", "or", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "in", "contains", "startsWith", "endsWith"}

// check refuses what is not understood, with a word on what to write instead.
// inside is true within the condition of all, any or none.
func (s *source) check(n ast.Node, inside bool) error {
	children := []ast.Node{}
	switch x := n.(type) {
	case *ast.FloatNode:
		if math.IsInf(x.Value, 0) || math.IsNaN(x.Value) {
			return s.at(n, "the number is beyond what can be counted with: give a finite limit")
		}
	case *ast.IntegerNode, *ast.BoolNode, *ast.StringNode:
	case *ast.IdentifierNode, *ast.MemberNode, *ast.PointerNode, *ast.ChainNode:
		_, err := s.path(n, inside)
		return err
	case *ast.UnaryNode:
		if !slices.Contains([]string{"!", "not", "-", "+"}, x.Operator) {
			return s.at(n, "operator %s cannot be used in a clause", x.Operator)
		}
		children = append(children, x.Node)
	case *ast.BinaryNode:
		if !slices.Contains(operators, x.Operator) {
			return s.at(n, "operator %s cannot be used in a clause; there are %s", x.Operator, strings.Join(operators, " "))
		}
		children = append(children, x.Left, x.Right)
	case *ast.ConditionalNode:
		children = append(children, x.Cond, x.Exp1, x.Exp2)
	case *ast.ArrayNode:
		for _, e := range x.Nodes {
			switch e.(type) {
			case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
			default:
				return s.at(e, "a list holds texts or numbers, as in manifest.server_before.engine in [\"vllm\", \"sglang\"]")
			}
		}
	case *ast.BuiltinNode:
		if !slices.Contains(functions, x.Name) {
			return s.at(n, "function %s cannot be used in a clause; there are %s", x.Name, strings.Join(functions, ", "))
		}
		if isQuantifier(x) {
			return s.checkQuantifier(x, inside)
		}
		children = append(children, x.Arguments...)
	case *ast.CallNode:
		name := x.Callee.String()
		return s.at(n, "unknown function %s%s; there are %s", name, registry.DidYouMean(name, functions), strings.Join(functions, ", "))
	default:
		return s.at(n, "%s cannot be used in a clause", s.shown(n))
	}
	for _, c := range children {
		if err := s.check(c, inside); err != nil {
			return err
		}
	}
	return nil
}

func isQuantifier(b *ast.BuiltinNode) bool {
	return slices.Contains([]string{"all", "any", "none"}, b.Name)
}

// checkQuantifier checks all(accuracy, .value >= 0.8).
func (s *source) checkQuantifier(b *ast.BuiltinNode, inside bool) error {
	if inside {
		return s.at(b, "%s inside of %s cannot be used in a clause", b.Name, b.Name)
	}
	root, ok := b.Arguments[0].(*ast.IdentifierNode)
	if !ok || !slices.Contains([]string{"accuracy", "perf", "client", "server"}, root.Value) {
		return s.at(b, "%s goes through accuracy, perf, client or server, as in %s(accuracy, .value >= 0.8)", b.Name, b.Name)
	}
	p, ok := b.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return s.at(b, "%s needs a condition, as in %s(accuracy, .value >= 0.8)", b.Name, b.Name)
	}
	return s.check(p.Node, true)
}

// path reads a chain of members. Within a quantifier a name may begin with a dot: its
// path then begins with "#".
func (s *source) path(n ast.Node, inside bool) (facts.Path, error) {
	switch x := n.(type) {
	case *ast.IdentifierNode:
		return facts.Path{x.Value}, nil
	case *ast.PointerNode:
		if !inside || x.Name != "" {
			return nil, s.at(n, "# stands for a member inside of all, any or none only")
		}
		return facts.Path{"#"}, nil
	case *ast.ChainNode:
		return s.path(x.Node, inside)
	case *ast.MemberNode:
		head, err := s.path(x.Node, inside)
		if err != nil {
			return nil, err
		}
		key, ok := x.Property.(*ast.StringNode)
		if !ok {
			return nil, s.at(n, "write names in brackets in quotes, as in accuracy[\"gsm8k\"]")
		}
		return append(head, key.Value), nil
	}
	return nil, s.at(n, "%s is not the name of a figure", s.shown(n))
}

// paths are all names that are mentioned.
func (s *source) paths() []facts.Path { return s.pathsIn(s.root) }

// pathsIn are the names below a node.
func (s *source) pathsIn(n ast.Node) []facts.Path {
	var out []facts.Path
	var walk func(n ast.Node, root string)
	walk = func(n ast.Node, root string) {
		switch x := n.(type) {
		case *ast.IdentifierNode, *ast.MemberNode, *ast.PointerNode, *ast.ChainNode:
			if p, err := s.path(n, true); err == nil {
				if p[0] == "#" {
					p[0] = root
				}
				out = append(out, p)
			}
		case *ast.UnaryNode:
			walk(x.Node, root)
		case *ast.BinaryNode:
			walk(x.Left, root)
			walk(x.Right, root)
		case *ast.ConditionalNode:
			walk(x.Cond, root)
			walk(x.Exp1, root)
			walk(x.Exp2, root)
		case *ast.BuiltinNode:
			if isQuantifier(x) {
				id, isName := x.Arguments[0].(*ast.IdentifierNode)
				if p, ok := x.Arguments[1].(*ast.PredicateNode); ok && isName {
					walk(p.Node, id.Value)
				}
				return
			}
			for _, a := range x.Arguments {
				walk(a, root)
			}
		}
	}
	walk(n, "")
	return out
}
