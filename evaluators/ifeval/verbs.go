package ifeval

import "strings"

// isVerb reports whether a lower-case word is a form of a common English verb.
// The published check asks a statistical tagger; here it is a list and the
// regular endings, so that "Build" or "Understand" at the start of a reply is a
// verb whatever the rest of the sentence looks like.
func isVerb(w string) bool {
	if verbs[w] || irregularForms[w] {
		return true
	}
	for _, base := range baseForms(w) {
		if verbs[base] {
			return true
		}
	}
	// A verb by its making.
	for _, ending := range []string{"ize", "ise", "ify", "izing", "ising", "ifying", "ized", "ified"} {
		if len(w) > len(ending)+2 && strings.HasSuffix(w, ending) {
			return true
		}
	}
	return false
}

// baseForms are the verbs of which a word may be a regular form.
func baseForms(w string) (bases []string) {
	for _, ending := range []string{"ing", "ed", "es", "s"} {
		stem, ok := strings.CutSuffix(w, ending)
		if !ok || len(stem) < 2 {
			continue
		}
		bases = append(bases, stem, stem+"e")
		if n := len(stem); n > 2 && stem[n-1] == stem[n-2] { // stopped, running
			bases = append(bases, stem[:n-1])
		}
		if ending == "ed" || ending == "es" {
			if y, ok := strings.CutSuffix(stem, "i"); ok { // tried, tries
				bases = append(bases, y+"y")
			}
		}
	}
	return bases
}

var verbs = wordSet(`
	accept achieve act adapt add address adjust admire admit adopt advise aim align allow alter amplify analyse analyze announce answer
	anticipate apologize appear apply appreciate approach approve argue arise arrange arrive ask assemble assess assign assist assume attach
	attempt attend avoid bake balance be become beat begin behold believe belong bend bind blend block boil boost borrow brainstorm break
	breathe brew bring broaden build burn buy calculate call calm capture care carry cast catch cause celebrate challenge change charge chase
	check cherish choose chop clarify classify clean clear click climb close collaborate collect combine come comfort commence commit
	communicate compare compile complete compose compute conceive concentrate conclude conduct configure confirm connect consider construct
	consult consume contact contain continue contribute control convert convey convince cook coordinate copy count cover craft create cultivate
	cut dance dare deal debug decide declare decorate decrease dedicate deepen define delete deliver delve demonstrate deny depend deploy derive
	describe design detect determine develop devise dig direct disable discover discuss dive divide do document double draft draw dream drink
	drive drop earn ease eat edit educate elevate eliminate embark embrace emerge emphasize employ empower enable encourage end engage enhance
	enjoy ensure enter envision escape establish estimate evaluate examine exist expand expect experience experiment explain explore express
	extend extract face facilitate fall fear feed feel fetch fight figure fill filter find finish fit fix fly focus fold follow forge forget
	forgive form formulate foster frame gain gather gaze generate get give glance go grab grant grasp greet grill grip grow guard guess guide
	handle hang happen harness have head heal hear heat help hide highlight hire hit hold honor honour hope host hug hunt identify ignite ignore
	illustrate imagine implement import improve include incorporate increase indicate infer inform initiate inject insert inspect inspire install
	integrate intend interact interpret introduce invest investigate invite involve isolate iterate join journey judge jump justify keep kick kill
	kiss knock know lack land laugh launch lay lead leap learn leave lend let leverage lie lift light limit link list listen live load locate lock
	look lose love lower maintain make manage map march mark master match maximize mean measure meet melt mention merge mind minimize miss mix
	model modify monitor motivate mount move multiply name navigate need negotiate nest note notice nurture obey observe obtain occur offer open
	operate optimize order organize outline overcome own pack paint participate pass pause pay perform persist pick picture place plan plant play
	plot point ponder possess pour practice practise pray prefer prepare present preserve press prevent print prioritize proceed process produce
	program promise promote prompt propose protect prove provide publish pull pulse purchase push put quantify question quit raise rank reach
	react read realize recall receive recite recognize recommend record recover reduce refer refine reflect refuse regard register regret relate
	relax release rely remain remember remind remove rename render repeat replace reply report represent request require rescue research resist
	resolve respect respond rest restore result retain retrieve return reveal review revise rewrite ride rinse rise roast roll rotate run rush
	sail save say scale scan schedule seal search season see seek seem select sell send separate serve set settle shake shape share shift shine
	shop shout show shut sign simmer simplify simulate sing sip sit skip slay sleep slice slide slip slow smell smile solve sort sound spare speak
	specify spend spin spot spread spring stand start state stay steal step stick stir stop store streamline strengthen stress stretch strike strive
	structure study submit subtract succeed suffer suggest suit summarize summon supply support suppose surround survive swim switch take talk
	target taste teach tell tend test thank think thrive throw tie touch trace track train transcend transform translate transport travel treasure
	treat trim trust try turn type uncover understand unify unite unleash unlock unveil update upgrade upload use utilize validate vary verify view
	visit visualize vote wait wake walk wander want warm warn wash waste watch wear weave weigh welcome whip whir whisk whisper win wipe wish wonder
	work worry wrap write yield zoom`)

var irregularForms = wordSet(`
	am are is was were been began begun bent bet bit bitten blew blown bought bound broke broken brought built came caught chose chosen did does done
	drank drawn drew driven drove eaten fed fell fallen felt flew flown forgot forgotten fought found froze frozen gave given goes gone got gotten grew
	grown had has heard held hid hidden hung kept knew known laid lain led left lent lit lost made meant met paid ran rang ridden risen rode rose said
	sang sat saw seen sent shone shook shot shown slept slid sold sought spent spoke spoken stole stolen stood struck sung swam swept swore taken taught
	thought threw thrown told took tore torn understood went woke woken won wore worn wove woven wrote written lying dying tying`)
