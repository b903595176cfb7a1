package datasets

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// published are the names AISBench's users type; every one has to exist.
const published = `
gsm8k_gen gsm8k_gen_4_shot_cot_str gsm8k_gen_4_shot_cot_chat_prompt gsm8k_gen_0_shot_cot_str gsm8k_gen_0_shot_cot_chat_prompt gsm8k_gen_0_shot_noncot_chat_prompt gsm8k_gen_0_shot_cot_str_perf
demo_gsm8k_gen_4_shot_cot_chat_prompt demo_gsm8k_gen_0_shot_cot_str_perf
ARC_c_gen_0_shot_chat_prompt ARC_c_gen_25_shot_chat_prompt ARC_c_ppl_0_shot_str ARC_e_gen_0_shot_chat_prompt ARC_e_gen_25_shot_chat_prompt ARC_e_ppl_0_shot_str
SuperGLUE_BoolQ_gen SuperGLUE_BoolQ_gen_0_shot_str SuperGLUE_BoolQ_gen_0_shot_cot_str SuperGLUE_BoolQ_gen_0_shot_noncot_str SuperGLUE_BoolQ_gen_5_shot_str SuperGLUE_BoolQ_gen_0_shot_str_perf
Xsum_gen Xsum_gen_0_shot_chat Xsum_gen_0_shot_str agieval_gen_0_shot_chat_prompt
aime2024_gen aime2024_gen_0_shot_str aime2024_gen_0_shot_chat_prompt aime2025_gen aime2025_gen_0_shot_chat_prompt aime2025_gen_0_shot_llmjudge aime2026_gen aime2026_gen_0_shot_chat_prompt aime2026_gen_0_shot_str
bbh_gen bbh_gen_3_shot_cot_chat
ceval_gen ceval_gen_5_shot_str ceval_gen_0_shot_str ceval_gen_0_shot_cot_chat_prompt ceval_gen_0_shot_noncot_chat_prompt ceval_gen_0_shot_str_perf ceval_ppl_0_shot_str
cmmlu_gen_0_shot_cot_chat_prompt cmmlu_gen_5_shot_cot_chat_prompt cmmlu_ppl_0_shot_cot_chat_prompt
dapo_math_gen dapo_math_gen_0_shot_str dapo_math_gen_0_shot_cot_str drop_gen_0_shot_str drop_gen_3_shot_str
gpqa_gen gpqa_gen_0_shot_str gpqa_gen_0_shot_cot_chat_prompt gpqa_ppl_0_shot_str
hellaswag_gen_0_shot_chat_prompt hellaswag_gen_10_shot_chat_prompt hellaswag_ppl_0_shot_chat_prompt
humaneval_gen_0_shot humaneval_gen_0_shot_perf humanevalx_gen_0_shot ifeval_0_shot_gen_str ifbench_0_shot_gen_str
lambada_gen lambada_gen_0_shot_chat lambada_gen_0_shot_str lcsts_gen lcsts_gen_0_shot_chat lcsts_gen_0_shot_str
leval_coursera_gen leval_gsm100_gen leval_quality_gen leval_tpo_gen leval_topicretrievallongchat_gen leval_codeu_gen leval_scifi_gen leval_financialqa_gen leval_govreportsumm_gen leval_legalcontractqa_gen
leval_meetingsumm_gen leval_multidocqa_gen leval_narrativeqa_gen leval_naturalquestion_gen leval_newssumm_gen leval_paperassistant_gen leval_patentsumm_gen leval_reviewsumm_gen leval_scientificqa_gen leval_tvshowsumm_gen
livecodebench_0_shot_chat_v4_v5 livecodebench_0_shot_chat_v4_v5_v6 livecodebench_0_shot_chat_v6 livecodebench_code_generate_lite_gen_0_shot_chat
longbench longbench_2wikimqa_gen longbench_dureader_gen longbench_gov_report_gen longbench_hotpotqa_gen longbench_lcc_gen longbench_lsht_gen longbench_multi_news_gen longbench_multifieldqa_en_gen longbench_multifieldqa_zh_gen longbench_musique_gen
longbench_narrativeqa_gen longbench_passage_count_gen longbench_passage_retrieval_en_gen longbench_passage_retrieval_zh_gen longbench_qasper_gen longbench_qmsum_gen longbench_repobench_gen longbench_samsum_gen longbench_trec_gen longbench_triviaqa_gen longbench_vcsum_gen longbenchv2_gen
math500_gen_0_shot_cot_chat_prompt math_prm800k_500_0shot_cot_gen math_prm800k_500_5shot_cot_gen
mbpp_passk_gen_3_shot_chat_prompt sanitized_mbpp_passk_gen_3_shot_chat_prompt mgsm_gen_0_shot_cot_chat_prompt mgsm_gen_8_shot_cot_chat_prompt
mmlu_gen mmlu_gen_5_shot_str mmlu_gen_5_shot_chat_prompt mmlu_gen_0_shot_cot_chat_prompt mmlu_ppl_0_shot_str mmlu_pro_gen_0_shot_str mmlu_pro_gen_5_shot_str
piqa_gen_0_shot_chat_prompt piqa_gen_0_shot_str piqa_ppl_0_shot_str race_middle_gen_5_shot_chat race_middle_gen_5_shot_cot_chat race_high_gen_5_shot_chat race_high_gen_5_shot_cot_chat race_ppl_0_shot_chat race_gen
siqa_gen siqa_gen_0_shot_chat siqa_ppl_0_shot_chat triviaqa_gen_5_shot_chat_prompt winogrande_gen_0_shot_chat_prompt winogrande_gen_5_shot_chat_prompt
FewCLUE_bustm_ppl_0_shot_chat FewCLUE_bustm_ppl_0_shot_str FewCLUE_chid_ppl_0_shot_chat FewCLUE_chid_ppl_0_shot_str FewCLUE_cluewsc_ppl_0_shot_chat FewCLUE_cluewsc_ppl_0_shot_str
FewCLUE_csl_ppl_0_shot_chat FewCLUE_csl_ppl_0_shot_str FewCLUE_eprstmt_ppl_0_shot_chat FewCLUE_eprstmt_ppl_0_shot_str FewCLUE_tnews_ppl_0_shot_chat FewCLUE_tnews_ppl_0_shot_str
aime24_gen amc23_gen cmath_gen minerva_math_gen olympiadbench_gen gaokao2023en_gen svamp_gen mmlu_stem_gen
openbookqa_gen commonsenseqa_gen truthfulqa_gen nq_gen squad20_gen humaneval_plus_gen flores_gen simpleqa_gen chinese_simpleqa_gen
synthetic_gen synthetic_gen_string synthetic_gen_tokenid sharegpt_gen mtbench_gen mooncake_trace_gen
needlebench_v2_multi_retrieval_compare_batch_8k atc_0shot_nocot_2_power_en ruler_4k ruler_8k ruler_16k ruler_32k ruler_64k ruler_128k
needlebench_v2_4k needlebench_v2_single_4k needlebench_v2_multi_retrieval_4k needlebench_v2_multi_reasoning_4k needlebench_v2_8k needlebench_v2_single_8k needlebench_v2_multi_retrieval_8k needlebench_v2_multi_reasoning_8k needlebench_v2_32k needlebench_v2_single_32k needlebench_v2_multi_retrieval_32k needlebench_v2_multi_reasoning_32k needlebench_v2_128k needlebench_v2_single_128k needlebench_v2_multi_retrieval_128k needlebench_v2_multi_reasoning_128k needlebench_v2_200k needlebench_v2_single_200k needlebench_v2_multi_retrieval_200k needlebench_v2_multi_reasoning_200k needlebench_v2_256k needlebench_v2_single_256k needlebench_v2_multi_retrieval_256k needlebench_v2_multi_reasoning_256k needlebench_v2_1000k needlebench_v2_single_1000k needlebench_v2_multi_retrieval_1000k needlebench_v2_multi_reasoning_1000k`

func TestEveryPublishedNameExists(t *testing.T) {
	r, err := OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(published) {
		if _, err := r.Get(name); err != nil {
			t.Error(err)
		}
	}
}

// fixture are files of a source in the layouts of OpenCompass and AISBench (a)
// and of the hub where that has text files (b); a line is repeated as often as
// few-shot examples need it.
type fixture struct {
	files map[string]string
	gold  string // of the first row; "-" = none is published
}

const many = 26

func lines(row string) string { return strings.Repeat(row+"\n", many) }

func jsonList(row string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(row+",", many), ",") + "]"
}

const (
	csvABCD    = `Q one?,w,x,"y, z",v,C`
	ocARC      = `{"id":"1","question":{"stem":"Q one?","choices":[{"text":"w","label":"1"},{"text":"x","label":"2"},{"text":"y","label":"3"},{"text":"v","label":"4"}]},"answerKey":"3"}`
	hubARC     = `{"id":"1","question":"Q one?","choices":{"text":["w","x","y","v"],"label":["A","B","C","D"]},"answerKey":"C"}`
	humanEval  = `{"task_id":"HumanEval/0","prompt":"def f():\n","canonical_solution":"    return {}\n","test":"def check(c): assert c() == {}","entry_point":"f"}`
	mbppRow    = `{"task_id":11,"text":"Write f.","code":"def f(): pass","test_list":["assert f() is None"],"test_setup_code":"","challenge_test_list":[]}`
	longRow    = `{"input":"What?","context":"Long {text}.","answers":["gold","other"],"length":3,"dataset":"x","language":"en","all_classes":["gold"],"_id":"1"}`
	levalRow   = `{"instructions":["What?","And?"],"input":"Document","outputs":["gold","g2"],"source":"s","evaluation":"exam"}`
	lcbRow     = `{"question_title":"t","question_content":"Add.","platform":"p","question_id":"1","contest_id":"c","contest_date":"2024-10-05T00:00:00","starter_code":"","difficulty":"easy","public_test_cases":"[{\"input\":\"1\",\"output\":\"2\",\"testtype\":\"stdin\"}]","private_test_cases":"[]","metadata":"{\"func_name\":\"add\"}"}`
	truthful   = `{"question":"Q?","mc1_targets":{"choices":["true one","false one"],"labels":[1,0]},"mc2_targets":{"choices":["true one","false one","false two"],"labels":[1,0,0]}}`
	agiChoice  = `{"passage":"P","question":"Q?","options":["(A)w","(B)x","(C)y","(D)v"],"label":"C","answer":null}`
	boxedRow   = `{"problem":"Find $x$.","solution":"So $x = \\boxed{\\frac{1}{2}}$.","answer":"\\frac{1}{2}"}`
	hellaQuery = `{"query":"Cooking: She stirs","choices":["w","x","y","v"],"gold":2}`
)

var fixtures = map[string][]fixture{
	"gsm8k":         {{map[string]string{"test.jsonl": lines(`{"question":"Q?","answer":"So #### 7"}`)}, "7"}},
	"demo_gsm8k":    {{nil, "157"}},
	"mgsm":          {{map[string]string{"mgsm_{subset}.tsv": lines("Q?\t1,234")}, "1234"}},
	"math":          {{map[string]string{"math.json": `{"a":{"problem":"P","solution":"\\boxed{7}"},"b":{"problem":"R","solution":"\\boxed{8}"}}`}, "7"}},
	"math_subjects": {{map[string]string{"{subset}/test-x.jsonl": ""}, "skip"}},
	"math500":       {{map[string]string{"test_prm800k_500.jsonl": lines(boxedRow)}, `\frac{1}{2}`}, {map[string]string{"test_prm800k_500.json": `{"t/1":` + boxedRow + `,"t/2":` + boxedRow + `,"t/3":` + boxedRow + `,"t/4":` + boxedRow + `,"t/5":` + boxedRow + `}`}, `\frac{1}{2}`}},
	"aime2024":      {{map[string]string{"aime.jsonl": lines(`{"origin_prompt":"P","gold_answer":"073"}`)}, "073"}},
	"aime2025":      {{map[string]string{"aime2025.jsonl": lines(`{"question":"P","answer":"70"}`)}, "70"}},
	"aime2026":      {{map[string]string{"aime2026.jsonl": lines(`{"problem":"P","answer":70}`)}, "70"}},
	"dapo_math":     {{map[string]string{"dapo-math-17k.jsonl": lines(`{"prompt":[{"role":"user","content":"Solve the following math problem step by step. Blah\n\nFind x.\n\nRemember to put your answer on its own line"}],"reward_model":{"ground_truth":"34"}}`)}, "34"}},
	"aime24":        {{map[string]string{"aime24.jsonl": lines(`{"problem":"P","answer":"7"}`)}, "7"}},
	"amc23":         {{map[string]string{"amc23.jsonl": lines(`{"problem":"P","answer":27.0}`)}, "27"}},
	"cmath":         {{map[string]string{"cmath.jsonl": lines(`{"question":"题","answer":"9"}`)}, "9"}},
	"minerva_math":  {{map[string]string{"minerva_math.jsonl": lines(`{"problem":"P","solution":"\\boxed{1} so \\boxed{1.6}","type":"t"}`)}, "1.6"}},
	"olympiadbench": {{map[string]string{"olympiadbench.jsonl": lines(`{"question":"P","context":null,"final_answer":["$2$","$3$"]}`)}, "2, 3"}},
	"gaokao2023en":  {{map[string]string{"gaokao2023en.jsonl": lines(`{"question":"P","answer":"$(1,2)$"}`)}, "$(1,2)$"}},
	"svamp":         {{map[string]string{"svamp.jsonl": lines(`{"Body":"There are 3","Question":"How many?","Answer":3.0}`)}, "3"}},
	"mmlu_stem":     {{map[string]string{"mmlu_stem.jsonl": lines(`{"question":"Q?","type":"{name}","choices":["w","x","y","v"],"answer":2}`)}, "C"}},
	"mmlu": {{map[string]string{"test/{subset}_test.csv": lines(csvABCD), "dev/{subset}_dev.csv": lines(csvABCD)}, "C"},
		{map[string]string{"test/{subset}_test.csv": lines(csvABCD), "dev/{subset}_dev.csv": "\ufeff" + lines(csvABCD)}, "C"}},
	"mmlu_pro": {{map[string]string{"test.jsonl": lines(`{"question_id":1,"question":"Q?","options":["w","x","y","N/A"],"answer":"C","answer_index":2,"category":"{name}","cot_content":"A: Let's think. The answer is (C)."}`),
		"validation.jsonl": lines(`{"question":"V?","options":["w","x"],"answer":"A","category":"{name}","cot_content":"A: Let's think. The answer is (A)."}`)}, "C"}},
	"ceval": {{map[string]string{"formal_ceval/val/{subset}_val.csv": "id,question,A,B,C,D,answer,explanation\n" + lines("0,"+csvABCD+","),
		"formal_ceval/dev/{subset}_dev.csv": "id,question,A,B,C,D,answer,explanation\n" + lines("0,"+csvABCD+",why")}, "C"}},
	"cmmlu": {{map[string]string{"test/{subset}.csv": ",Question,A,B,C,D,Answer\n" + lines("0,"+csvABCD), "dev/{subset}.csv": ",Question,A,B,C,D,Answer\n" + lines("0,"+csvABCD)}, "C"}},
	"ARC_c": {{map[string]string{"ARC-Challenge-Test.jsonl": lines(ocARC), "ARC-Challenge-Dev.jsonl": lines(ocARC)}, "C"}},
	"ARC_e": {{map[string]string{"ARC-Easy-Test.jsonl": lines(hubARC), "ARC-Easy-Dev.jsonl": lines(hubARC)}, "C"}},
	"hellaswag": {{map[string]string{"hellaswag.jsonl": lines(hellaQuery), "hellaswag_train_sampled25.jsonl": lines(hellaQuery)}, "C"},
		{map[string]string{"hellaswag_val.jsonl": lines(`{"activity_label":"Cooking","ctx_a":"She [note] stirs.","ctx_b":"then","ctx":"x","endings":["w","x","y","v"],"label":"2"}`), "hellaswag_train.jsonl": lines(hellaQuery)}, "C"}},
	"winogrande": {{map[string]string{"dev.jsonl": lines(`{"sentence":"The _ fell.","option1":"cup","option2":"hat","answer":"2"}`), "train_xs.jsonl": lines(`{"sentence":"The _ fell.","option1":"cup","option2":"hat","answer":"1"}`)}, "B"}},
	"piqa":       {{map[string]string{"dev.jsonl": lines(`{"goal":"G","sol1":"w","sol2":"x"}`), "dev-labels.lst": lines("1")}, "B"}},
	"siqa":       {{map[string]string{"dev.jsonl": lines(`{"context":"c","question":"Q?","answerA":"w","answerB":"x","answerC":"y"}`), "dev-labels.lst": lines("3")}, "C"}},
	"BoolQ": {{map[string]string{"val.jsonl": lines(`{"question":"is it","passage":"p","label":"false"}`), "train.jsonl": lines(`{"question":"is it","passage":"p","label":"true"}`)}, "B"},
		{map[string]string{"dev.jsonl": lines(`{"question":"is it","passage":"p","answer":true}`), "train.jsonl": lines(`{"question":"is it","passage":"p","answer":true}`)}, "A"}},
	"race":           {{map[string]string{"test/{subset}.jsonl": lines(`{"article":"a","question":"Q?","A":"w","B":"x","C":"y","D":"v","answer":"C"}`), "validation/{subset}.jsonl": lines(`{"article":"a","question":"Q?","options":["w","x","y","v"],"answer":"C"}`)}, "C"}},
	"openbookqa":     {{map[string]string{"Main/test.jsonl": lines(ocARC), "Additional/test_complete.jsonl": lines(strings.TrimSuffix(ocARC, "}") + `,"fact1":"f"}`)}, "C"}},
	"commonsenseqa":  {{map[string]string{"dev_rand_split.jsonl": lines(ocARC), "train_rand_split.jsonl": lines(hubARC)}, "C"}},
	"truthfulqa":     {{map[string]string{"mc_task.json": jsonList(truthful)}, "*"}},
	"truthfulqa_mc2": {{map[string]string{"mc_task.json": jsonList(truthful)}, "A"}},
	"gpqa":           {{map[string]string{"gpqa_diamond.csv": "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n" + lines("r,Q?,right,w1,w2,w3")}, "*"}},
	"agieval":        {{map[string]string{"{subset}.jsonl": lines(agiChoice)}, "C"}},
	"bbh":            {{map[string]string{"data/{subset}.json": `{"canary":"c","examples":` + jsonList(`{"input":"Q?","target":"(C)"}`) + `}`}, "(C)"}},
	"drop": {{map[string]string{"dev.jsonl": lines(`{"context":"# Examples\n---\nPassage: e\nQuestion: e?\nAnswer: 1\n\n# Your Task\n---\nPassage: p\nQuestion: Q?","ref_text":"7|seven"}`)}, "7"},
		{map[string]string{"dev.jsonl": lines(`{"passage":"p","question":"Q?","answer":{"number":"7","date":{"day":"","month":"","year":""},"spans":[]},"validated_answers":{"number":["","7"],"date":[{"day":"3","month":"May","year":""},{"day":"","month":"","year":""}],"spans":[[],[]]}}`)}, "7"}},
	"triviaqa":         {{map[string]string{"trivia-test.qa.csv": lines(`who?` + "\t" + `"['Ann', ""B'ob""]"`)}, "Ann"}, {map[string]string{"triviaqa-validation.jsonl": lines(`{"question":"who?","answer":{"value":"Ann","aliases":["Ann","An"]}}`)}, "Ann"}},
	"nq":               {{map[string]string{"nq-test.qa.csv": lines("who\t['Ann']")}, "Ann"}, {map[string]string{"nq-open-validation.jsonl": lines(`{"question":"who","answer":["Ann","An"]}`)}, "Ann"}},
	"squad20":          {{map[string]string{"dev-v2.0.json": `{"version":"v2.0","data":[{"title":"T","paragraphs":[{"context":"c","qas":[{"id":"1","question":"Q?","answers":[{"text":"gold","answer_start":0},{"text":"gold","answer_start":0}],"is_impossible":false},{"id":"2","question":"R?","answers":[],"is_impossible":true}]}]}]}`}, "gold"}},
	"lambada":          {{map[string]string{"test.jsonl": lines(`{"prompt":"He opened the","label":"door"}`)}, "door"}, {map[string]string{"data/lambada_test_en.jsonl": lines(`{"text":"He opened the door"}`)}, "door"}},
	"Xsum":             {{map[string]string{"dev.jsonl": lines(`{"dialogue":"d","summary":"s"}`)}, "s"}},
	"lcsts":            {{map[string]string{"test.src.txt": lines("原文"), "test.tgt.txt": lines("摘要")}, "摘要"}},
	"flores":           {{map[string]string{"devtest/eng.devtest": lines("Hello"), "devtest/fra.devtest": lines("Bonjour"), "dev/eng.dev": lines("One"), "dev/fra.dev": lines("Un")}, "Bonjour"}},
	"simpleqa":         {{map[string]string{"simple_qa_test_set.csv": "metadata,problem,answer\n" + lines(`"{'a': 1}",Q?,gold`)}, "gold"}},
	"chinese_simpleqa": {{map[string]string{"chinese_simpleqa.jsonl": lines(`{"id":"1","primary_category":"c","question":"Q?","answer":"gold","urls":[]}`)}, "gold"}},
	"ifeval":           {{map[string]string{"input_data.jsonl": lines(`{"key":1,"prompt":"Write.","instruction_id_list":["punctuation:no_comma"],"kwargs":[{}]}`)}, "-"}},
	"ifbench":          {{map[string]string{"IFBench_test.jsonl": lines(`{"key":"1","prompt":"Write.","instruction_id_list":["count:x"],"kwargs":"[{\"N\": 3}]"}`)}, "-"}},
	"humaneval":        {{map[string]string{"human-eval-v2-20210705.jsonl": lines(humanEval)}, "    return {}\n"}},
	"humaneval_plus":   {{map[string]string{"HumanEvalPlus.jsonl": lines(humanEval)}, "    return {}\n"}},
	"humanevalx":       {{map[string]string{"humanevalx_{subset}.jsonl": lines(`{"task_id":"Go/0","prompt":"func f() {","declaration":"func f()","canonical_solution":"}","test":"t"}`)}, "}"}},
	"mbpp":             {{map[string]string{"mbpp.jsonl": `{"task_id":1,"text":"shot","code":"c","test_list":["t"]}` + "\n" + mbppRow}, "def f(): pass"}},
	"sanitized_mbpp":   {{map[string]string{"sanitized-mbpp.jsonl": lines(`{"source_file":"s","task_id":12,"prompt":"Write f.","code":"c","test_imports":["import re"],"test_list":["assert f()"]}`)}, "c"}},
	"mbpp_plus":        {{map[string]string{"MbppPlus.jsonl": lines(mbppRow)}, "def f(): pass"}},
	"livecodebench":    {{map[string]string{"test.jsonl": lines(lcbRow), "test6.jsonl": lines(lcbRow)}, "-"}},
	"longbench":        {{map[string]string{"data/{subset}.jsonl": lines(longRow)}, "gold"}},
	"longbenchv2":      {{map[string]string{"data.json": jsonList(`{"_id":"1","domain":"d","difficulty":"easy","length":"short","question":"Q?","choice_A":"w","choice_B":"x","choice_C":"y","choice_D":"v","answer":"C","context":"c"}`)}, "C"}},
	"leval":            {{map[string]string{"{subset}.jsonl": lines(levalRow)}, "gold"}},
	"FewCLUE": {{map[string]string{
		"bustm/test_public.jsonl":   lines(`{"sentence1":"a","sentence2":"b","label":"0"}`),
		"chid/test_public.jsonl":    lines(`{"content":"他#idiom#了","candidates":["甲","乙"],"answer":1}`),
		"cluewsc/test_public.jsonl": lines(`{"text":"他说他来","target":{"span1_text":"小明","span2_text":"他"},"label":"false"}`),
		"csl/test_public.jsonl":     lines(`{"abst":"摘","keyword":["一","二"],"label":"0"}`),
		"eprstmt/test_public.jsonl": lines(`{"sentence":"好","label":"Positive"}`),
		"tnews/test_public.jsonl":   lines(`{"sentence":"新","label":"101","label_desc":"news_culture"}`),
	}, "*"}},
}

// TestEveryConfigurationRenders loads every built-in configuration from small
// files in each layout its source accepts as text.
func TestEveryConfigurationRenders(t *testing.T) {
	r, err := OpenRegistry("")
	if err != nil {
		t.Fatal(err)
	}
	abbrs := map[string]string{}
	for _, name := range r.Names() {
		e, err := r.Get(name)
		if err != nil {
			t.Error(err)
			continue
		}
		c := e.Value
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.Description == "" || c.Data == "" || c.Scorer == "" && c.Workload == nil {
			t.Errorf("%s lacks a description, a source or a scorer", name)
		}
		src, err := c.SourceOf()
		if err != nil {
			t.Error(err)
			continue
		}
		if src.Title == "" || src.Origin == "" || src.Licence == "" || src.Language == "" || len(src.Dirs) == 0 && !strings.HasPrefix(c.Data, "demo") {
			t.Errorf("source %s does not state title, origin, licence, language and directory", c.Data)
		}
		if other, ok := abbrs[c.Abbr]; ok && other != c.Data && c.Data != "math_subjects" {
			t.Errorf("%s: abbr %s is used for the sources %s and %s", name, c.Abbr, other, c.Data)
		}
		abbrs[c.Abbr] = c.Data
		if c.Workload != nil {
			continue // see TestWorkloadFile; tasks makes the requests
		}
		if c.Generate != nil {
			continue // see TestGeneratedTasksHideWhatTheyAskFor
		}
		cases, ok := fixtures[c.Data]
		if !ok {
			t.Errorf("no fixture for source %s", c.Data)
			continue
		}
		for i, f := range cases {
			if f.gold != "skip" {
				t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) { rendersFixture(t, c, src, f) })
			}
		}
	}
}

func rendersFixture(t *testing.T, c Config, src Source, f fixture) {
	var subsets []string
	if asked := c.SubsetsAsked(src); len(asked) > 0 {
		subsets = asked[:1]
	}
	files := map[string]string{}
	for p, body := range f.files {
		if len(subsets) > 0 {
			sub := src.subset(subsets[0])
			p = strings.ReplaceAll(p, "{subset}", sub.path())
			body = strings.ReplaceAll(body, "{name}", sub.path())
		}
		dir := ""
		if len(src.Dirs) > 0 {
			dir = src.Dirs[0]
		}
		files[dir+"/"+p] = body
	}
	o := LoadOptions{CacheDirs: []string{write(t, files)}, Subsets: subsets}
	s := load(t, c, o)
	first := s.Samples[0]
	switch f.gold {
	case "*":
		if first.Gold == "" {
			t.Error("no gold")
		}
	case "-":
		if first.Gold != "" {
			t.Errorf("gold %q", first.Gold)
		}
	default:
		if first.Gold != f.gold {
			t.Errorf("gold %q, want %q", first.Gold, f.gold)
		}
	}
	prompts := append([]Prompt{first.Prompt}, first.Choices...)
	for _, p := range prompts {
		text := p.String()
		if strings.TrimSpace(text) == "" || strings.Contains(text, "</E>") || strings.Contains(text, "<nil>") || strings.HasSuffix(text, " ") {
			t.Errorf("prompt %q", text)
		}
		if n := len(p.Turns); n > 0 && c.Asking() == ModeGen && p.Turns[n-1].Role != "user" {
			t.Errorf("a chat prompt has to end with the user: %q", text)
		}
	}
	if c.Asking() == ModePPL {
		if len(first.Choices) < 2 || len(first.Choices) != len(first.Labels) {
			t.Errorf("%d candidates, %d labels", len(first.Choices), len(first.Labels))
		}
		found := false
		for _, l := range first.Labels {
			found = found || l == first.Gold
		}
		if !found {
			t.Errorf("gold %q is none of the labels %q", first.Gold, first.Labels)
		}
		seen := map[string]bool{}
		for _, p := range first.Choices {
			if seen[p.String()] {
				t.Errorf("two candidates are the same prompt: %q", p.String())
			}
			seen[p.String()] = true
		}
	}
	ids := map[string]bool{}
	for _, x := range s.Samples {
		if ids[x.ID] {
			t.Fatalf("id %s occurs twice", x.ID)
		}
		ids[x.ID] = true
	}
}

// TestPulledFilesAreFound checks that what a hub entry downloads is what some
// layout of the source looks for.
func TestPulledFilesAreFound(t *testing.T) {
	names, err := SourceNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		src, err := FindSource(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := src.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f := &finder{source: src}
		sub := Subset{Name: "s"}
		for _, h := range src.Hub {
			for _, pattern := range h.Files {
				if strings.HasSuffix(pattern, ".zip") {
					continue
				}
				found := false
				for _, sub := range append(slices.Clone(src.Subsets), sub) {
					for _, l := range slices.Concat(slices.Collect(maps.Values(src.Splits))...) {
						for _, stand := range []string{"00000-of-00001", "test", "dev-1", "2"} {
							wanted := strings.ReplaceAll(f.expand(l.Path, sub), "*", stand)
							got := pattern
							if _, tail, ok := strings.Cut(pattern, "**/"); ok {
								got, wanted = tail, path.Base(wanted)
							}
							if ok, _ := path.Match(got, wanted); ok {
								found = true
							}
						}
					}
				}
				if !found {
					t.Errorf("source %s: no layout looks for %s, which pull fetches from %s", name, pattern, h.ID)
				}
			}
		}
	}
}
