package datasets

var codeShapes = map[string]shape{}
