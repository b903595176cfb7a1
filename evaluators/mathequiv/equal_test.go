package mathequiv

import (
	"strings"
	"testing"
)

var equalCases = []struct {
	gold, pred string
	want       bool
}{
	// numbers
	{"42", "42.0", true}, {"0.5", `\frac12`, true}, {`\frac{1}{2}`, "1/2", true}, {`\frac{2}{4}`, `\frac12`, true}, {"1000", "1,000", true}, {"1,000", "1000", true},
	{"10,000", `10{,}000`, true}, {"900000000", `900,\!000,\!000`, true}, {"1000", "1e3", true}, {"1000", "10^3", true}, {"1000", "10^{3}", true}, {"25", "025", true}, {"-0", "0", true},
	{"3.5", "3 1/2", true}, {`3\frac{1}{2}`, "3.5", true}, {`12\frac{3}{5}`, `\frac{63}{5}`, true}, {`-1\frac12`, "-1.5", true}, {`1\frac{1}{10}`, "1.1", true}, {`1\frac{8}{91}`, `1\frac{1}{10}`, false},
	{`\frac13`, "0.333", false}, {`2\pi`, "6.28", false}, {"3.14159", `\pi`, false}, {"5", "6", false}, {"0.1", ".1", true}, {`0.1\overline{6}`, `\frac16`, true}, {`0.\overline{3}`, "1/3", true},
	{"100", "１００", true}, {"−5", "-5", true}, {`-\frac{7}{3}`, `\frac{-7}{3}`, true}, {`-\frac{7}{3}`, `\frac{7}{-3}`, true}, {"7", "seven", true}, {`\text{seven}`, "7", true}, {"1234", "1,235", false},
	{"1.5\\times 10^{-3}", "0.0015", true}, {"6.02 \\times 10^{23}", "602000000000000000000000", true}, {"2^{1000}", "2^{1000}+1", false}, {"2^{10}", "1024", true}, {"5!", "120", true}, {`\binom{5}{2}`, "10", true},
	// surds, constants
	{`2\sqrt{3}`, `\sqrt{12}`, true}, {`\frac{\sqrt{2}}{2}`, `\frac{1}{\sqrt2}`, true}, {`\sqrt{2}+\sqrt{3}`, `\sqrt{5+2\sqrt{6}}`, true}, {`\sqrt[3]{54}`, `3\sqrt[3]{2}`, true}, {`\sqrt{2}`, "1.41421356", false}, {`\sqrt{6}`, `\sqrt2\sqrt3`, true}, {`2^{1/2}`, `\sqrt{2}`, true},
	{`\sqrt[3]{-8}`, "-2", true}, {"2+3i", "3i+2", true}, {"i^2", "-1", true}, {"2i", "2j", true}, {"2i+j", "2j+j", false}, {`\frac{1}{i}`, "-i", true}, {`e^{i\pi}`, "-1", true}, {`7\pi`, `7 \pi`, true}, {`\frac{\pi}{2}`, `\pi/2`, true}, {`\ln 4`, `2\ln 2`, true}, {`\log_2 8`, "3", true}, {`\sin 30^\circ`, "1/2", true}, {`\cos\frac{\pi}{3}`, "0.5", true},
	{`\arctan 1`, `\frac{\pi}{4}`, true}, {`\frac{\sqrt5-1}{4}`, `\cos 72^\circ`, true}, {`\sqrt{3} + \sqrt{7}`, `\sqrt{3}+\sqrt{8}`, false}, {`\frac{1+\sqrt{5}}{2}`, `\frac{2}{\sqrt5-1}`, true}, {`4^{1/4}`, `\sqrt2`, true},
	// polynomials and rational functions
	{"(x+1)^2", "x^2+2x+1", true}, {"4a-2", "2(2a-1)", true}, {"4t", "4x", false}, {`\frac{x^2-1}{x-1}`, "x+1", true}, {`\frac{1}{x}+\frac1y`, `\frac{x+y}{xy}`, true}, {"ab", `a\!b`, true}, {"xy", "yx", true}, {"x^2y", "yx^{2}", true}, {"(x+1)(x-1)", "x^2-1", true}, {"(x+1)^{10}", "x^{10}+1", false},
	{`\sin^2 x+\cos^2 x`, "1", true}, {`\sin 2x`, `2\sin x\cos x`, true}, {`|x|`, `\sqrt{x^2}`, true}, {`|x|`, "x", false}, {`\sqrt{ab}`, `\sqrt{a}\sqrt{b}`, true}, {"2^{n+1}", `2\cdot 2^n`, true}, {"x_1+x_2", "x_2+x_1", true}, {`\frac{a}{b}c`, `\frac{ac}{b}`, true}, {`1/2x`, `\frac{x}{2}`, true},
	// units, currency, percent, degrees
	{"30", `30^\circ`, true}, {"30", `30^{\circ}`, true}, {"72", "72 degrees", true}, {"50", `50\%`, true}, {"0.5", `50\%`, true}, {"50%", "50", true}, {"0.5", "50", false}, {"20", `\$20`, true}, {"3.5", `\$3.50`, true}, {"12", `12\text{ cm}`, true}, {"5", `5\text{ meters per second}`, true}, {"12", "12 cm", true}, {`10\text{ cm}`, `0.1\text{ m}`, true}, {`10\text{ cm}`, `10\text{ m}`, false}, {`12\text{ cm}^2`, "12", true}, {"6", `6 \text{ apples}`, true}, {`\frac{\pi}{2}`, `90^\circ`, true}, {`60\,\mathrm{km/h}`, "60", true},
	{"25", `\text{25}`, true}, {"1.25", `1.25 \text{ hours}`, true}, {"3", "3 units", true}, {"18", `18 \text{ square units}`, true}, {"1000", `1000 \text{ dollars}`, true},
	// tuples, sets, lists
	{"(1,2)", "(1, 2)", true}, {"(1,2)", `\left(1,2\right)`, true}, {"(1,2)", "(2,1)", false}, {"(1,2)", "[1,2]", false}, {"3,4", "4,3", true}, {"3,4", "3,5", false}, {"4,5", "4 and 5", true}, {`\{1,2,3\}`, `\{3,2,1\}`, true}, {`\{1,2,3\}`, "1, 2, 3", true}, {"1,2,3", "{3,1,2}", true}, {`\{1,2\}`, "(1,2)", false}, {`\emptyset`, `\{\}`, true}, {"(1,2),(3,4)", "(3,4), (1,2)", true}, {`(\frac12, 3)`, "(0.5,3)", true}, {"1,000,000", "1000000", true}, {"100,200,300", "100, 200, 300", true}, {"(1,234)", "(1, 234)", true},
	{`\pm 3`, "3,-3", true}, {`-3, 3`, `\pm 3`, true}, {`1\pm\sqrt2`, `1+\sqrt2, 1-\sqrt2`, true}, {`x=\pm 2`, "2,-2", true}, {"5", "5,6", false}, {`3, 4`, `x = 3 \text{ or } x = 4`, true}, {"x=1,y=2", "y=2, x=1", true}, {"(1,2)", "x=1, y=2", true},
	// intervals, inequalities
	{"[1,2]", `x\in[1,2]`, true}, {"[1,2)", "[1,2]", false}, {`(2,\infty)`, "x>2", true}, {"x>2", `(2, \infty)`, true}, {`(-\infty, 3]`, `x \le 3`, true}, {`x \le 3`, `x\leq3`, true}, {"x<3", "3>x", true}, {"x<3", "x>3", false}, {"2<x<5", "(2,5)", true}, {`(-\infty,-1)\cup(1,\infty)`, `x<-1 \text{ or } x>1`, true}, {`(1,2)\cup(3,4)`, `(3,4) \cup (1,2)`, true}, {`(-\infty,\infty)`, `\mathbb{R}`, true}, {`\infty`, "infinity", true}, {`[0,\infty)`, `[0,+\infty)`, true}, {`\{x | x > 2\}`, "x>2", true}, {"a<3", "b<3", false},
	// equations
	{"5", "x=5", true}, {"x=5", "5", true}, {"5", "5 = x", true}, {"y=2x+1", "y = 1+2x", true}, {"y=2x+1", "2x-y+1=0", true}, {"y=2x+1", "f(x)=2x+1", true}, {"2x+1", "f(x)=2x+1", true}, {"x+y=3", "2x+2y=6", true}, {"x+y=3", "x+y=4", false}, {"x=5", "y=5", false}, {`\frac12`, `\frac{2}{4} = \frac12`, true}, {"3", "abc=3", true}, {`x^2+y^2=4`, `\frac{x^2}{4}+\frac{y^2}{4}=1`, true}, {`\pi`, `\pi \approx 3.14`, true},
	// matrices and vectors
	{`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, `\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}`, true}, {`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, `\begin{pmatrix}1&3\\2&4\end{pmatrix}`, false}, {`\begin{pmatrix} 1 \\ 2 \end{pmatrix}`, "(1,2)", true}, {`\begin{pmatrix} \frac12 \\ 2 \end{pmatrix}`, `\begin{pmatrix} 0.5 \\ 2 \end{pmatrix}`, true},
	// text, choices, times, bases, ratios
	{`\text{(B)}`, "B", true}, {"(A)", "A", true}, {"B", `\text{B}`, true}, {"B", "(B) 5", true}, {"B", "C", false}, {"B", `\textbf{(B)}\ 12`, true}, {`\text{Yes}`, "yes", true}, {`\text{Evelyn}`, "Evelyn", true}, {"even", "odd", false}, {"even", "not even", false}, {`\text{no solution}`, "No solution.", true}, {`4:30\text{ p.m.}`, "4:30 PM", true}, {`4:30\text{ p.m.}`, "4:30", true}, {`4:30\text{ p.m.}`, "16:30", true}, {`4:30\text{ p.m.}`, `4:30 \text{ a.m.}`, false}, {"3:4", "6:8", true}, {"3:4", "4:3", false}, {"3:4", `\frac34`, true}, {"1011_2", "1011", true}, {"1011_2", "1011_{2}", true}, {"101_2", "5", true}, {"11_3", "100_2", true}, {`x \text{ is even}`, "x", false}, {"3 \\pmod 5", "3", true},
	// step functions, factorials and function values
	{`\lceil n / 2\rceil+1`, "2", false}, {`\lfloor\log_2 n\rfloor+1`, "1", false}, {`\lfloor n/2\rfloor+\lceil n/2\rceil`, "n", true}, {"n!", `n\cdot(n-1)!`, true}, {`\binom{n}{2}`, `\frac{n(n-1)}{2}`, true}, {"I(0)", "0", false}, {"f(0)=3", "3", true},
	// words and conditions
	{"25", "twenty-five", true}, {"25", `\text{twenty five}`, true}, {"10", "10 percent", true}, {"0.1", `10 \text{ percent}`, true}, {`\frac{\pi}{6}+2k\pi`, `\frac{\pi}{6}+2k\pi, k\in\mathbb{Z}`, true}, {`(-\infty,2)\cup(2,\infty)`, `x \ne 2`, true}, {`\mathbb{R}\setminus\{2\}`, `x \neq 2`, true}, {`0.\dot{3}`, `\frac13`, true}, {`1.5 \text{ hours}`, `90 \text{ minutes}`, true}, {`5 \text{ cm}`, "5厘米", true},
	// punctuation inside numbers is never text
	{"18", "1.8", false}, {"12", "1,2", false}, {"13", "1,3", false}, {"5", "5am", false},
	// nothing like it
	{"5", "", false}, {"", "5", false}, {"100", "一百", false}, {"x", `\frac{1}{0}`, false},
	{"10^{10^{10}}", "10^{10^{10}}", true}, {"10^{10^{10}}", "10^{10^{11}}", false},
}

func TestEqual(t *testing.T) {
	for _, c := range equalCases {
		got, reason := Equal(c.gold, c.pred)
		if got != c.want {
			t.Errorf("Equal(%q, %q) = %v (%s), want %v", c.gold, c.pred, got, reason, c.want)
		}
		if reason == "" || strings.Contains(reason, "\n") {
			t.Errorf("Equal(%q, %q): reason %q is not one line", c.gold, c.pred, reason)
		}
	}
}

// TestEqualIsSymmetric checks the pairs for which neither side is a mere choice
// letter or a shorthand.
func TestEqualIsSymmetric(t *testing.T) {
	for _, c := range equalCases {
		if choiceLetter(clean(c.gold)) != "" || choiceLetter(clean(c.pred)) != "" {
			continue
		}
		a, _ := Equal(c.gold, c.pred)
		b, why := Equal(c.pred, c.gold)
		if a != b {
			t.Errorf("Equal(%q, %q) = %v but the other way round %v (%s)", c.gold, c.pred, a, b, why)
		}
	}
}

func TestEqualWithin(t *testing.T) {
	for _, c := range []struct {
		gold, pred string
		rel        float64
		want       bool
	}{{"6.28", `2\pi`, 1e-3, true}, {"6.28", `2\pi`, 1e-5, false}, {"0.2778", `\frac{5}{18}`, 1e-3, true}, {"5", "x", 1, false}, {"4.5e33", `4.49\times 10^{33}`, 0.01, true}} {
		if got, why := EqualWithin(c.gold, c.pred, c.rel); got != c.want {
			t.Errorf("EqualWithin(%q, %q, %g) = %v (%s)", c.gold, c.pred, c.rel, got, why)
		}
	}
}

func TestExtract(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`So the value is $\boxed{42}$.`, "42"}, {`First \boxed{1}, then \boxed{2}`, "2"}, {`\boxed{\frac{3}{4}}`, `\frac{3}{4}`}, {`\boxed{\boxed{9}}`, "9"}, {`\boxed{{5}}`, "5"}, {`\boxed 7`, "7"}, {`is $\boxed 7$ exactly`, "7"}, {`\fbox{12}`, "12"},
		{`\boxed{1} \boxed{unclosed`, "1"}, {`\boxed{a\}b}`, `a\}b`}, {`$x=\boxed{2}$ and $y=\boxed{3}$`, "2, 3"}, {`<think>\boxed{3}</think>The final answer is \boxed{4}`, "4"}, {"\\boxed{\n 12 \n}", "12"},
		{"The answer is 12.", "12"}, {"So the final answer is 3/4.", "3/4"}, {"he answer is: -5", "-5"}, {"ANSWER: 9", "9"}, {"**Answer:** $x^2$ holds", "x^2"}, {"答案：42", "42"}, {"所以答案是 $\\frac12$。", `\frac12`}, {"The answer is 5 because 2+3=5", "5"}, {"#### 1,234", "1,234"}, {"The final answer is $5$. I hope it is correct.", "5"},
		{"We get $a=1$ and then $x+2$ follows", "x+2"}, {`hence \(y = 3\) .`, "y = 3"}, {"I have 3 cats and 1,204 dogs", "1,204"}, {"costs 5-3", "3"}, {"it is -3", "-3"},
	} {
		got, ok := Extract(c.text)
		if !ok || got != c.want {
			t.Errorf("Extract(%q) = %q, %v; want %q", c.text, got, ok, c.want)
		}
	}
	if a, ok := Extract("I do not know"); ok {
		t.Errorf("found %q in a reply without an answer", a)
	}
}

// TestHostile feeds what a broken or malicious model could write. It fails by
// panicking or by not ending.
func TestHostile(t *testing.T) {
	deep := strings.Repeat(`\frac{1}{`, 5000) + "x" + strings.Repeat("}", 5000)
	inputs := []string{
		"10^{10^{10^{10}}}", "9^9^9^9^9", strings.Repeat("(", 60000), strings.Repeat(`\sqrt{`, 10000), deep, strings.Repeat("9", 60000), strings.Repeat("9", 3000) + "^{" + strings.Repeat("9", 3000) + "}",
		"(a+b+c+d+e+f+g+h)^{200}", "1e999999999", "1e-999", strings.Repeat("x+", 3000) + "x", strings.Repeat("1,", 3000) + "1", strings.Repeat(`\{`, 100) + strings.Repeat(`\}`, 100), `\frac{0}{0}`, "0^0", "0^{-1}", `\log 0`, `\tan \frac{\pi}{2}`, "1500!!", "100000!", `\binom{5000}{2500}`,
		`\sin(` + strings.Repeat(`\sin(`, 50) + "x" + strings.Repeat(")", 51), strings.Repeat("|", 999), "\\", "\\boxed{", "$", "^", "_", "1_", "x_{", "\x00\xff\xfe", strings.Repeat("\\boxed{", 20000), `2^{2^{2^{2^{2^{2}}}}}`, `e^{e^{e^{e^{e}}}}`, `\sqrt[10000000000]{2}`, `(-8)^{1/3}`, strings.Repeat("e^", 100) + "x",
		strings.Repeat("(1,2),", 1000) + "(1,2)", strings.Repeat(`\pm 1 +`, 1000) + "1", `\begin{pmatrix}` + strings.Repeat(`1&`, 2000) + `1\end{pmatrix}`,
	}
	big := strings.Repeat("ab ", 400_000)
	for i, a := range inputs {
		Extract(a)
		Equal(a, inputs[(i+1)%len(inputs)])
		Equal(a, a+" ")
		Equal("1", a)
		Equal(a, `\sqrt{x+1}`)
	}
	Extract(big)
	Equal(big, big)
	Extract(strings.Repeat(`\boxed{1}`, 100_000))
	Extract(strings.Repeat(`answer is `, 100_000))
}

func FuzzEqual(f *testing.F) {
	for _, c := range equalCases {
		f.Add(c.gold, c.pred)
	}
	f.Fuzz(func(t *testing.T, gold, pred string) {
		Extract(gold)
		a, why := Equal(gold, pred)
		b, _ := Equal(gold, pred)
		if a != b || why == "" {
			t.Errorf("Equal(%q, %q) is not deterministic or gives no reason", gold, pred)
		}
	})
}

func BenchmarkEqual(b *testing.B) {
	for b.Loop() {
		for _, c := range equalCases {
			Equal(c.gold, c.pred)
		}
	}
}
