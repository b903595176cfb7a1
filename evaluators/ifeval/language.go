package ifeval

import (
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"
)

// languageCodes are the languages that IFEval asks for.
var languageCodes = map[string]string{
	"en": "English", "es": "Spanish", "pt": "Portuguese", "ar": "Arabic", "hi": "Hindi", "fr": "French", "ru": "Russian", "de": "German", "ja": "Japanese", "it": "Italian", "bn": "Bengali", "uk": "Ukrainian", "th": "Thai", "ur": "Urdu", "ta": "Tamil", "te": "Telugu", "bg": "Bulgarian", "ko": "Korean", "pl": "Polish", "he": "Hebrew", "fa": "Persian", "vi": "Vietnamese", "ne": "Nepali", "sw": "Swahili", "kn": "Kannada", "mr": "Marathi", "gu": "Gujarati", "pa": "Punjabi", "ml": "Malayalam", "fi": "Finnish",
}

// scripts that decide a language alone.
var scripts = []struct {
	table *unicode.RangeTable
	code  string
}{
	{unicode.Bengali, "bn"}, {unicode.Thai, "th"}, {unicode.Tamil, "ta"}, {unicode.Telugu, "te"}, {unicode.Hangul, "ko"}, {unicode.Hebrew, "he"}, {unicode.Kannada, "kn"}, {unicode.Gujarati, "gu"}, {unicode.Gurmukhi, "pa"}, {unicode.Malayalam, "ml"}, {unicode.Greek, "el"},
}

// detect names the language a text is mostly written in, as an ISO 639-1 code
// ("zh" for Chinese). ok is false when the text holds no letters to judge by.
// The script decides most languages; Arabic, Devanagari and Cyrillic ones are
// told apart by letters and words of their own, Latin ones by frequent words
// and, where those are few, by trigrams.
func detect(text string) (code string, ok bool) {
	text = strings.ToLower(text)
	counts := map[string]int{}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			continue
		}
		switch {
		case r < 0x80 || unicode.Is(unicode.Latin, r):
			counts["latin"]++
		case unicode.Is(unicode.Cyrillic, r):
			counts["cyrillic"]++
		case unicode.Is(unicode.Arabic, r):
			counts["arabic"]++
		case unicode.Is(unicode.Devanagari, r):
			counts["devanagari"]++
		case unicode.Is(unicode.Han, r):
			counts["han"]++
		case unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r):
			counts["kana"]++
		default:
			for _, s := range scripts {
				if unicode.Is(s.table, r) {
					counts[s.code]++
					break
				}
			}
		}
	}
	// A character of these scripts says about as much as three or two letters.
	weigh := map[string]int{"han": 3, "kana": 3, "ko": 2}
	best, most := "", 0
	for script, n := range counts {
		if w, ok := weigh[script]; ok {
			n *= w
		}
		if n > most || n == most && script < best {
			best, most = script, n
		}
	}
	switch best {
	case "":
		return "", false
	case "latin":
		return detectLatin(text), true
	case "cyrillic":
		return detectCyrillic(text), true
	case "arabic":
		return detectArabic(text), true
	case "devanagari":
		return mostWords(text, devanagariWords, "hi"), true
	case "han", "kana":
		if 20*counts["kana"] > counts["han"] {
			return "ja", true
		}
		return "zh", true
	}
	return best, true
}

func countRunes(text, set string) int {
	n := 0
	for _, r := range text {
		if strings.ContainsRune(set, r) {
			n++
		}
	}
	return n
}

// detectArabic: Urdu has retroflex letters and yeh barree, Persian the four
// letters Arabic lacks and its own forms of kaf and yeh.
func detectArabic(text string) string {
	urdu, persian, letters := countRunes(text, "ٹڈڑےںھہ"), countRunes(text, "پچژگیک"), 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	switch {
	case 50*urdu > letters:
		return "ur"
	case 50*persian > letters:
		return "fa"
	}
	return "ar"
}

func detectCyrillic(text string) string {
	ukrainian, russian, bulgarian := countRunes(text, "іїєґ"), countRunes(text, "ыэё"), countRunes(text, "ъ")
	switch {
	case ukrainian > russian && ukrainian > 0:
		return "uk"
	case russian > 0 && 3*russian >= bulgarian:
		return "ru"
	case countRunes(text, "љњћђџј") > 0:
		return "sr"
	}
	return mostWords(text, cyrillicWords, "ru")
}

// Frequent words, by language.
var (
	devanagariWords = wordLists(map[string]string{
		"hi": "है हैं और के में की को से का था थी थे पर यह वह कि नहीं लिए एक हो ने भी इस हम मैं आप तो रहे रही गया जा करने साथ",
		"mr": "आहे आहेत आणि मध्ये च्या चा ची हे ही हा ते तो मी आपण आम्ही नाही होते होता होती करून साठी खूप म्हणून त्या या असे एक जात आज छान",
		"ne": "छ छन् हो र को मा का लाई ले पनि यो त्यो गर्न हुन्छ भएको गरेको तपाईं हामी म छु थियो गर्ने हुन् लागि धेरै भने तर आज राम्रो",
	})
	cyrillicWords = wordLists(map[string]string{
		"ru": "и в не на что я с он как это по но они мы все так его за было бы вы у из от же для очень если только или когда меня нам быть",
		"bg": "и на да се е за от с че са си по не в ще като това има ни му но как които която който много ги е съм сме те беше при или само",
		"uk": "і в не на що я з він як це по але вони ми все так його за було ви у із від для дуже якщо або коли та",
	})
	latinWords = wordLists(map[string]string{
		"en": "the of and to in is that it for was on are with as be this at have from or an by not but you your we they he she his her their which will can has had i my me do if so there when what all would more about one our were been who than them its into out up how these some time like just could also no over only any such very may must should because after before many where every here",
		"de": "der die das und ist nicht ein eine in zu den von mit sich auf für es im dem auch als an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man ich wir sehr wenn kann heute",
		"fr": "le la les de des et en un une est que pour dans qui il elle pas sur au par avec ce plus son se ne vous nous sont mais ou cette aux comme je tout être fait leur votre notre très",
		"es": "el la los las de y en que un una es por con para del se no su al lo como más pero sus le ya o este sí porque esta entre cuando muy sin sobre también me hasta hay donde yo está",
		"it": "il lo la i gli le di e che è un una in per con non del della dei sono si da come più anche al ma nel alla questo molto ha ho ci oggi essere",
		"pt": "o a os as de e que do da em um uma para com não é por se na no mais como mas ao foi ele das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso vamos",
		"nl": "de het een van en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog naar heeft ze door wordt uit kan je ik wij zeer",
		"pl": "i w na nie się z do to jest że o jak po co ale za od tak przez czy dla są by jego być był może ich już tylko lub oraz bardzo",
		"fi": "ja on ei se että en oli mutta ovat hän kun niin myös tai jos joka kuin ole mitä minä sinä hyvin olen tänään me voi sen",
		"sw": "na ya wa kwa ni za katika la kuwa hii huo hiyo cha yake hali leo sana watu kama lakini hiyo huu sisi mimi wewe pia au kila zaidi ambayo",
		"vi": "và của là có không cho được một những các trong với này người để đã khi rất tôi chúng về ra đến như làm hôm nay",
		"sv": "och att det som en på är av för med den till inte om ett han men var jag sig från vi så kan de mycket",
		"da": "og at det som en på er af for med den til ikke om et han men var jeg sig fra vi så kan de meget",
		"tr": "ve bir bu da de için ile çok olarak daha ne gibi kadar olan ben var sonra o değil",
		"id": "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga saya ke karena ada mereka adalah",
		"ro": "și de a la în nu care este cu pe o să din un mai ca pentru sunt fi au ce",
		"tl": "ang ng sa na mga ay at ko si hindi ito mo ako ka siya nang para kung",
		"cs": "a se v na je že o s z do to i jako za ale po by jsem jsou nebo",
		"hu": "a az és hogy nem is egy van ez meg csak de azt volt mint el ha",
		"so": "oo iyo ka waa in ku ah uu waxay waxa ay la",
	})
)

func wordLists(m map[string]string) map[string]map[string]bool {
	out := make(map[string]map[string]bool, len(m))
	for code, words := range m {
		out[code] = map[string]bool{}
		for _, w := range strings.Fields(words) {
			out[code][w] = true
		}
	}
	return out
}

// shares counts, for each language, the words of a text that are frequent in it.
func shares(text string, lists map[string]map[string]bool) (hits map[string]int, total int) {
	hits = map[string]int{}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	for _, w := range words {
		for code, list := range lists {
			if list[w] {
				hits[code]++
			}
		}
	}
	return hits, len(words)
}

// mostWords is the language with the most frequent words, fallback when none
// has any.
func mostWords(text string, lists map[string]map[string]bool, fallback string) string {
	hits, _ := shares(text, lists)
	best := fallback
	for code, n := range hits {
		if n > hits[best] || n == hits[best] && code == fallback {
			best = code
		}
	}
	return best
}

// detectLatin trusts frequent words when they make up a tenth of the text and
// are clearly more than those of any other language, trigrams otherwise.
func detectLatin(text string) string {
	hits, total := shares(text, latinWords)
	best, second := "", 0
	for code, n := range hits {
		if best == "" || n > hits[best] || n == hits[best] && code < best {
			best = code
		}
	}
	for code, n := range hits {
		if code != best && n > second {
			second = n
		}
	}
	if n := hits[best]; n > 0 && 10*n >= total && 4*n >= 5*second+1 {
		return best
	}
	info := whatlanggo.DetectWithOptions(text, whatlanggo.Options{Whitelist: latinLanguages})
	if code := info.Lang.Iso6391(); code != "" {
		return code
	}
	return info.Lang.Iso6393()
}

// latinLanguages are those that IFEval's own detector knows.
var latinLanguages = map[whatlanggo.Lang]bool{
	whatlanggo.Eng: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Ita: true, whatlanggo.Por: true, whatlanggo.Nld: true, whatlanggo.Pol: true, whatlanggo.Fin: true, whatlanggo.Vie: true, whatlanggo.Swe: true, whatlanggo.Dan: true, whatlanggo.Tur: true, whatlanggo.Ind: true, whatlanggo.Ron: true, whatlanggo.Tgl: true, whatlanggo.Ces: true, whatlanggo.Hun: true, whatlanggo.Som: true, whatlanggo.Hrv: true, whatlanggo.Slv: true, whatlanggo.Est: true, whatlanggo.Lav: true, whatlanggo.Lit: true, whatlanggo.Nob: true, whatlanggo.Afr: true,
}
