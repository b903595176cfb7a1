package mathequiv

import "strings"

// runeForms maps characters people type for mathematics to their LaTeX form.
var runeForms = map[rune]string{
	'−': "-", '–': "-", '—': "-", '‒': "-", '﹣': "-", '×': `\times `, '·': `\cdot `, '⋅': `\cdot `, '∙': `\cdot `, '÷': `\div `, '∗': "*",
	'π': `\pi `, '∞': `\infty `, '≤': `\le `, '⩽': `\le `, '≥': `\ge `, '⩾': `\ge `, '≠': `\ne `, '≈': `\approx `, '±': `\pm `, '∓': `\mp `,
	'∪': `\cup `, '∩': `\cap `, '∈': `\in `, '∖': `\setminus `, '∅': `\emptyset `, '°': `^\circ `, 'º': `^\circ `, '√': `\sqrt `, '∛': `\sqrt[3] `,
	'²': "^{2}", '³': "^{3}", '¹': "^{1}", '⁴': "^{4}", '⁵': "^{5}", '⁶': "^{6}", '⁷': "^{7}", '⁸': "^{8}", '⁹': "^{9}", '⁰': "^{0}",
	'½': `\frac{1}{2}`, '⅓': `\frac{1}{3}`, '⅔': `\frac{2}{3}`, '¼': `\frac{1}{4}`, '¾': `\frac{3}{4}`, '⅕': `\frac{1}{5}`, '⅖': `\frac{2}{5}`, '⅗': `\frac{3}{5}`, '⅘': `\frac{4}{5}`,
	'⅙': `\frac{1}{6}`, '⅚': `\frac{5}{6}`, '⅛': `\frac{1}{8}`, '⅜': `\frac{3}{8}`, '⅝': `\frac{5}{8}`, '⅞': `\frac{7}{8}`, '⁄': "/", '∕': "/",
	'ℝ': `\mathbb{R}`, 'ℤ': `\mathbb{Z}`, 'ℕ': `\mathbb{N}`, 'ℚ': `\mathbb{Q}`, 'ℂ': `\mathbb{C}`, 'θ': `\theta `, 'α': `\alpha `, 'β': `\beta `, 'γ': `\gamma `, 'λ': `\lambda `, 'φ': `\phi `, 'ω': `\omega `, 'μ': `\mu `, 'σ': `\sigma `, 'Δ': `\Delta `,
	'，': ",", '、': ",", '；': ";", '。': "", '⟨': `\langle `, '⟩': `\rangle `, '⌊': `\lfloor `, '⌋': `\rfloor `, '⌈': `\lceil `, '⌉': `\rceil `,
	'“': "", '”': "", '\u2009': " ", '\u00a0': " ", '\u3000': " ", '\u200b': "", '\u2061': "", '\u2062': "", '′': "'", '∶': ":", '∣': `\mid `, '…': `\ldots `, '€': "", '£': "", '¥': "", '￥': "",
}

// Commands that only lay out, and are skipped. \left and \right keep the
// delimiter that follows ("\left." is none).
var layoutCommands = set("displaystyle textstyle scriptstyle limits nolimits quad qquad big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm hspace vspace phantom thinspace rm bf it mathstrut strut hfill hline boldmath enspace middle ")

// Commands whose argument is the thing itself.
var unwrapCommands = set("boxed fbox mathbf boldsymbol bm vec hat bar widehat tilde mathit mathcal mathfrak mathsf underline ensuremath cancel bold pmb mathop")

// Commands whose argument is words.
var wordCommands = set("text mbox textbf textit textrm textsf texttt textnormal mathrm operatorname hbox emph mathtt textsc")

var bareFunctions = set("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth asin acos atan ln log lg exp sqrt cbrt max min gcd lcm abs floor ceil arccot arcsec arccsc det binom")

// letterUnits are short runs of letters that are a unit when a number stands
// before them and a product of variables otherwise.
var letterUnits = set("cm mm km kg mg ml mL nm mi ft lb lbs oz hr hrs min mins sec secs mph kph kmh rpm rad deg dm gal yd yr yrs ms Hz kHz MHz eV keV MeV kW kWh MW mol atm Pa kPa psi dB cal kcal USD EUR RMB sq cu dollars cents")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var shortWords = set("yes no true the is of per odd even are for if has day sun mon tue wed thu fri sat red to with not all day one")

var numberWords = map[string]string{"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20",
	"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "hundred": "100"}

// commandForms are synonyms.
var commandForms = map[string]string{"dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "sfrac": "frac", "leq": "le", "leqslant": "le", "leqq": "le", "geq": "ge", "geqslant": "ge", "geqq": "ge", "neq": "ne", "lt": "<", "gt": ">",
	"dbinom": "binom", "tbinom": "binom", "choose": "choose", "varnothing": "emptyset", "tan": "tan", "tg": "tan", "ctg": "cot", "arctg": "arctan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "lg": "lg",
	"ast": "*", "star": "*", "lvert": "|", "rvert": "|", "vert": "|", "lbrack": "[", "rbrack": "]", "langle": "(", "rangle": ")", "varphi": "phi", "varepsilon": "epsilon", "vartheta": "theta", "degree": "degree", "degrees": "degree",
	"percent": "%", "colon": ":", "R": "bb R", "reals": "bb R", "Z": "bb Z", "dots": "ldots", "cdots": "ldots", "dotsc": "ldots", "dotsb": "ldots", "lor": "lor", "vee": "lor", "land": "land", "wedge": "land", "sim": "approx", "simeq": "approx", "approxeq": "approx", "ratio": ":", "slash": "/"}
