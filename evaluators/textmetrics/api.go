package textmetrics

// PRF is precision, recall and F-measure, each in [0,1].
type PRF struct{ P, R, F float64 }

// Rouge holds the scores of one prediction against one reference.
type Rouge struct{ R1, R2, RL, RLsum PRF }

// RougeScore agrees with Google's rouge_score with its default tokenizer
// (lower-cased runs of [a-z0-9]); stem applies its Porter stemmer to tokens
// longer than three letters. RLsum is the union LCS over lines.
func RougeScore(ref, pred string, stem bool) Rouge { return Rouge{} }

// RougeL agrees with the rouge-l of pltrdy's "rouge" package: whitespace tokens,
// sentences split at full stops, F with its 1e-8 in the denominator.
func RougeL(ref, pred string) PRF { return PRF{} }

// RougeChinese agrees with "rouge_chinese" on texts already cut into words joined
// by spaces; R1, R2 and RL are set.
func RougeChinese(ref, pred string) Rouge { return Rouge{} }

// SegmentChinese cuts Chinese text into words; the stand-in for jieba where no
// dictionary is at hand cuts Han text into characters and keeps other runs whole.
func SegmentChinese(s string) []string { return nil }

// BLEUTokenizer names a sacreBLEU tokenizer.
type BLEUTokenizer string

// The tokenizers.
const (
	Tok13a  BLEUTokenizer = "13a"
	TokZh   BLEUTokenizer = "zh"
	TokNone BLEUTokenizer = "none"
)

// CorpusBLEU agrees with sacrebleu.corpus_bleu (exponential smoothing, no
// effective order), on its scale of 0 to 100. refs[i] are the references of
// preds[i].
func CorpusBLEU(preds []string, refs [][]string, tok BLEUTokenizer) float64 { return 0 }

// SentenceBLEU agrees with sacrebleu.sentence_bleu (effective order), 0 to 100.
func SentenceBLEU(pred string, refs []string, tok BLEUTokenizer) float64 { return 0 }

// ChrF agrees with sacrebleu's chrF2 (character 6-grams, beta 2), 0 to 100, of a
// corpus with one reference each.
func ChrF(preds, refs []string) float64 { return 0 }

// NormalizeSQuAD lower-cases, deletes ASCII punctuation and the articles, and
// squeezes white space: the normalisation of SQuAD's official script.
func NormalizeSQuAD(s string) string { return s }

// ExactMatch compares after NormalizeSQuAD.
func ExactMatch(ref, pred string) bool { return false }

// TokenF1 is SQuAD's token F1 after NormalizeSQuAD.
func TokenF1(ref, pred string) PRF { return PRF{} }

// TokenF1Words is token F1 over words given as they are.
func TokenF1Words(ref, pred []string) PRF { return PRF{} }

// EditDistance is the Levenshtein distance in code points.
func EditDistance(a, b string) int { return 0 }

// ANLS is 1 − distance/longest of lower-cased, trimmed texts, 0 below the
// published threshold of 0.5; the best over refs.
func ANLS(refs []string, pred string) float64 { return 0 }

// Ratio is fuzzywuzzy's fuzz.ratio/100: 2·M/T by matching blocks as
// python-Levenshtein counts them, rounded to whole percent.
func Ratio(a, b string) float64 { return 0 }

// CodeSimilarity is LongBench's code_sim_score: the first line of pred that is
// not empty of code (no backquote, '#' or "//"), compared with Ratio.
func CodeSimilarity(ref, pred string) float64 { return 0 }
